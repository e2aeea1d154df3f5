// How long turns wait for servers that do not come.
import { expect, test } from "vitest";
import { configFrom } from "../../config/index.ts";
import { NO_SECRETS } from "../../secrets/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { createMcpServers } from "./servers.ts";

test("turns go on without a server that has been starting for ten seconds, and later ones do not wait for it", async () => {
	const clock = createVirtualClock(0);
	const { servers: settings } = configFrom({ mcp: { servers: { mute: { command: "cat" } } } }, {}, "").values
		.mcp;
	const servers = createMcpServers({
		clock,
		version: "0.0.0",
		secrets: NO_SECRETS,
		variable: () => undefined,
		folderOf: () => "/",
		// It never gets as far as being started.
		wallOf: () => new Promise(() => {}),
		readLogin: () => null,
		writeLogin: () => {},
		log: () => {},
		settings: () => settings,
		callMs: () => 1000,
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
