// `keryx chat` on a real terminal, with a question to answer; and `keryx` itself there, which ends when it is left.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { dataOf, MAIN } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-cli-chat-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const asks = (folder: string) => [
	{ tools: [{ name: "terminal", input: { command: `rm -rf ./${folder}` } }] },
	// The question itself counts as a step.
	{ text: "" },
	{ text: `About ${folder}: so be it.` },
];

test("y and n answer the question that waits; without one they are messages", async () => {
	const home = join(root, "home");
	mkdirSync(home);
	const script = join(home, "script.yaml");
	const rules = [
		{ when: "delete the beds", steps: asks("beds") },
		{ when: "delete the shed", steps: asks("shed") },
	];
	writeFileSync(script, stringify({ rules, otherwise: [{ text: "You said: {{input}}" }] }));
	writeFileSync(join(home, "config.yaml"), stringify({ agent: { kind: "scripted", script } }));
	const chat = spawn(process.execPath, [MAIN, "chat"], {
		cols: 100,
		rows: 40,
		env: { ...process.env, KERYX_HOME: home, XDG_DATA_HOME: dataOf(home), NO_COLOR: "1" },
	});
	const shown = recorded(chat);
	try {
		await shown("Write a message to start");
		chat.write("delete the beds\r");
		await shown("delete_files needs your approval: y approves, n denies");
		chat.write("y\r");
		await shown("Approved: delete_files.");
		await shown("About beds: so be it.");
		chat.write("y\r");
		await shown("You said: y");
		chat.write("delete the shed\r");
		await shown("delete_files needs your approval: y approves, n denies");
		chat.write("n\r");
		await shown("Denied: delete_files. It was not done.");
		await shown("About shed: so be it.");
	} finally {
		const ended = new Promise((resolve) => chat.onExit(resolve));
		chat.write("/quit\r");
		await ended;
	}
});

test("keryx on a terminal ends when it is left", async () => {
	const home = join(root, "left");
	// Set up already: a first start would ask.
	mkdirSync(home);
	writeFileSync(join(home, "config.yaml"), "", { mode: 0o600 });
	const keryx = spawn(process.execPath, [MAIN], {
		cols: 100,
		rows: 40,
		env: {
			...process.env,
			KERYX_HOME: home,
			XDG_DATA_HOME: dataOf(home),
			KERYX_HTTP_PORT: "0",
			NO_COLOR: "1",
		},
	});
	const ended = new Promise<{ readonly exitCode: number }>((resolve) => keryx.onExit(resolve));
	const shown = recorded(keryx);
	await shown("Write a message to start");
	keryx.write("/quit\r");
	expect((await ended).exitCode).toBe(0);
});

/** Waits for words that are shown after those that were waited for before. */
function recorded(chat: IPty): (words: string) => Promise<void> {
	let all = "";
	let from = 0;
	chat.onData((data) => {
		all += data;
	});
	return async (words) => {
		await expect.poll(() => all.indexOf(words, from), { message: words }).not.toBe(-1);
		from = all.indexOf(words, from) + words.length;
	};
}
