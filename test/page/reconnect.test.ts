// Keryx dies while pages look at it, and comes back.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Client, createClient, socketTransport } from "../../src/http/index.ts";
import { freePort } from "../support/free-port.ts";
import { commandIn, type Gateway, type KeryxCommand } from "../support/keryx.ts";
import { soon } from "../support/soon.ts";
import { openBrowser, takeSeat } from "./support.ts";
import { answer, message, tell, texts, write } from "./talk.ts";

let root: string;
let home: string;
let command: KeryxCommand;
let gateway: Gateway;
let browser: Browser;
let port: number;
let client: Client;

beforeAll(async () => {
	root = mkdtempSync(join(tmpdir(), "keryx-page-"));
	home = mkdtempSync(join(root, "home-"));
	port = await freePort();
	const script = join(home, "script.yaml");
	writeFileSync(
		script,
		stringify({
			rules: [
				{ when: "slowly", steps: [{ chunks: ["well, ", "now, ", "here ", "it is"], chunk_delay_ms: 1000 }] },
			],
			otherwise: [{ text: "You said: {{input}}" }],
		}),
	);
	writeFileSync(
		join(home, "config.yaml"),
		stringify({ agent: { kind: "scripted", script }, session_reset: { mode: "none", max_messages: 0 } }),
	);
	command = commandIn(root);
	[gateway, browser] = await Promise.all([start(), openBrowser()]);
	const bearer = readFileSync(join(home, "operator.secret"), "utf8").trim();
	client = createClient(socketTransport(join(home, "keryx.sock"), { bearer }));
});

afterAll(async () => {
	await browser?.close();
	await gateway?.stop();
	rmSync(root, { recursive: true, force: true });
});

test("a page says that Keryx is gone, comes back with it, and has missed nothing", async () => {
	const conversation = await tell({ client }, "desk", "before");
	const { page, leave } = await sit(`/c/${conversation}`);
	await connection(page, "Live");
	await answer(page, "You said: before").waitFor();

	await gateway.stop("SIGKILL");
	await connection(page, /Reconnecting|Offline/);
	await write(page, "can you hear me?");
	const mine = message(page, "can you hear me?");
	await mine.getByText("Keryx cannot be reached.").waitFor();
	// Somebody who has the store for a moment writes into the same conversation.
	const { code } = await command.keryx(["send", "--conversation", conversation, "from the terminal"], {
		env: { KERYX_HOME: home },
	});
	expect(code).toBe(0);
	await connection(page, "Offline");
	expect(await message(page, "from the terminal").count()).toBe(0);

	gateway = await start();
	await tell({ client }, "desk", "after");
	await connection(page, "Live");
	await mine.getByRole("button", { name: "Send again" }).click();
	await mine.getByText("Answered").waitFor();
	const record = ["before", "from the terminal", "after", "can you hear me?"];
	const whole = record.flatMap((text) => [text, `You said: ${text}`]);
	await soon(() => texts(page)).toEqual(whole);
	await page.reload();
	await soon(() => texts(page)).toEqual(whole);
	await leave(/ERR_|Failed to fetch/);
});

test("an answer that was being written when Keryx died is written once in the end", async () => {
	const conversation = await tell({ client }, "slow", "good day");
	const { page, leave } = await sit(`/c/${conversation}`);
	await connection(page, "Live");
	await write(page, "tell me slowly");
	await answer(page, "well, now").waitFor();

	await gateway.stop("SIGKILL");
	await connection(page, /Reconnecting|Offline/);
	gateway = await start();
	await connection(page, "Live");
	await message(page, "tell me slowly").getByText("Answered").waitFor();
	await page.getByRole("button", { name: "Stop the answer" }).waitFor({ state: "detached" });
	const whole = ["good day", "You said: good day", "tell me slowly", "well, now, here it is"];
	await soon(() => texts(page)).toEqual(whole);
	await page.reload();
	await soon(() => texts(page)).toEqual(whole);
	await leave(/ERR_|Failed to fetch/);
});

function start(): Promise<Gateway> {
	return command.start(home, [], { KERYX_HTTP_PORT: String(port) });
}

async function sit(path: string) {
	const { url } = await client.loginLink({});
	return takeSeat(browser, { url: `http://127.0.0.1:${port}`, link: () => url ?? "" }, { path });
}

async function connection(page: Page, state: string | RegExp): Promise<void> {
	const name =
		state instanceof RegExp ? new RegExp(`Connection: (?:${state.source})`) : `Connection: ${state}`;
	await page.getByRole("status", { name }).waitFor();
}
