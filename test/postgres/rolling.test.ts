// Three gateways are updated one after the other, under load, to a build with one more step of the schema: nothing is lost, doubled or out
// of order.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/http/index.ts";
import { SCHEMA_VERSION } from "../../src/store/schema.ts";
import {
	createCluster,
	createPlatformServer,
	type PlatformServer,
	ScriptedPlatform,
	type TestCluster,
} from "../../src/testing/index.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";
import { PLATFORMS } from "../torture/scene.ts";
import { laterBuild } from "./storm/later.ts";
import { balanced, makeHome, startNode } from "./storm/nodes.ts";

const NODES = 3;
const PEOPLE = 6;
const LEASE = { seconds: 10, heartbeat_seconds: 3 };
/** Between an answer and the next message: as fast as they can, six people take the cores from the gateways that start. */
const PACE_MS = 50;

const root = mkdtempSync(join(tmpdir(), "kx-rolling-"));
const platforms = new Map<string, PlatformServer>();
const updated = new Set<number>();
let later: Awaited<ReturnType<typeof laterBuild>>;
let server: PostgresServer;
let cluster: TestCluster;
beforeAll(async () => {
	server = await startPostgres();
	later = await laterBuild(join(root, "later"));
	for (const platform of Object.keys(PLATFORMS))
		platforms.set(platform, await createPlatformServer({ platform: new ScriptedPlatform({ platform }) }));
	for (let n = 0; n < NODES; n++) makeHome(root, n);
	cluster = await createCluster({
		url: server.url(),
		nodes: NODES,
		start: (place) =>
			startNode(place, {
				root,
				lease: LEASE,
				addresses: Object.fromEntries([...platforms].map(([name, { address }]) => [name, address])),
				telegram: null,
				effects: join(root, "effects"),
				...(updated.has(place.n) && { program: later.child }),
			}),
	});
	await cluster.start();
});
afterAll(async () => {
	await cluster?.close();
	for (const { close } of platforms.values()) await close();
	await server?.remove();
	rmSync(root, { recursive: true, force: true });
});

let isOver = false;

/** One person who writes, waits for the answer and writes again, to whichever gateway answers. */
async function talk(person: number): Promise<readonly string[]> {
	const client = createClient(balanced(root, NODES, person % NODES));
	const said: string[] = [];
	while (!isOver) {
		const text = `plain ${person}.${said.length}`;
		const { id } = await until(() =>
			client.send({
				text,
				client_message_id: text,
				source: { platform: "local", chat_type: "dm", user_id: `person ${person}` },
			}),
		);
		said.push(text);
		await until(async () => {
			const { disposition } = await client.inbound({ id, wait: 5 });
			if (disposition === null) throw new Error("not yet");
		});
		await pause(PACE_MS);
	}
	return said;
}

/** A gateway that is being stopped refuses; another one takes it. */
async function until<Value>(ask: () => Promise<Value>): Promise<Value> {
	for (;;)
		try {
			return await ask();
		} catch (error) {
			if (isOver && cluster.nodes.every(({ isRunning }) => !isRunning)) throw error;
		}
}

async function turnsSince(turns: number): Promise<void> {
	await expect.poll(async () => (await counted("turns")) - turns).toBeGreaterThan(PEOPLE);
}

async function counted(table: string): Promise<number> {
	const [row] = await onServer<{ n: number }>(server.url(), `SELECT count(*)::int AS n FROM keryx.${table}`);
	return row?.n ?? 0;
}

test("a rolling update to a build with one more migration, under load, loses nothing", {
	timeout: 240_000,
}, async () => {
	const talking = Promise.all(Array.from({ length: PEOPLE }, (_, person) => talk(person)));
	await turnsSince(0);
	// With the new build, while the old ones go on.
	await promisify(execFile)(
		process.execPath,
		["--disable-warning=ExperimentalWarning", later.command, "store", "migrate"],
		{ env: { PATH: process.env.PATH, KERYX_HOME: join(root, "operator"), KERYX_STORE_URL: server.url() } },
	);
	await turnsSince(await counted("turns"));
	for (const node of cluster.nodes) {
		expect(await node.stop()).toBe(0);
		updated.add(node.n);
		await node.start();
		await turnsSince(await counted("turns"));
	}
	isOver = true;
	const said = await talking;

	const [version] = await onServer<{ value: string }>(
		server.url(),
		"SELECT value FROM keryx.settings WHERE name = 'schema'",
	);
	expect(Number(version?.value)).toBe(SCHEMA_VERSION + 1);
	const all = said.flat();
	const inbox = await onServer(
		server.url(),
		"SELECT disposition, count(*)::int AS n FROM keryx.inbox GROUP BY disposition",
	);
	expect(inbox).toEqual([{ disposition: "answered", n: all.length }]);
	const rows = await onServer<{ conversation: string; role: string; body: string }>(
		server.url(),
		`SELECT s.conversation, m.role, m.body FROM keryx.messages m JOIN keryx.sessions s ON s.key = m.session
		WHERE m.role IN ('user', 'assistant') ORDER BY m.id`,
	);
	const talks = [...Map.groupBy(rows, ({ conversation }) => conversation).values()];
	const spoken = talks.map((talk) =>
		talk.filter(({ role }) => role === "user").map(({ body }) => JSON.parse(body).content),
	);
	expect(spoken.toSorted()).toEqual(said.toSorted());
	// One answer to each, right behind it.
	for (const talk of talks)
		expect(talk.map(({ role }) => role)).toEqual(talk.map((_, n) => (n % 2 === 0 ? "user" : "assistant")));
	console.log(`rolling update: ${all.length} messages, none lost`);
});
