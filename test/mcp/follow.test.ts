// MCP servers that come, change and go in config.yaml while Keryx runs, and the commands that look after them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asJson, commandIn, type Gateway } from "../support/keryx.ts";
import { ROGUE, running } from "./scene.ts";

let root: string;
let gateway: Gateway | undefined;
beforeEach(() => {
	root = mkdtempSync("/var/tmp/keryx-mcp-follow-");
});
afterEach(async () => {
	await gateway?.stop();
	gateway = undefined;
	rmSync(root, { recursive: true, force: true });
});

test("a server is added, tried, shown and removed by command, and its program goes with it", async () => {
	const home = join(root, "home");
	mkdirSync(home, { mode: 0o700 });
	const env = { KERYX_HOME: home };
	const command = commandIn(root);
	const program = [process.execPath, ROGUE, "good", root];
	const add = ["mcp", "add", "it", "--role", "owner", "member", "--", ...program];
	expect(await command.keryx(add, { env })).toMatchObject({
		code: 0,
		stdout: expect.stringContaining("mcp.servers.it"),
	});
	// Nobody runs: the command connects by itself, and leaves nothing behind.
	const tried = await command.keryx(["mcp", "test", "it"], { env });
	expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining("it__write (asks first)") });
	expect(running(root)).toHaveLength(0);
	gateway = await command.start(home);
	await expect
		.poll(async () => asJson(await command.keryx(["mcp", "list", "--json"], { env })).servers)
		.toMatchObject([{ name: "it", state: "connected", roles: ["owner", "member"], profiles: [""] }]);
	expect((await command.keryx(["doctor", "--quick"], { env })).stdout).toContain(
		"mcp: it: connected, 10 tools, visible to owner, member (default)",
	);
	expect(running(root)).toHaveLength(1);
	expect(await command.keryx(["mcp", "add", "it", "true"], { env })).toMatchObject({ code: 2 });
	expect(
		await command.keryx(["mcp", "add", "broken", process.execPath, "nowhere.mjs"], { env }),
	).toMatchObject({ code: 0 });
	await expect
		.poll(async () => (await command.keryx(["mcp", "test", "broken"], { env })).stderr)
		.toContain("broken is not connected");
	expect(await command.keryx(["mcp", "remove", "it"], { env })).toMatchObject({ code: 0 });
	await expect.poll(() => running(root)).toHaveLength(0);
	expect(await command.keryx(["mcp", "test", "it"], { env })).toMatchObject({ code: 1 });
});
