// An update of a Keryx whose store is on a server: it replaces the running one, and never changes the tables.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, socketTransport } from "../../src/http/client/index.ts";
import { serverFacts } from "../../src/store/index.ts";
import { fetched, install, MIGRATES, pack, withDependencies } from "../support/packed.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { eventually } from "../support/soon.ts";

const [OLD, NEW, LATER] = ["0.1.0", "0.2.0", "0.3.0"];
const root = realpathSync(mkdtempSync(join(tmpdir(), "keryx-update-pg-")));
const home = join(root, "h");
let server: PostgresServer;
let keryx: ChildProcess;
let launcher: string;
let said = "";

beforeAll(async () => {
	server = await startPostgres();
	withDependencies(root);
	mkdirSync(home);
	const own = pack(root, OLD);
	launcher = install(join(root, "own"), own);
	for (const [version, changes] of [
		[NEW, []],
		[LATER, [MIGRATES]],
	] as const)
		fetched(home, version, pack(root, version, changes));
	keryx = run();
	keryx.stderr?.on("data", (data) => (said += data));
	await running(OLD);
}, 300_000);
afterAll(async () => {
	if (keryx && keryx.exitCode === null) {
		keryx.kill("SIGTERM");
		await once(keryx, "exit");
	}
	await server?.remove();
	rmSync(root, { recursive: true, force: true });
});

function run(...words: string[]): ChildProcess {
	return spawn(process.execPath, [launcher, ...words], {
		env: {
			PATH: process.env.PATH,
			HOME: root,
			TZ: "UTC",
			KERYX_HOME: home,
			XDG_DATA_HOME: join(root, "data"),
			KERYX_HTTP_PORT: "0",
			KERYX_STORE_URL: server.url(),
			NO_COLOR: "1",
		},
		stdio: ["ignore", "pipe", "pipe"],
	});
}

async function update(to: string): Promise<{ readonly code: number | null; readonly said: string }> {
	const child = run("update", "--to", join(root, `keryx-${to}.tgz`));
	let text = "";
	for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (text += data));
	const [code] = (await once(child, "close")) as [number | null];
	return { code, said: text };
}

const client = () => createClient(socketTransport(join(home, "keryx.sock")));

async function running(version: string): Promise<void> {
	const seen = () =>
		client()
			.health()
			.then(
				(health) => health.version,
				() => said,
			);
	await eventually(async () => expect(await seen()).toBe(version), 120_000);
}

test("the running one makes room for another version with the same tables", async () => {
	expect(await update(NEW)).toEqual({
		code: 0,
		said: expect.stringContaining(`Updated Keryx from ${OLD} to ${NEW}`),
	});
	await running(NEW);
}, 180_000);

test("a version that needs other tables is refused, with the way to it, and nothing changes", async () => {
	const { schema } = await serverFacts(server.url(), Date.now);
	const refused = await update(LATER);
	expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("keryx store migrate")]);
	await running(NEW);
	expect((await serverFacts(server.url(), Date.now)).schema).toBe(schema);
}, 180_000);
