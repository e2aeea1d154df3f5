// Who may write to a store on a server: nodes, each of which loses everything it could write once another has found it dead.
import { createHash } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_SECRETS, OPERATOR, type Store, storeOn } from "../../src/store/index.ts";
import { openPostgres } from "../../src/store/postgres/engine.ts";
import { refusal } from "../../src/testing/conformance/store/scene.ts";
import { createFaultProxy } from "../../src/testing/index.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(() => server.remove());

const given = () => ({ clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS });

async function openIn(
	schema: string,
	troubles: (string | null)[] = [],
	nodes: "one" | "many" = "one",
): Promise<Store> {
	const engine = await openPostgres({
		url: `${server.url()}?schema=${schema}`,
		startedAt: 0,
		access: "own",
		onTrouble: (trouble) => troubles.push(trouble?.code ?? null),
		// Leases are set by hand here.
		node: { nodes, heartbeatMs: 60_000 },
	});
	return storeOn(engine, given());
}

let said = 0;

function say(store: Store, chat = "1") {
	return store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: chat, user_id: chat },
		platformMessage: `message ${++said}`,
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
}

describe("a node on a store on a server", () => {
	it("is alone where nothing else was said, and one whose lease has run out writes nothing once another has taken over", async () => {
		const first = await openIn("owned");
		await say(first);
		expect(await refusal(openIn("owned"))).toBe("store.owned");
		expect(await refusal(openIn("owned", [], "many"))).toBe("store.owned");
		await onServer(server.url(), "UPDATE owned.nodes SET expires_at = 0");
		const second = await openIn("owned");
		expect(await refusal(say(first))).toBe("store.owner_lost");
		await say(second);
		const [row] = await onServer<{ n: number }>(server.url(), "SELECT count(*)::int AS n FROM owned.inbox");
		expect(row?.n).toBe(2);
		await first.close();
		await second.close();
		const third = await openIn("owned");
		expect(third.epoch).toBe(second.epoch + 1);
		await third.close();
	});

	it("is taken over also if it comes back to the server before the other has taken the lock", async () => {
		const first = await openIn("comes_back");
		await say(first);
		const proxy = await createFaultProxy(server.url());
		proxy.delayMs = 30;
		const through = new URL(`${server.url()}?schema=comes_back`);
		through.port = String(proxy.port);
		await onServer(server.url(), "UPDATE comes_back.nodes SET expires_at = 0");
		const node = { nodes: "one", heartbeatMs: 60_000 } as const;
		const second = storeOn(
			await openPostgres({ url: through.href, startedAt: 0, access: "own", node }),
			given(),
		);
		expect(await refusal(say(first))).toBe("store.owner_lost");
		await say(second);
		await first.close();
		await second.close();
		await proxy.close();
	});

	it("shares it with others, and writes nothing any more once it was found dead", async () => {
		const first = await openIn("shared", [], "many");
		await say(first);
		const second = await openIn("shared", [], "many");
		expect(second.epoch).toBe(first.epoch + 1);
		await Promise.all(["1", "2", "3"].flatMap((chat) => [say(first, chat), say(second, chat)]));
		await onServer(server.url(), `UPDATE shared.nodes SET expires_at = 0 WHERE epoch = ${first.epoch}`);
		const third = await openIn("shared", [], "many");
		expect(await refusal(say(first))).toBe("store.owner_lost");
		await Promise.all([say(second), say(third)]);
		const [row] = await onServer<{ n: number }>(server.url(), "SELECT count(*)::int AS n FROM shared.inbox");
		expect(row?.n).toBe(9);
		await Promise.all([first, second, third].map((store) => store.close()));
		const live = "SELECT epoch FROM shared.nodes WHERE ended_at IS NULL";
		expect(await onServer(server.url(), live)).toEqual([]);
	});

	it("is taken over whatever other connections to the server are called, and those are left alone", async () => {
		const first = await openIn("named_alike", [], "many");
		const beside = await openIn("beside_it", [], "many");
		await Promise.all([say(first), say(beside)]);
		const writers = `SELECT pid, application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'keryx writer ${first.epoch} %' AND datname = current_database()`;
		const [one, two] = await onServer<{ pid: number; name: string }>(server.url(), writers);
		expect([beside.epoch, one?.name === two?.name]).toEqual([first.epoch, false]);
		const elsewhere = server.url().replace(/\/\w+$/, "/template1");
		const decoys = [one, two].map(
			(writer) => new pg.Client({ connectionString: elsewhere, application_name: writer?.name ?? "" }),
		);
		for (const decoy of decoys) await decoy.connect();
		await onServer(server.url(), "UPDATE named_alike.nodes SET expires_at = 0");
		const third = await openIn("named_alike", [], "many");
		expect(await refusal(say(first))).toBe("store.owner_lost");
		for (const decoy of decoys) expect((await decoy.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
		const left = await onServer<{ pid: number }>(server.url(), writers);
		expect(left.filter(({ pid }) => pid === one?.pid || pid === two?.pid)).toHaveLength(1);
		await say(beside);
		await Promise.all([...decoys.map((decoy) => decoy.end()), first.close(), beside.close(), third.close()]);
	});

	it("sends nothing after it stood still for as long as others wait, until it has renewed its lease", async () => {
		const store = await openIn("still", [], "many");
		const heard: boolean[] = [];
		store.cluster?.onLease((holds) => heard.push(holds));
		expect(store.cluster?.holdsLease).toBe(true);
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
		expect(store.cluster?.holdsLease).toBe(false);
		await expect.poll(() => store.cluster?.holdsLease).toBe(true);
		// What was refused meanwhile is looked for.
		expect(heard).toEqual([true]);
		await store.close();
	});

	it("has a name that no other living node has: a second one is refused, and one that comes after its end is not", async () => {
		const url = `${server.url()}?schema=named`;
		const open = async (name: string, leaseMs = 10_000) =>
			storeOn(
				await openPostgres({
					url,
					startedAt: 0,
					access: "own",
					node: { nodes: "many", name, leaseMs, heartbeatMs: 200 },
				}),
				given(),
			);
		const first = await open("berlin");
		const refused = await open("berlin").catch((error: unknown) => error);
		expect(refused).toMatchObject({
			code: "store.node_name",
			message: "another gateway on this store is called berlin",
			hint: expect.stringContaining("node.name"),
		});
		const [one, ...rest] = await Promise.allSettled([open("paris"), open("paris"), open("paris")]).then(
			(results) => results.toSorted((a, b) => a.status.localeCompare(b.status)),
		);
		expect(rest.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		expect(one?.status).toBe("fulfilled");
		const other = await open("oslo");
		await first.close();
		const again = await open("berlin");
		await Promise.all([say(other), say(again)]);
		expect((await other.nodes({ scope: OPERATOR })).map(({ name }) => name).toSorted()).toEqual([
			"berlin",
			"oslo",
			"paris",
		]);
		if (one?.status === "fulfilled") await one.value.close();
		await other.close();
		await again.close();
	});

	it("takes its name back from itself after a crash, and from one that hangs once its lease is over", async () => {
		const schema = "renamed";
		const proxy = await createFaultProxy(server.url());
		const through = new URL(`${server.url()}?schema=${schema}`);
		through.port = String(proxy.port);
		const open = async (url = `${server.url()}?schema=${schema}`) =>
			storeOn(
				await openPostgres({
					url,
					startedAt: 0,
					access: "own",
					node: { nodes: "many", name: "berlin", leaseMs: 10_000, heartbeatMs: 60_000 },
				}),
				given(),
			);
		// As a gateway that was killed: its connections are gone and do not come back, its row is there.
		const crashed = await open(through.href);
		await proxy.set("cut");
		const second = await open();
		await proxy.set("open");
		expect(await refusal(say(crashed))).toBe("store.owner_lost");
		// One that hangs keeps its connection.
		await onServer(server.url(), `UPDATE ${schema}.nodes SET expires_at = 0 WHERE epoch = ${second.epoch}`);
		const third = await open();
		expect(await refusal(say(second))).toBe("store.owner_lost");
		await say(third);
		for (const store of [crashed, second, third]) await store.close();
		await proxy.close();
	});

	it("hears of what another has committed, and of another's death", async () => {
		const first = await openIn("heard", [], "many");
		const second = await openIn("heard", [], "many");
		const heard = (listen: (done: () => void) => (() => void) | undefined) =>
			new Promise<void>((resolve) => {
				const end = listen(() => {
					end?.();
					resolve();
				});
			});
		const committed = heard((done) => first.cluster?.onCommitElsewhere(done));
		const seen = heard((done) => first.onCommit(done));
		await say(second);
		await Promise.all([committed, seen]);
		const died = heard((done) => first.cluster?.onNodeDead(done));
		await second.close();
		await died;
		await first.close();
	});

	it("comes back at once when the server has ended its connection, before others give it up", async () => {
		const url = `${server.url()}?schema=ended`;
		const open = async (heartbeatMs: number) => {
			const node = { nodes: "many", leaseMs: 1e9, heartbeatMs } as const;
			return storeOn(await openPostgres({ url, startedAt: 0, access: "own", node }), given());
		};
		// It never looks by itself: it is back because its connection ended, or not at all. No other is there to give it up, which one would
		// do on a machine that is busy for long enough.
		const first = await open(1e9);
		const [ended] = await onServer<{ pid: number }>(
			server.url(),
			`SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
			WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.objid::int = ${first.epoch} AND a.application_name = 'keryx node'
				AND l.classid::bigint = hashtext('keryx nodes:ended')::bigint & 4294967295`,
		);
		const isBack = async () => {
			const held = await onServer(
				server.url(),
				`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid::int = ${first.epoch}
					AND classid::bigint = hashtext('keryx nodes:ended')::bigint & 4294967295 AND pid <> ${ended?.pid}`,
			);
			return held.length > 0;
		};
		await expect.poll(isBack).toBe(true);
		await say(first);
		await first.close();
	});

	it("sends nothing any more by the time that others give it up, whatever is left of its lease", async () => {
		const proxy = await createFaultProxy(server.url());
		const through = new URL(`${server.url()}?schema=fenced`);
		through.port = String(proxy.port);
		const node = { nodes: "many", leaseMs: 120_000, heartbeatMs: 100 } as const;
		const open = async (url: string) =>
			storeOn(await openPostgres({ url, startedAt: 0, access: "own", node }), given());
		const cutOff = await open(through.href);
		const other = await open(`${server.url()}?schema=fenced`);
		expect(cutOff.cluster?.holdsLease).toBe(true);
		const died = new Promise<void>((resolve) => other.cluster?.onNodeDead(resolve));
		await proxy.set("cut");
		await died;
		expect(cutOff.cluster?.holdsLease).toBe(false);
		expect(other.cluster?.holdsLease).toBe(true);
		await proxy.set("open");
		expect(await refusal(say(cutOff))).toBe("store.owner_lost");
		await Promise.all([cutOff.close(), other.close()]);
		await proxy.close();
	});

	it("tells others what nobody else with access to the database can read, forge or repeat", async () => {
		const first = await openIn("telling", [], "many");
		const second = await openIn("telling", [], "many");
		const channel = `keryx_${createHash("sha256").update("telling").digest("hex").slice(0, 16)}`;
		const stranger = new pg.Client({ connectionString: server.url() });
		await stranger.connect();
		const payloads: string[] = [];
		stranger.on("notification", ({ payload = "" }) => payloads.push(payload));
		await stranger.query(`LISTEN ${channel}`);
		const heard: string[] = [];
		second.cluster?.onBroadcast((text) => heard.push(text));
		let sent = 0;
		// It may not know of the second yet.
		const tries = () => {
			if (heard.length === 0) first.cluster?.broadcast(`secret word ${++sent}`);
			return heard.length;
		};
		await expect.poll(tries).toBeGreaterThan(0);
		await expect.poll(() => payloads.length).toBeGreaterThan(0);
		expect(payloads.join()).not.toContain("secret");
		const forged = [...payloads, `${first.epoch} told forged`, '99 told ["rates"', "99 nodes", "", "AAAA"];
		for (const payload of forged) await stranger.query("SELECT pg_notify($1, $2)", [channel, payload]);
		first.cluster?.broadcast("the last word");
		await expect.poll(() => heard).toContain("the last word");
		expect(heard.filter((text) => !text.startsWith("secret word "))).toEqual(["the last word"]);
		expect(new Set(heard).size).toBe(heard.length);
		await stranger.end();
		for (const store of [first, second]) await store.close();
	});

	it("gives nobody up after the server was gone for longer than a lease", async () => {
		const own = await startPostgres();
		try {
			const node = { nodes: "many" } as const;
			const open = async () =>
				storeOn(await openPostgres({ url: own.url(), startedAt: 0, access: "own", node }), given());
			const stores = [await open(), await open()];
			const holding = () => stores.map(({ cluster }) => cluster?.holdsLease);
			await expect.poll(holding).toEqual([true, true]);
			await own.stop("immediate");
			await expect.poll(holding).toEqual([false, false]);
			own.change("UPDATE keryx.nodes SET expires_at = 1 WHERE ended_at IS NULL");
			await own.start();
			await expect.poll(holding).toEqual([true, true]);
			for (const store of stores) await say(store);
			for (const store of stores) await store.close();
		} finally {
			await own.remove();
		}
	});

	it("leaves no row behind for longer than a day", async () => {
		await (await openIn("pruned")).close();
		await onServer(server.url(), "UPDATE pruned.nodes SET ended_at = 1");
		const next = await openIn("pruned");
		expect(await onServer(server.url(), "SELECT epoch::int FROM pruned.nodes")).toEqual([
			{ epoch: next.epoch },
		]);
		await next.close();
	});

	it("is told that the database takes no writes, and goes on when it does again", async () => {
		const troubles: (string | null)[] = [];
		const store = await openIn("locked", troubles);
		await say(store);
		const drop =
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'keryx writer%'";
		await onServer(server.url(), "ALTER DATABASE postgres SET default_transaction_read_only = on");
		await onServer(server.url(), drop);
		expect(await refusal(say(store))).toBe("store.readonly");
		expect(troubles).toContain("store.readonly");
		await onServer(
			server.url(),
			"BEGIN READ WRITE; ALTER DATABASE postgres SET default_transaction_read_only = off; COMMIT",
		);
		await onServer(server.url(), drop);
		await say(store);
		expect(troubles.at(-1)).toBeNull();
		await store.close();
	});

	it("takes a message with NUL in the id of its chat, and knows it again", async () => {
		const store = await openIn("odd");
		const { conversation } = await say(store, "a\0b");
		expect((await say(store, "a\0b")).conversation).toBe(conversation);
		await store.close();
	});

	it("commits together what comes together, also when it is not what came before", async () => {
		const store = await openIn("together");
		const people = Array.from({ length: 32 }, (_, n) => `${n}`);
		for (const person of people) await say(store, person);
		const before = said;
		// Each was new until now, and none is any more.
		await Promise.all(people.map((person) => say(store, person)));
		const [row] = await onServer<{ n: number }>(
			server.url(),
			`SELECT count(DISTINCT xmin::text)::int AS n FROM together.inbox WHERE substr(platform_message, 9)::int > ${before}`,
		);
		expect(row?.n).toBe(1);
		await store.close();
	});
});
