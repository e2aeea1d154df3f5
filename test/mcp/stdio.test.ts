// `keryx mcp` as other agents start it, through the official client, with the gateway restarted in the middle.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandIn, dataOf, type Gateway, MAIN, NODE_OPTIONS } from "../support/keryx.ts";

let root: string;
let gateway: Gateway | undefined;
const clients: Client[] = [];

beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), "keryx-mcp-"));
});
afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
	await gateway?.stop();
	gateway = undefined;
	rmSync(root, { recursive: true, force: true });
});

async function connected(home: string): Promise<Client> {
	const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode: "auto" } });
	clients.push(client);
	await client.connect(
		new StdioClientTransport({
			command: process.execPath,
			args: [...NODE_OPTIONS, MAIN, "mcp"],
			env: {
				PATH: process.env.PATH ?? "",
				NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
				KERYX_HOME: home,
				XDG_DATA_HOME: dataOf(home),
			},
		}),
	);
	return client;
}

async function events(client: Client, cursor?: string) {
	const { structuredContent } = await client.callTool({
		name: "events_poll",
		arguments: { ...(cursor !== undefined && { after_cursor: cursor }), limit: 200 },
	});
	return structuredContent as { events: { id: string; type: string }[]; cursor: string };
}

test("it talks, and a cursor goes on over a kill of the gateway without a gap", async () => {
	const home = join(root, "home");
	const command = commandIn(root);
	gateway = await command.start(home);
	const before = await connected(home);
	expect((await before.listTools()).tools.length).toBeGreaterThan(25);
	const { cursor } = await events(before);
	const said = await before.callTool({ name: "chat", arguments: { text: "hello", client_message_id: "1" } });
	expect(said.structuredContent).toMatchObject({ answered: true });
	await gateway.stop("SIGKILL");
	gateway = await command.start(home);
	const after = await connected(home);
	const again = await after.callTool({ name: "chat", arguments: { text: "hello", client_message_id: "1" } });
	expect(again.structuredContent, "said once").toEqual(said.structuredContent);
	const types = (await events(after, cursor)).events.map(({ type }) => type);
	expect(types.filter((type) => type === "inbound.accepted")).toHaveLength(1);
	expect(types).toContain("turn.ended");
});

test("where no Keryx runs it says so, and ends", async () => {
	const { code, stderr, stdout } = await commandIn(root).keryx(["mcp"]);
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toContain("no Keryx runs in this home");
});
