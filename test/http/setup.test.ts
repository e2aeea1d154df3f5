// The first run: open on a home where nothing is set up, resumable, and never again once it is over.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { editConfig, writeConfig } from "../../src/config/index.ts";

const folders: string[] = [];
let keryx: Keryx | undefined;
afterEach(async () => {
	await keryx?.stop();
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newHome(config = ""): string {
	const folder = mkdtempSync(join(tmpdir(), "keryx-setup-"));
	folders.push(folder);
	const home = join(folder, "home");
	mkdirSync(home, { mode: 0o700 });
	if (config !== "") writeFileSync(join(home, "config.yaml"), config);
	return home;
}

async function start(home: string): Promise<Keryx> {
	await keryx?.stop();
	keryx = await createKeryx({
		home,
		env: { HOME: join(home, ".."), TZ: "UTC" },
		report: { warn: () => {}, note: () => {} },
		chats: false,
	});
	await keryx.start();
	return keryx;
}

const statesOf = async ({ client }: Keryx) =>
	Object.fromEntries((await client.setup()).steps.map(({ name, state }) => [name, state]));
const isOpen = async ({ client }: Keryx) => (await client.setup()).open;
const OVER = { open: false, steps: [] };

test("an empty home has three open steps, a restart finds them as they were, and a step that is skipped stays so", async () => {
	const home = newHome();
	const first = await start(home);
	expect(await statesOf(first)).toEqual({ model: "open", chat: "open", you: "open" });
	await first.client.skipSetup({ step: "chat" });
	const again = await start(home);
	expect(await statesOf(again)).toEqual({ model: "open", chat: "skipped", you: "open" });
	expect(await isOpen(again)).toBe(true);
	await again.client.skipSetup({ step: "all" });
	expect(await again.client.setup()).toEqual(OVER);
	expect(await (await start(home)).client.setup()).toEqual(OVER);
});

test("what is done is seen as done, however it was done, and nothing comes back once all is over", async () => {
	const home = newHome("# mine\n");
	const running = await start(home);
	const file = join(home, "config.yaml");
	writeFileSync(join(home, "script.yaml"), "otherwise: [{ text: hello }]\n");
	const change = (changes: Record<string, unknown>) => writeConfig(file, editConfig("# mine\n", changes));
	const connected = {
		"agent.kind": "scripted",
		"agent.script": join(home, "script.yaml"),
		"channels.tg": { platform: "telegram", token_env: "NONE" },
	};
	change(connected);
	await expect.poll(() => statesOf(running)).toEqual({ model: "done", chat: "done", you: "open" });
	const source = { platform: "web", chat_id: "x", chat_type: "dm", user_id: "operator" };
	const { id } = await running.client.send({ text: "hello", client_message_id: "1", source });
	await running.client.inbound({ id, wait: 30 });
	expect(await statesOf(running)).toEqual({ model: "done", chat: "done", you: "done" });
	expect(await isOpen(running)).toBe(false);
	// As the page does when it sees that.
	await running.client.skipSetup({ step: "all" });
	writeConfig(file, "# mine\nagent: { kind: offline }\n");
	expect(await (await start(home)).client.setup()).toEqual(OVER);
});

test("a home that is configured when it is first started is led nowhere", async () => {
	const home = newHome("channels: { tg: { platform: telegram, token_env: NONE } }\n");
	expect(await (await start(home)).client.setup()).toEqual(OVER);
});

test("a home that has conversations from before is led nowhere", async () => {
	const home = newHome("channels: { tg: { platform: telegram, token_env: NONE } }\n");
	const before = await start(home);
	const source = { platform: "web", chat_id: "x", chat_type: "dm", user_id: "operator" };
	const { id } = await before.client.send({ text: "hello", client_message_id: "1", source });
	await before.client.inbound({ id, wait: 30 });
	writeFileSync(join(home, "config.yaml"), "# nothing\n");
	expect(await (await start(home)).client.setup()).toEqual(OVER);
});
