// The first start on a terminal: three questions, each of which may be skipped or fail without keeping Keryx from starting.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTelegramPeer, type TelegramPeer } from "./peers/telegram/index.ts";
import { dataOf, MAIN, NODE_OPTIONS } from "./support/keryx.ts";
import { type ModelServer, type Reply, says, startModelServer } from "./support/model-server.ts";
import { openTerminal, type RealTerminal } from "./support/terminal.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-first-"));
const bin = join(root, "bin");
const asked = join(root, "asked");
let model: ModelServer;
let telegram: TelegramPeer;
let terminal: RealTerminal;

beforeAll(async () => {
	[model, telegram] = await Promise.all([startModelServer(), createTelegramPeer()]);
	const list: Reply = (response) => {
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: [{ id: "seer" }] }));
	};
	model.always((response, request) =>
		(request.path.endsWith("/models") ? list : says("ok"))(response, request),
	);
	mkdirSync(bin);
});
afterEach(async () => {
	terminal.close();
	await terminal.ended;
});
afterAll(async () => {
	await Promise.all([model.close(), telegram.close()]);
	rmSync(root, { recursive: true, force: true });
});

function start(name: string): { readonly home: string } {
	const home = join(root, name);
	terminal = openTerminal([process.execPath, ...NODE_OPTIONS, MAIN], {
		columns: 160,
		rows: 50,
		env: {
			PATH: `${bin}:${process.env.PATH}`,
			HOME: root,
			KERYX_HOME: home,
			XDG_DATA_HOME: dataOf(home),
			KERYX_HTTP_PORT: "0",
			NO_COLOR: "1",
		},
	});
	return { home };
}

/** Stands in for the service manager. */
function systemctl(exitCode: number): void {
	writeFileSync(join(bin, "systemctl"), `#!/bin/sh\necho "$*" >> ${asked}\nexit ${exitCode}\n`);
	chmodSync(join(bin, "systemctl"), 0o755);
}

const answer = async (question: string, text: string) => {
	await terminal.shows(question);
	terminal.type(`${text}\r`);
};

test("a model is connected, a wrong answer is asked again, and a service that cannot be leaves Keryx in the terminal", async () => {
	systemctl(1);
	const { home } = start("model");
	await answer("Which provider's model", "opnai-compatible");
	await answer("the answer must be one of", "openai-compatible");
	await answer("Address of its API", model.url);
	await answer("leave empty if the server needs none", "");
	await answer("Model (name or number)", "1");
	await terminal.shows(/seer answered in \d+ ms/);
	await answer("Which chat platform", "telegram");
	// Not a token: nothing is sent, nothing is written, and the start goes on.
	await answer("Token of the telegram bot", "nonsense");
	await terminal.shows("Keryx starts without it");
	await answer("as a service", "y");
	await terminal.shows("Keryx runs in this terminal instead");
	await terminal.shows(/login\?code=/);
	await terminal.shows("seer answers");
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("model: seer");
});

test("as a service it is not started in this terminal, and Ctrl-D skips a question", async () => {
	systemctl(0);
	const { home } = start("service");
	await terminal.shows("Which provider's model");
	terminal.type("\x04");
	await terminal.shows("Which chat platform");
	terminal.type("\x04");
	await answer("as a service", "yes");
	expect(await terminal.ended).toBe(0);
	await terminal.shows("prints the link to the page");
	expect(readFileSync(asked, "utf8")).toContain("--user restart keryx.service");
	expect(existsSync(join(home, "keryx.db"))).toBe(false);
});

test("Ctrl-C at a question ends it, and a second start with a configuration asks nothing", async () => {
	const { home } = start("interrupted");
	await terminal.shows("Which provider's model");
	terminal.type("\x03");
	expect(await terminal.ended).toBe(130);
	expect(existsSync(join(home, "keryx.db"))).toBe(false);
	mkdirSync(home, { recursive: true });
	writeFileSync(join(home, "config.yaml"), "gateway: { batch_ms: 0 }\n");
	start("interrupted");
	await terminal.shows(/login\?code=/);
	expect(terminal.rows().join("\n")).not.toContain("Which provider");
});

test("a stop signal ends it and its chat", async () => {
	const home = join(root, "stopped");
	mkdirSync(home, { recursive: true });
	writeFileSync(join(home, "config.yaml"), "gateway: { batch_ms: 0 }\n");
	start("stopped");
	await terminal.shows("Keryx is running");
	process.kill(terminal.pid, "SIGTERM");
	expect(await terminal.ended).toBe(0);
});
