// Messages that answer nobody: where they may go, who is asked, what stands in the target's transcript, and that each arrives once.
import {
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ConversationId, Standing } from "../../src/domain/index.ts";
import { sendTool } from "../../src/gateway/index.ts";
import type { Scope } from "../../src/store/index.ts";
import { FullChannel } from "./full-channel.ts";
import { OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const AUTH = {
	telegram: {
		allow: [
			{ id: "ada", role: "owner" as const },
			{ id: "bob", role: "member" as const },
			{ id: "gus", role: "guest" as const },
		],
	},
};

async function start({ config, ...options }: SceneOptions = {}): Promise<void> {
	const tool = sendTool({
		sending: () => scene.gateway.sending,
		workspaceOf: () => folder,
		limit: () => 1000,
	});
	scene = new Scene({ agent: puppet, tools: [tool], config: { auth: AUTH, ...config }, ...options });
	await scene.open(Date.UTC(2026, 2, 10, 12));
}
let folder = tmpdir();

const call = (target: string, text: string) => `call send_message ${JSON.stringify({ target, text })}`;
const toolResult = () =>
	String(scene.shown.at(-1)?.history.findLast(({ role }) => role === "tool")?.content ?? "");
const send = (target: string, text: string, id = "s1") => operatorSend(target, text, id);

async function operatorSend(target: string, text: string, id: string) {
	const { sending } = scene.gateway;
	const found = await sending.resolve(target, { standing: "owner", scope: OPERATOR, origin: null });
	if (found.kind === "refused") throw new Error(found.why);
	const sent = await sending.send({
		id,
		target: found.target,
		text,
		by: "operator",
		from: { where: "the test" },
	});
	await scene.clock.advance(0);
	return sent;
}

describe("a send", () => {
	test("arrives once, with a receipt; a reply there finds it in the transcript and in the prompt", async () => {
		await start();
		const first = await scene.say("hello", { chat: "bob", user: "bob" });
		await send("telegram:bob", "The **report** is ready");
		await send("telegram:bob", "The **report** is ready");
		await expect(send("telegram:bob", "Another text")).rejects.toMatchObject({ code: "send.conflict" });
		await expect(send("telegram:ada", "The **report** is ready")).rejects.toMatchObject({
			code: "send.conflict",
		});
		expect(scene.texts("bob")).toEqual([expect.any(String), "The <b>report</b> is ready"]);
		const sent = await scene.store.sent({ scope: OPERATOR, id: "s1" });
		expect(sent?.deliveries).toMatchObject([{ state: "sent", receipt: expect.any(String) }]);
		expect((await scene.rows(first)).at(-1)).toMatchObject({
			role: "assistant",
			kind: "sent",
			content: "The **report** is ready",
			sentFrom: { where: "the test" },
		});
		await scene.say("what does it say?", { chat: "bob", user: "bob" });
		const shown = scene.shown.at(-1)?.history.map(({ content }) => String(content));
		expect(shown?.at(-2)).toMatch(
			/^At .* UTC you sent this message to this chat, from the test:\nThe \*\*report/,
		);
		expect(shown?.at(-1)).toBe("what does it say?");
	});

	test("a chat that nobody wrote in is sent to, and the first message there finds it", async () => {
		await start();
		await send("telegram:bob", "Hello Bob");
		expect(scene.texts("bob")).toEqual(["Hello Bob"]);
		await scene.say("who is this?", { chat: "bob", user: "bob" });
		expect(String(scene.shown.at(-1)?.history[0]?.content)).toContain("Hello Bob");
	});

	test("one whose outcome is unknown is unknown, and is not sent again", async () => {
		await start();
		scene.world.behave = () => "lose_ack";
		await send("telegram:bob", "maybe");
		await scene.clock.advance(61_000);
		const sent = await scene.store.sent({ scope: OPERATOR, id: "s1" });
		expect(sent?.deliveries.map(({ state }) => state)).toEqual(["unknown"]);
		expect(scene.texts("bob")).toEqual(["maybe"]);
	});

	test("I19: a crash between the commit and the sending loses and doubles nothing, and keeps the order", async () => {
		await start({ durable: true });
		await scene.say("hello", { chat: "bob", user: "bob" });
		scene.world.behave = () => ({ retryAfterMs: 30_000 });
		for (const n of [1, 2, 3]) await send("telegram:bob", `message ${n}`, `s${n}`);
		await scene.die();
		scene.world.behave = () => "ok";
		await scene.open(scene.clock.now() + 1000);
		await scene.clock.advance(60_000);
		expect(scene.texts("bob").filter((text) => text.startsWith("message"))).toEqual([
			"message 1",
			"message 2",
			"message 3",
		]);
	});

	test("local is a file that Keryx names, for this user alone, and once", async () => {
		const output = mkdtempSync(join(tmpdir(), "keryx-output-"));
		await start({ outputFolder: join(output, "output") });
		const first = await send("local", "# Report\n../../etc/passwd");
		const again = await send("local", "# Report\n../../etc/passwd");
		expect(again.path).toBe(first.path);
		const names = readdirSync(join(output, "output"));
		expect(names).toEqual([expect.stringMatching(/^20260310-120000-[0-9a-f]{12}\.md$/)]);
		const path = join(output, "output", names[0] as string);
		expect(readFileSync(path, "utf8")).toBe("# Report\n../../etc/passwd\n");
		expect(statSync(path).mode & 0o777).toBe(0o600);
		await expect(send("local", "another text")).rejects.toMatchObject({ code: "send.conflict" });
		expect(readFileSync(path, "utf8")).toBe("# Report\n../../etc/passwd\n");
		await expect(send("telegram:bob", "# Report")).rejects.toMatchObject({ code: "send.conflict" });
		await send("telegram:bob", "to a chat", "s2");
		await expect(send("local", "to a chat", "s2")).rejects.toMatchObject({ code: "send.conflict" });
		expect(readdirSync(join(output, "output"))).toEqual(names);
		rmSync(output, { recursive: true });
	});
});

describe("what the agent may send by itself", () => {
	test("to its own conversation nobody is asked", async () => {
		await start();
		await scene.say(call("origin", "still working"), { chat: "bob", user: "bob" });
		expect(scene.texts("bob")).toEqual(["still working", "done"]);
		await scene.say("and?", { chat: "bob", user: "bob" });
		expect(scene.texts("bob")).toEqual(["still working", "done", "done"]);
	});

	test("to anybody else the owner is asked: a denial sends nothing, an approval sends once", async () => {
		await start();
		await scene.say(call("telegram:bob", "lunch?"));
		expect(scene.texts("bob")).toEqual([]);
		const [asked] = await open();
		expect(asked).toMatchObject({
			action: "send_to_others",
			details: { target: "telegram:bob", text: "lunch?" },
		});
		await scene.say(`/deny ${asked?.id} no`);
		expect(scene.texts("bob")).toEqual([]);
		await scene.say(call("telegram:bob", "lunch?"));
		const [again] = await open();
		await scene.say(`/approve ${again?.id}`);
		expect(scene.texts("bob")).toEqual(["lunch?"]);
		const from = scene.shown.at(-1)?.conversation;
		await scene.say("sure", { chat: "bob", user: "bob" });
		expect(String(scene.shown.at(-1)?.history[0]?.content)).toMatch(
			/from a private chat on Telegram:\nlunch\?$/,
		);
		expect(scene.shown.at(-1)?.conversation).not.toBe(from);
	});

	test("a member's question about somebody else's chat is the owner's to answer", async () => {
		await start();
		await scene.say(call("telegram:ada", "hi boss"), { chat: "bob", user: "bob" });
		const [asked] = await open();
		expect(asked?.action).toBe("send_to_others");
		await scene.say(`/approve ${asked?.id}`, { chat: "bob", user: "bob" });
		expect(scene.texts("ada").filter((text) => text === "hi boss")).toEqual([]);
		await scene.say(`/approve ${asked?.id}`);
		expect(scene.texts("ada").filter((text) => text === "hi boss")).toHaveLength(1);
	});

	test("what send.allow names needs no question, but not for a guest", async () => {
		await start({ config: { send: { allow: ["telegram:ada"] } } });
		await scene.say(call("telegram:ada", "from bob"), { chat: "bob", user: "bob" });
		await scene.say(call("telegram:ada", "from gus"), { chat: "gus", user: "gus" });
		expect(scene.texts("ada")).toEqual(["from bob"]);
		expect(toolResult()).toContain("no such chat that you can send to");
	});

	test("a guest reaches nobody else's conversation, by whatever name", async () => {
		await start({ config: { home_channels: { telegram: { chat_id: "ada", name: "Ada" } } } });
		const ada = await scene.conversation(await scene.say("private"));
		const before = scene.texts("ada").length;
		for (const target of ["telegram:ada", "telegram", `conversation:${ada}`, "telegram:nobody", "local"]) {
			await scene.say(call(target, "boo"), { chat: "gus", user: "gus" });
			expect(await open()).toEqual([]);
			expect(toolResult()).toContain("Nothing was sent");
		}
		expect(scene.texts("ada")).toHaveLength(before);
	});

	test("where others read along, only the conversation itself and home channels are in reach", async () => {
		await start({ config: { home_channels: { telegram: { chat_id: "ada", name: "Ada" } } } });
		const room = { chat: "room", chatType: "group" as const, user: "ada" };
		await scene.say(call("telegram:bob", "psst"), room);
		expect(toolResult()).toContain("no such chat that you can send to from here");
		await scene.say(call("telegram", "note to self"), room);
		expect(await open()).toMatchObject([{ action: "send_to_others", details: { target: "telegram:ada" } }]);
	});

	test("files of the workspace go with it, and stand in the target's transcript; a link and a new chat are refused", async () => {
		folder = mkdtempSync(join(tmpdir(), "keryx-sending-"));
		writeFileSync(join(folder, "plan.pdf"), "the plan");
		symlinkSync("/etc/passwd", join(folder, "link.txt"));
		const channel = new FullChannel();
		await start({ wrap: channel.wrap, config: { send: { allow: ["telegram:*"] } } });
		const first = await scene.say("hello", { chat: "bob", user: "bob" });
		const sendFile = (target: string, path: string) =>
			scene.say(`call send_message ${JSON.stringify({ target, text: "look", attachments: [path] })}`);
		await sendFile("telegram:bob", "plan.pdf");
		const files = () => channel.given.filter(({ outgoing }) => outgoing.body.attachments);
		await expect.poll(() => files().length).toBe(1);
		expect(files()[0]?.outgoing.destination.chatId).toBe("bob");
		expect(String(files()[0]?.files.get("plan.pdf"))).toBe("the plan");
		expect((await scene.rows(first)).at(-1)).toMatchObject({
			kind: "sent",
			content: [
				{ type: "text", text: "look" },
				{ type: "file", name: "plan.pdf" },
			],
		});
		const texts = () => scene.shown.flatMap(({ history }) => history.map(({ content }) => String(content)));
		await sendFile("telegram:bob", "link.txt");
		await expect.poll(() => texts().some((text) => text.includes("link.txt is a link"))).toBe(true);
		await sendFile("telegram:stranger", "plan.pdf");
		await expect.poll(() => texts().some((text) => text.includes("send.refused"))).toBe(true);
		expect(files()).toHaveLength(1);
		rmSync(folder, { recursive: true });
	});

	test("I18: a target is checked with the rights of now", async () => {
		await start();
		const id = await scene.conversation(await scene.say("hi", { chat: "bob", user: "bob" }));
		const { principal } = await scene.store.conversation({ scope: OPERATOR, ref: { id } });
		const bob: Scope = { kind: "principal", principal: principal ?? "", profile: "", conversation: id };
		const needs = async (text: string, standing: Standing, scope: Scope, origin: ConversationId | null) => {
			const found = await scene.gateway.sending.resolve(text, { standing, scope, origin });
			return found.kind === "refused" ? "refused" : found.needs;
		};
		const { conversation: _, ...elsewhere } = bob;
		expect(await needs("telegram:bob", "member", bob, id)).toBe("nothing");
		expect(await needs("telegram:bob", "member", elsewhere as Scope, null)).toBe("person");
		expect(await needs("telegram:bob", "guest", elsewhere as Scope, null)).toBe("owner");
		expect(await needs("telegram:bob", "none", bob, id)).toBe("refused");
		expect(await needs("telegram:ada", "member", bob, id)).toBe("owner");
		expect(await needs("telegram:ada", "guest", bob, id)).toBe("refused");
		expect(await needs("slack:C1", "owner", bob, id)).toBe("refused");
		expect(await needs("nonsense:", "owner", bob, id)).toBe("refused");
		expect(await needs("origin", "owner", bob, null)).toBe("refused");
	});
});

test("the prompt names the delivery options where the tool is there, and only homes that are connected", async () => {
	const home_channels = {
		telegram: { chat_id: "ada", name: "Ada" },
		slack: { chat_id: "C1", name: "general" },
	};
	await start({ config: { home_channels } });
	await scene.say("hello");
	const { system } = scene.shown.at(-1) as { system: string };
	const line = system.split("\n").find((one) => one.includes("Where you can send"));
	expect(line).toContain("`origin`");
	expect(line).toContain("`telegram` (its home channel)");
	expect(line).not.toContain("slack");
});

function open() {
	return scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 10, status: "pending" });
}
