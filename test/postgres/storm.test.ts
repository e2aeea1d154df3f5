// Three gateways on one database, people who write on scripted platforms and on Telegram, and two gateways at a time that are killed,
// stand still for longer than their lease, or are cut off from the database, which itself is restarted. Each message has one end, no answer is
// seen twice, none is missing unless its outcome is unknown, the order is kept, and followers on different nodes see the same events, each
// once. 300 messages in `npm test`, 10,000 in `npm run test:crash`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/http/index.ts";
import { type ClusterNode, createCluster, type TestCluster } from "../../src/testing/index.ts";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";
import { SEED } from "../support/seed.ts";
import { judge } from "../torture/verdict.ts";
import { World } from "../torture/world.ts";
import { givenUp } from "./storm/given-up.ts";
import { balanced, makeHome, startNode } from "./storm/nodes.ts";
import { PEER_ACCOUNT } from "./storm/scene.ts";

const MESSAGES = Number(process.env.KERYX_CLUSTER_MESSAGES ?? 300);
const CONVERSATIONS = Math.min(500, Math.ceil(MESSAGES / 20));
const ON_TELEGRAM = Math.ceil(MESSAGES / 10);
/** On scripted platforms. */
const SCRIPTED = MESSAGES - ON_TELEGRAM;
const NODES = 3;
const LEASE = { seconds: 2, heartbeat_seconds: 0.5 };
/** In `npm test` each kind of fault comes once. */
const FAULTS = Math.max(6, 2 * Math.ceil(MESSAGES / 500));

const root = mkdtempSync(join(tmpdir(), "kx-storm-"));
const bench = new Workbench();
let server: PostgresServer;
let cluster: TestCluster;
let peer: TelegramPeer;
beforeAll(async () => {
	[server, peer] = await Promise.all([startPostgres(), createTelegramPeer()]);
});
afterAll(async () => {
	await cluster?.close();
	bench.end();
	await peer.close();
	await server.remove();
	rmSync(root, { recursive: true, force: true });
});

/** What happens to a node, until it answers again. */
const faults = {
	kill: (node) => node.kill(),
	/** Stands still for twice its lease, and finds itself given up. */
	halt: async (node) => {
		node.halt();
		await givenUp(server.url(), node.n, LEASE.seconds);
		node.resume();
		await node.ended();
	},
	/** Nothing passes, and nobody is told: it is given up. */
	silence: async (node) => {
		await node.silence();
		await givenUp(server.url(), node.n);
		await node.mend();
		await node.ended();
	},
	cut: async (node) => {
		await node.cut();
		await givenUp(server.url(), node.n);
		await node.mend();
		await node.ended();
	},
	/** Connections break and are made again within the lease. */
	blink: (node) => node.mend(),
	/** The whole database. */
	restart: async () => {
		await server.stop("immediate");
		await server.start();
	},
} satisfies Record<string, (node: ClusterNode) => Promise<void>>;

const KINDS = Object.keys(faults) as (keyof typeof faults)[];

test(
	`of ${MESSAGES} messages through ${FAULTS} faults each has one end, and followers of different nodes see the same`,
	async () => {
		const random = randomBy(SEED);
		const world = await World.create({
			bench,
			random,
			messages: SCRIPTED,
			conversations: CONVERSATIONS,
			url: server.url(),
		});
		world.allow(0);
		const orders = {
			root,
			lease: LEASE,
			addresses: world.addresses,
			telegram: { apiRoot: peer.apiRoot, token: peer.bot.token },
			effects: world.effects,
		};
		for (let n = 0; n < NODES; n++) makeHome(root, n);
		cluster = await createCluster({
			url: server.url(),
			nodes: NODES,
			start: (place) => startNode(place, orders),
		});
		await cluster.start();
		const leaving = new AbortController();
		const followers = [0, 1].map((n) => follow(n, leaving.signal));
		const onTelegram = sayOnTelegram(world);

		const counts: Record<string, number> = {};
		// Two of the three at a time. Each pair comes while people write, however fast the third node is.
		for (let n = 0; n < FAULTS; n += 2) {
			world.allow(Math.ceil((SCRIPTED * (n + 2)) / FAULTS));
			await expect
				.poll(() => world.said.length >= (SCRIPTED * (n + 0.5)) / FAULTS, { timeout: 300_000 })
				.toBe(true);
			await Promise.all(
				[n, n + 1].map((at) => {
					const kind = KINDS[at % KINDS.length] as keyof typeof faults;
					counts[kind] = (counts[kind] ?? 0) + 1;
					return faults[kind](cluster.nodes[at % NODES] as ClusterNode);
				}),
			);
			await back(cluster);
		}
		await expect
			.poll(() => back(cluster).then(() => world.isTaken), { timeout: 600_000, interval: 500 })
			.toBe(true);
		await drained();

		const store = await open(server.url(), "read");
		const { problems, ...verdict } = await judge(store, world);
		await store.close();
		const { written, seen } = await allSeen(followers);
		leaving.abort();
		console.log(
			`storm over a cluster: ${JSON.stringify({ messages: MESSAGES, faults: counts, ...world.counts, ...verdict, events: seen[0]?.length, seed: SEED })}`,
		);
		expect(problems, `seed ${SEED}`).toEqual([]);
		expect(seen[0]).toEqual(seen[1]);
		expect(seen[0]).toEqual(written);
		await judgeTelegram(onTelegram());
		expect(readFileSync(world.effects, "utf8").length).toBeGreaterThan(0);
		await world.close();
	},
	600_000 + MESSAGES * 500,
);

/** Nodes that ended are started again, as a service manager does. */
async function back({ nodes }: TestCluster): Promise<void> {
	await Promise.all(nodes.filter(({ isRunning }) => !isRunning).map((node) => started(node)));
}

/** The database may be away just then: such a start fails, and is made again. */
async function started(node: ClusterNode): Promise<void> {
	for (let attempt = 1; ; attempt++)
		try {
			return await node.start();
		} catch (error) {
			if (attempt === STARTS) throw error;
		}
}

const STARTS = 5;

/** Every message has its end, and nothing waits to be sent or looked up. */
async function drained(): Promise<void> {
	const open = `SELECT (SELECT count(*) FROM keryx.inbox WHERE disposition IS NULL)
		+ (SELECT count(*) FROM keryx.deliveries WHERE state IN ('open', 'pending', 'sending')
			OR state = 'unknown' AND platform = 'telegram' AND account = '') AS n`;
	await expect
		.poll(() => back(cluster).then(() => onServer(server.url(), open)), { timeout: 300_000, interval: 500 })
		.toEqual([{ n: "0" }]);
}

interface Follower {
	readonly seen: number[];
	readonly ended: Promise<void>;
}

/** The numbers of the events as they come; goes on at another node when its own is gone. */
function follow(first: number, signal: AbortSignal): Follower {
	const seen: number[] = [];
	const client = createClient(balanced(root, NODES, first));
	const read = async () => {
		for await (const frame of client.follow({ after: "", signal })) {
			if (frame.kind === "resync") throw new Error("events are missing");
			if (frame.kind === "event") seen.push(numberOf(frame.event.cursor));
		}
	};
	return { seen, ended: read() };
}

/** Cursors are opaque to clients; here they say which rows were seen. */
function numberOf(cursor: string): number {
	return Number.parseInt(cursor.slice(1), 36);
}

/** The events that are there now, and which of them each follower has seen. The nodes still run, and write more of them. */
async function allSeen(
	followers: readonly Follower[],
): Promise<{ readonly written: readonly number[]; readonly seen: readonly (readonly number[])[] }> {
	const rows = await onServer<{ id: string }>(server.url(), "SELECT id FROM keryx.events ORDER BY id");
	const written = rows.map(({ id }) => Number(id));
	const last = written.at(-1) ?? 0;
	for (const { seen, ended } of followers)
		await Promise.race([
			expect.poll(() => seen.at(-1) ?? 0).toBeGreaterThanOrEqual(last),
			ended.then(() => Promise.reject(new Error("a follower has ended"))),
		]);
	return { written, seen: followers.map(({ seen }) => seen.filter((id) => id <= last)) };
}

/** People on Telegram write as the others do. */
function sayOnTelegram(world: World): () => OnTelegram {
	const people = Array.from({ length: Math.ceil(ON_TELEGRAM / 10) }, (_, n) => {
		const user = peer.user(`Person${n}`);
		return { user, chat: peer.dm(user) };
	});
	const said: string[] = [];
	const write = () => {
		const due = Math.ceil((world.said.length / SCRIPTED) * ON_TELEGRAM);
		while (said.length < Math.min(due, ON_TELEGRAM)) {
			const { user, chat } = people[said.length % people.length] as (typeof people)[number];
			const text = `words ${said.length + 1}`;
			peer.say(user, chat, text);
			said.push(text);
		}
	};
	world.platform("slack").onChange(write);
	world.platform("discord").onChange(write);
	return () => {
		write();
		return { said, shown: people.flatMap(({ chat }) => peer.answers(chat)).map(({ text }) => text) };
	};
}

interface OnTelegram {
	readonly said: readonly string[];
	/** What Keryx has written there. */
	readonly shown: readonly string[];
}

/** The same for what was said on Telegram: one end each, no answer twice, none missing unless its outcome is unknown. */
async function judgeTelegram({ said, shown }: OnTelegram): Promise<void> {
	const inbox = await onServer<{ disposition: string; n: string }>(
		server.url(),
		`SELECT disposition, count(*) AS n FROM keryx.inbox WHERE account = '${PEER_ACCOUNT}' GROUP BY disposition`,
	);
	const deliveries = await onServer<{ state: string; n: string }>(
		server.url(),
		`SELECT state, count(*) AS n FROM keryx.deliveries WHERE account = '${PEER_ACCOUNT}' GROUP BY state`,
	);
	console.log(
		`on Telegram: ${JSON.stringify({ said: said.length, inbox, deliveries, shown: shown.length })}`,
	);
	expect(inbox.reduce((sum, { n }) => sum + Number(n), 0)).toBe(said.length);
	expect(inbox.map(({ disposition }) => disposition)).toEqual(
		inbox.map(() => expect.stringMatching(/^(?:answered|merged)$/)),
	);
	const answers = shown.filter((text) => text.startsWith("answer to"));
	expect(new Set(answers).size).toBe(answers.length);
	const unknown = Number(deliveries.find(({ state }) => state === "unknown")?.n ?? 0);
	// Messages that were merged into one turn have one answer, which names the last of them.
	const taken = await onServer<{ turn: string; body: string }>(
		server.url(),
		`SELECT i.turn, m.body FROM keryx.inbox i JOIN keryx.messages m ON m.id = i.message WHERE i.account = '${PEER_ACCOUNT}'`,
	);
	const names = (where: string, text: string) => new RegExp(`\\b${text}\\b`).test(where);
	const turns = said.map((text) => taken.find(({ body }) => names(body, text))?.turn);
	expect(turns).not.toContain(undefined);
	const answered = new Set(turns.filter((_, n) => answers.some((answer) => names(answer, said[n] ?? ""))));
	expect(new Set(turns).size - answered.size).toBeLessThanOrEqual(unknown);
}
