// A gateway on PostgreSQL: it answers, refuses what it cannot keep while the server is away, and goes on when it is back.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient, socketTransport } from "../../src/http/index.ts";
import { asJson, commandIn, type Gateway } from "../support/keryx.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-pg-gateway-"));
const { keryx, start } = commandIn(root);
let server: PostgresServer;
const running: Gateway[] = [];
beforeAll(async () => {
	server = await startPostgres();
});
afterEach(async () => {
	await Promise.all(running.splice(0).map((gateway) => gateway.stop("SIGKILL")));
});
afterAll(async () => {
	await server.remove();
	rmSync(root, { recursive: true, force: true });
});

const ANSWERED = { inbound: { disposition: { kind: "answered" } } };

/** A schema for each test: each is a store. */
function placeOf(name: string) {
	const home = join(root, name);
	const env = { KERYX_HOME: home, KERYX_STORE_URL: `${server.url()}?schema=${name}` };
	const begin = async () => {
		const gateway = await start(home, [], env);
		running.push(gateway);
		return gateway;
	};
	const send = (text: string) => keryx(["send", "--json", text], { env });
	return { home, env, begin, send, client: () => createClient(socketTransport(join(home, "keryx.sock"))) };
}

describe("a gateway on PostgreSQL", () => {
	test("answers, and after kill -9 the next one finds what was said; a second one beside it is refused", async () => {
		const { env, begin, send } = placeOf("answers");
		const first = await begin();
		expect(asJson(await send("hello"))).toMatchObject(ANSWERED);
		const beside = await keryx([], { env: { ...env, KERYX_HOME: join(root, "beside") } });
		expect(beside.code).not.toBe(0);
		expect(beside.stderr).toContain("the store is in use by Keryx on");
		await first.stop("SIGKILL");
		await begin();
		expect(asJson(await send("again"))).toMatchObject(ANSWERED);
		const listed = await keryx(["sessions", "list", "--json"], { env });
		expect(asJson(listed)).toMatchObject({ sessions: [{ messages: 4 }] });
		const doctor = await keryx(["doctor", "--quick"], { env });
		expect(doctor.stdout).toContain(`postgres://keryx@127.0.0.1:${server.port}/postgres?schema=answers`);
		expect(doctor.stdout).toMatch(/ok +server: PostgreSQL \d.*tables of version/);
		expect(doctor.stdout).toMatch(/ok +clock: the server's clock differs by -?\d/);
		expect(doctor.stdout).toMatch(/ok +connections: \d+ of 100 connections/);
		expect(doctor.stdout).toMatch(/ok +nodes: gateways on this store: \S/);
	});

	test("takes nothing while the server is away, says so, and goes on when it is back", async () => {
		const { begin, client, send } = placeOf("away");
		const gateway = await begin();
		expect(asJson(await send("before"))).toMatchObject(ANSWERED);
		await server.stop("immediate");
		const refused = await client()
			.send({
				text: "lost?",
				client_message_id: "away",
				source: { platform: "local", chat_type: "dm", user_id: "1" },
			})
			.then(
				() => "taken",
				(error: { code: string }) => error.code,
			);
		expect(refused).toBe("store.unreachable");
		await expect.poll(() => gateway.complaints()).toContain("Keryx cannot accept anything");
		expect(await client().health()).toMatchObject({ status: "failing" });
		await server.start();
		await expect.poll(() => gateway.complaints()).toContain("the store works again");
		expect(asJson(await send("after"))).toMatchObject(ANSWERED);
		const texts = await onServer<{ body: string }>(
			server.url(),
			"SELECT body FROM away.messages WHERE role = 'user' ORDER BY id",
		);
		expect(texts.map(({ body }) => JSON.parse(body).content)).toEqual(["before", "after"]);
	});
});

describe("a server that cannot be used", () => {
	const refusedWith = async (url: string) => {
		const { code, stderr } = await keryx(["sessions", "list"], {
			env: { KERYX_HOME: join(root, "refused"), KERYX_STORE_URL: url },
		});
		return { code, stderr };
	};

	test("is refused with what to do: not there, no such database, a newer and an older store", async () => {
		const nobody = await refusedWith("postgres://keryx:hunter2hunter2@127.0.0.1:1/postgres");
		expect(nobody).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("the database server does not answer"),
		});
		expect(nobody.stderr).not.toContain("hunter2hunter2");
		expect(await refusedWith(server.url("nothing"))).toMatchObject({
			stderr: expect.stringContaining("the database does not exist"),
		});
		const { begin, env } = placeOf("versions");
		await (await begin()).stop();
		await onServer(server.url(), "UPDATE versions.settings SET value = '999' WHERE name = 'schema'");
		expect(await refusedWith(env.KERYX_STORE_URL)).toMatchObject({
			stderr: expect.stringContaining("this Keryx knows versions up to"),
		});
		await onServer(server.url(), "UPDATE versions.settings SET value = '1' WHERE name = 'schema'");
		expect(await refusedWith(env.KERYX_STORE_URL)).toMatchObject({
			stderr: expect.stringContaining("store migrate"),
		});
	});
});
