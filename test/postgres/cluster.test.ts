// Several gateways on one store, each a process with a home of its own. One after the other is killed while messages for the same
// conversations come in on all of them: each message has one end, no answer is missing or doubled, and the order is kept.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient, socketTransport } from "../../src/http/index.ts";
import { asJson, commandIn, type Gateway } from "../support/keryx.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";

const MESSAGES = Number(process.env.KERYX_CLUSTER_MESSAGES ?? 240);
const CONVERSATIONS = Math.max(12, MESSAGES / 20);
const NODES = 3;
/** A node is killed after so many messages. */
const KILL_EVERY = Math.min(60, MESSAGES / 4);

const root = mkdtempSync(join(tmpdir(), "keryx-cluster-"));
const { keryx, start } = commandIn(root);
let server: PostgresServer;
const running = new Map<string, Gateway>();
beforeAll(async () => {
	server = await startPostgres();
});
afterEach(async () => {
	await Promise.all([...running.values()].map((gateway) => gateway.stop("SIGKILL")));
	running.clear();
});
afterAll(async () => {
	await server.remove();
	rmSync(root, { recursive: true, force: true });
});

const homeOf = (schema: string, n: number) => join(root, `${schema}-${n}`);

function clusterOf(schema: string) {
	const url = `${server.url()}?schema=${schema}`;
	const envOf = (n: number) => ({
		KERYX_HOME: homeOf(schema, n),
		KERYX_STORE_URL: url,
		KERYX_STORE_NODES: "many",
	});
	const begin = async (n: number) => {
		const gateway = await start(homeOf(schema, n), [], envOf(n));
		running.set(homeOf(schema, n), gateway);
	};
	return {
		begin,
		envOf,
		copyKeys: (n: number) => {
			mkdirSync(homeOf(schema, n), { recursive: true, mode: 0o700 });
			for (const key of ["audit.key", "pseudonym.key"])
				copyFileSync(join(homeOf(schema, 0), key), join(homeOf(schema, n), key));
		},
		kill: async (n: number) => {
			await running.get(homeOf(schema, n))?.stop("SIGKILL");
			running.delete(homeOf(schema, n));
		},
		clientOf: (n: number) => createClient(socketTransport(join(homeOf(schema, n), "keryx.sock"))),
		rows: <Row extends object>(sql: string) => onServer<Row & Record<string, unknown>>(server.url(), sql),
	};
}

type Cluster = ReturnType<typeof clusterOf>;

/** Until some node has taken it: under the same id, so that it is taken once. */
async function say(cluster: Cluster, user: number, text: string, first = user + text.length): Promise<void> {
	for (let n = first; ; n++) {
		const taken = await cluster
			.clientOf(n % NODES)
			.send({
				text,
				client_message_id: text,
				source: { platform: "local", chat_type: "dm", user_id: `user ${user}` },
			})
			.then(
				() => true,
				() => false,
			);
		if (taken) return;
	}
}

describe("several gateways on one store", () => {
	test(`answer ${MESSAGES} messages once and in order while one after the other is killed`, {
		timeout: 120_000 + MESSAGES * 500,
	}, async () => {
		const cluster = clusterOf("killed");
		await cluster.begin(0);
		for (const n of [1, 2]) cluster.copyKeys(n);
		await Promise.all([1, 2].map(cluster.begin));
		let said = 0;
		let kills = 0;
		const until = (done: () => boolean) => expect.poll(done, { timeout: 120_000 }).toBe(true);
		const killing = (async () => {
			while ((kills + 1) * KILL_EVERY < MESSAGES) {
				await until(() => said >= (kills + 1) * KILL_EVERY);
				const victim = kills % NODES;
				await cluster.kill(victim);
				kills++;
				await cluster.begin(victim);
			}
		})();
		// Nobody is faster than the kills.
		const mayGoOn = () => said < (kills + 2) * KILL_EVERY;
		await Promise.all(
			Array.from({ length: CONVERSATIONS }, async (_, user) => {
				for (let n = 0; n < MESSAGES / CONVERSATIONS; n++) {
					if (!mayGoOn()) await until(mayGoOn);
					await say(cluster, user, `message ${n} of ${user}`);
					said++;
				}
			}),
		);
		await killing;
		await expect
			.poll(() => cluster.rows("SELECT count(*)::int AS n FROM killed.inbox WHERE disposition IS NULL"), {
				timeout: 120_000,
				interval: 500,
			})
			.toEqual([{ n: 0 }]);
		const inbox = await cluster.rows<{ disposition: string; n: number }>(
			"SELECT disposition, count(*)::int AS n FROM killed.inbox GROUP BY disposition",
		);
		console.log(`${kills} kills:`, inbox);
		expect(kills).toBeGreaterThanOrEqual(3);
		expect(inbox.map(({ disposition }) => disposition)).toEqual(
			inbox.map(() => expect.stringMatching(/^(?:answered|merged)$/)),
		);
		expect(inbox.reduce((sum, { n }) => sum + n, 0)).toBe(MESSAGES);
		// Each message is in the record once, in the order in which it was said.
		const texts = await cluster.rows<{ conversation: string; texts: string }>(
			`SELECT s.conversation, string_agg(m.body, '|' ORDER BY m.id) AS texts FROM killed.messages m
			JOIN killed.sessions s ON s.key = m.session WHERE m.role = 'user' GROUP BY s.conversation`,
		);
		expect(texts).toHaveLength(CONVERSATIONS);
		for (const { texts: all } of texts) {
			const numbers = [...all.matchAll(/message (\d+) of/g)].map(([, n]) => Number(n));
			expect(numbers).toEqual(Array.from({ length: MESSAGES / CONVERSATIONS }, (_, n) => n));
		}
		// Each turn has one answer, and each answer was shown once.
		expect(
			await cluster.rows(
				"SELECT t.id FROM killed.turns t WHERE (SELECT count(*) FROM killed.messages m WHERE m.turn = t.id AND m.role = 'assistant') <> 1",
			),
		).toEqual([]);
		await expect
			.poll(() => cluster.rows("SELECT state, count(*)::int AS n FROM killed.deliveries GROUP BY state"), {
				timeout: 30_000,
			})
			.toEqual([{ state: "sent", n: expect.any(Number) }]);
	});

	test("one that stands still for longer than its lease does nothing afterwards, and ends", {
		timeout: 120_000,
	}, async () => {
		const cluster = clusterOf("stopped");
		await cluster.begin(0);
		await expect(cluster.begin(1)).rejects.toThrow("audit.key and pseudonym.key from the home of another");
		cluster.copyKeys(1);
		await cluster.begin(1);
		const gateway = running.get(homeOf("stopped", 0)) as Gateway;
		const listed = await keryx(["nodes", "--json"], { env: cluster.envOf(1) });
		expect(asJson(listed).nodes).toHaveLength(2);
		await say(cluster, 0, "before", 0);
		process.kill(gateway.pid, "SIGSTOP");
		const asleep = say(cluster, 0, "meanwhile", 1);
		const live = "SELECT name FROM stopped.nodes WHERE ended_at IS NULL";
		await expect.poll(() => cluster.rows(live), { timeout: 30_000 }).toHaveLength(1);
		await asleep;
		process.kill(gateway.pid, "SIGCONT");
		expect(await gateway.ended).toBe(1);
		expect(gateway.complaints()).toContain("another gateway has taken over");
		const told = "SELECT disposition, count(*)::int AS n FROM stopped.inbox GROUP BY disposition";
		await expect.poll(() => cluster.rows(told)).toEqual([{ disposition: "answered", n: 2 }]);
	});
});
