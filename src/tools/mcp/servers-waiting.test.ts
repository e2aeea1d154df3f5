// How long turns wait for servers that do not come, and what is left of those that go.
import { expect, test } from "vitest";
import { ROGUE } from "../../../test/mcp/scene.ts";
import { configFrom } from "../../config/index.ts";
import { NO_SECRETS } from "../../secrets/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { systemClock } from "../../time/index.ts";
import { withoutWall } from "../../walls/index.ts";
import { createMcpServers, type McpServersOptions } from "./servers.ts";

const PARTS: Omit<McpServersOptions, "clock" | "wallOf" | "settings"> = {
	version: "0.0.0",
	secrets: NO_SECRETS,
	variable: () => undefined,
	folderOf: () => "/",
	readLogin: () => null,
	writeLogin: () => {},
	log: () => {},
	callMs: () => 1000,
};

test("turns go on without a server that has been starting for ten seconds, and later ones do not wait for it", async () => {
	const clock = createVirtualClock(0);
	const { servers: settings } = configFrom({ mcp: { servers: { mute: { command: "cat" } } } }, {}, "").values
		.mcp;
	const servers = createMcpServers({
		...PARTS,
		clock,
		// It never gets as far as being started.
		wallOf: () => new Promise(() => {}),
		settings: () => settings,
	});
	await servers.follow();
	const ready: string[] = [];
	void servers.ready().then(() => ready.push("first"));
	await clock.advance(4000);
	void servers.ready().then(() => ready.push("second"));
	await clock.advance(5999);
	expect(ready).toEqual([]);
	await clock.advance(1);
	expect(ready).toEqual(["first", "second"]);
	void servers.ready().then(() => ready.push("third"));
	await clock.advance(0);
	expect(ready).toEqual(["first", "second", "third"]);
});

test("a server that the configuration has no more offers nothing, though it still runs: nobody is named who may use it", async () => {
	const given = { it: { command: process.execPath, args: [ROGUE, "good"] } };
	let settings = configFrom({ mcp: { servers: given } }, {}, "").values.mcp.servers;
	const servers = createMcpServers({
		...PARTS,
		clock: systemClock,
		wallOf: () => Promise.resolve(withoutWall({ PATH: process.env.PATH ?? "" })),
		settings: () => settings,
	});
	await servers.follow();
	const names = () => servers.tools().map(({ name }) => name);
	await expect.poll(names).toContain("it__ping");
	settings = {};
	expect(names()).toEqual([]);
	await servers.follow();
	await servers.close();
});
