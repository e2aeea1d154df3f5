// The official conformance program against `keryx mcp`. It speaks HTTP alone, so a relay passes each message on to the program's stdin
// and its answers back, word for word.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, test } from "vitest";
import { commandIn, dataOf, type Gateway, MAIN, NODE_OPTIONS } from "../support/keryx.ts";
import { expectConforming } from "./conformance.ts";

let root: string;
let gateway: Gateway;
let relay: Server;
const programs = new Map<string, ChildProcess>();

beforeAll(async () => {
	root = mkdtempSync(join(tmpdir(), "keryx-mcp-"));
	const home = join(root, "home");
	gateway = await commandIn(root).start(home);
	/** One program for each session, as a client that starts it would have. */
	const waiting = new Map<string, (line: string) => void>();
	const start = (session: string) => {
		const child = spawn(process.execPath, [...NODE_OPTIONS, MAIN, "mcp"], {
			env: {
				PATH: process.env.PATH,
				NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
				KERYX_HOME: home,
				XDG_DATA_HOME: dataOf(home),
			},
			stdio: ["pipe", "pipe", "ignore"],
		});
		createInterface({ input: child.stdout }).on("line", (line) => {
			const { id } = JSON.parse(line) as { id?: unknown };
			const key = `${session} ${JSON.stringify(id)}`;
			waiting.get(key)?.(line);
			waiting.delete(key);
		});
		programs.set(session, child);
		return child;
	};
	relay = createServer((incoming, outgoing) => {
		const chunks: Buffer[] = [];
		incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
		incoming.on("end", () => {
			if (incoming.method !== "POST") return void outgoing.writeHead(405).end();
			const body = Buffer.concat(chunks).toString("utf8");
			const { id } = JSON.parse(body) as { id?: unknown };
			const session = String(incoming.headers["mcp-session-id"] ?? `s${programs.size + 1}`);
			const child = programs.get(session) ?? start(session);
			if (id === undefined) {
				outgoing.writeHead(202).end();
			} else
				waiting.set(`${session} ${JSON.stringify(id)}`, (line) =>
					outgoing
						.writeHead(200, { "content-type": "application/json", "mcp-session-id": session })
						.end(line),
				);
			child.stdin?.write(`${body}\n`);
		});
	});
	await new Promise<void>((done) => relay.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
	for (const child of programs.values()) child.stdin?.end();
	relay.closeAllConnections();
	relay.close();
	await gateway.stop();
	rmSync(root, { recursive: true, force: true });
});

test.each(["server-initialize", "ping", "tools-list", "resources-list"])("%s", (scenario) =>
	expectConforming(relay, scenario),
);
