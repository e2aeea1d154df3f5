// Three gateways on one database: what each may do for the others, and what one that was given up may not do any more.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient, socketTransport } from "../../src/http/index.ts";
import {
	type ClusterNode,
	createCluster,
	createPlatformServer,
	type PlatformServer,
	ScriptedPlatform,
	type TestCluster,
} from "../../src/testing/index.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";
import { PLATFORMS } from "../torture/scene.ts";
import { givenUp } from "./storm/given-up.ts";
import { balanced, homeOf, makeHome, nameOf, startNode } from "./storm/nodes.ts";
import { PEER_ACCOUNT } from "./storm/scene.ts";

const NODES = 3;
/** Longer than a busy machine lets a process wait: none but the one that is meant may be given up. */
const LEASE = { seconds: 4, heartbeat_seconds: 0.5 };
const root = mkdtempSync(join(tmpdir(), "kx-nodes-"));
const acts = join(root, "acts");
const platforms = new Map<string, PlatformServer>();
let server: PostgresServer;
let peer: TelegramPeer;
let cluster: TestCluster;
beforeAll(async () => {
	[server, peer] = await Promise.all([startPostgres(), createTelegramPeer()]);
	for (const platform of Object.keys(PLATFORMS))
		platforms.set(platform, await createPlatformServer({ platform: new ScriptedPlatform({ platform }) }));
	for (let n = 0; n < NODES; n++) makeHome(root, n);
	const orders = {
		root,
		lease: LEASE,
		addresses: Object.fromEntries([...platforms].map(([name, { address }]) => [name, address])),
		telegram: { apiRoot: peer.apiRoot, token: peer.bot.token },
		effects: join(root, "effects"),
		acts,
		// Longer than a busy machine lets a message wait.
		preferMs: 10_000,
	};
	cluster = await createCluster({
		url: server.url(),
		nodes: NODES,
		start: (place) => startNode(place, orders),
	});
	await cluster.start();
});
afterAll(async () => {
	await cluster?.close();
	for (const { close } of platforms.values()) await close();
	await peer.close();
	await server.remove();
	rmSync(root, { recursive: true, force: true });
});

function clientOf(n: number): Client {
	return createClient(socketTransport(join(homeOf(root, n), "keryx.sock")));
}

/** With the proof that settings and decisions ask for. */
function operatorOf(n: number): Client {
	const bearer = readFileSync(join(homeOf(root, n), "operator.secret"), "utf8").trim();
	return createClient(socketTransport(join(homeOf(root, n), "keryx.sock"), { bearer }));
}

function node(n: number): ClusterNode {
	return cluster.nodes[n] as ClusterNode;
}

let said = 0;
async function say(client: Client, user: string, text: string) {
	const source = { platform: "local", chat_type: "dm" as const, user_id: user };
	return await client.send({ text, client_message_id: `m${++said}`, source });
}

/** Which node does something for all of them. */
async function holderOf(duty: string): Promise<number> {
	const [row] = await onServer<{ name: string }>(
		server.url(),
		`SELECT n.name FROM keryx.duties d JOIN keryx.nodes n ON n.epoch = d.node WHERE d.name = '${duty}' AND n.ended_at IS NULL`,
	);
	return cluster.nodes.findIndex(({ n }) => nameOf(n) === row?.name);
}

describe("several gateways on one store", () => {
	test("/stop at one stops a turn that runs at another, which then takes the next message", async () => {
		const { id, conversation } = await say(clientOf(0), "stopper", "hang");
		const onItsWay = async () =>
			(await clientOf(0).partial({ conversation: conversation ?? "" })).partial?.text;
		await expect.poll(onItsWay).toContain("part 1, ");
		await say(clientOf(1), "stopper", "/stop");
		expect((await clientOf(2).inbound({ id, wait: 30 })).disposition).toMatchObject({ kind: "stopped" });
		// It has stored what it had written so far.
		const said =
			"SELECT count(*)::int AS n FROM keryx.messages WHERE role = 'assistant' AND body LIKE '%part 1, %'";
		expect(await onServer(server.url(), said)).toEqual([{ n: 1 }]);
		const next = await say(clientOf(0), "stopper", "plain");
		expect((await clientOf(0).inbound({ id: next.id, wait: 30 })).disposition).toMatchObject({
			kind: "answered",
		});
	});

	describe("while one answers, a message that comes to another", () => {
		/** A conversation whose turn waits at the first node for a message. */
		const waiting = async (user: string, busy: "steer" | "interrupt") => {
			const first = await say(clientOf(0), user, "plain");
			const conversation = first.conversation ?? "";
			await clientOf(0).inbound({ id: first.id, wait: 30 });
			await operatorOf(1).setBusy({ conversation, busy });
			const { id } = await say(clientOf(0), user, "patient");
			const called = `SELECT count(*)::int AS n FROM keryx.events WHERE type = 'call.started' AND conversation = '${conversation}'`;
			await expect.poll(() => onServer(server.url(), called)).toEqual([{ n: 1 }]);
			return id;
		};

		test.each([0, 1])("joins its answer in mode steer (node %i)", async (n) => {
			const first = await waiting(`steerer ${n}`, "steer");
			const second = await say(clientOf(n), `steerer ${n}`, "also this");
			for (const id of [first, second.id])
				expect((await clientOf(2).inbound({ id, wait: 30 })).disposition).toMatchObject({ kind: "merged" });
		});

		test.each([0, 1])("stops its answer in mode interrupt, and is answered (node %i)", async (n) => {
			const first = await waiting(`interrupter ${n}`, "interrupt");
			const second = await say(clientOf(n), `interrupter ${n}`, "plain");
			const ends = [];
			for (const id of [first, second.id])
				ends.push((await clientOf(2).inbound({ id, wait: 30 })).disposition?.kind);
			expect(ends).toEqual(["stopped", "answered"]);
		});
	});

	test("a view at one shows text while another writes it, and goes on at a third when the one is killed", async () => {
		const leaving = new AbortController();
		// Through a load balancer, which leads to the second node first.
		const view = createClient(balanced(root, NODES, 1));
		const seen: string[] = [];
		let text = "";
		let final = "";
		let wasLost = false;
		let before = Number.POSITIVE_INFINITY;
		const first = await say(clientOf(0), "reader", "plain");
		const conversation = first.conversation ?? "";
		await clientOf(0).inbound({ id: first.id, wait: 30 });
		const { id } = await say(clientOf(0), "reader", "story");
		for await (const frame of view.follow({ after: "", conversation, signal: leaving.signal })) {
			if (frame.kind === "lost" && !wasLost) {
				wasLost = true;
				before = text.length;
			}
			if (frame.kind === "delta") {
				const { offset, text: piece } = frame.delta;
				if (offset <= text.length) text += piece.slice(text.length - offset);
				// The story is longer than anybody waits: it ends when the view has gone on elsewhere.
				if (!wasLost && text.includes("part 5, ")) await node(1).kill();
				if (text.length > before) {
					before = Number.POSITIVE_INFINITY;
					await say(clientOf(0), "reader", "/stop");
				}
			}
			if (frame.kind !== "event") continue;
			seen.push(frame.event.cursor);
			const { type, message } = frame.event;
			if (type === "message.appended" && message?.role === "assistant" && message.turn !== null)
				final = String(message.content);
			if (type === "turn.ended" && wasLost) leaving.abort();
		}
		expect((await clientOf(0).inbound({ id, wait: 30 })).disposition).toMatchObject({ kind: "stopped" });
		// What it saw on its way was of this answer, before and after it had to go elsewhere.
		expect(final.startsWith(text)).toBe(true);
		const written = await onServer<{ id: string }>(
			server.url(),
			`SELECT id FROM keryx.events WHERE conversation = '${conversation}' ORDER BY id LIMIT ${seen.length}`,
		);
		expect(seen).toEqual(written.map(({ id }) => `e${Number(id).toString(36)}`));
		await node(1).start();
	});

	test("when the one that is connected to a chat platform dies, another connects and answers", async () => {
		const person = peer.user("Ada");
		const chat = peer.dm(person);
		const answers = () => peer.answers(chat).map(({ text }) => text);
		peer.say(person, chat, "before");
		await expect.poll(answers).toEqual(["answer to before"]);
		const holder = await holderOf(`channel telegram ${PEER_ACCOUNT}`);
		await node(holder).kill();
		peer.say(person, chat, "after");
		await expect.poll(answers).toEqual(["answer to before", "answer to after"]);
		expect(await holderOf(`channel telegram ${PEER_ACCOUNT}`)).not.toBe(holder);
		await node(holder).start();
	});

	test("the one that answered last answers again, whichever gets the message or the decision", async () => {
		const ended = async (id: number) => (await clientOf(1).inbound({ id, wait: 30 })).disposition?.kind;
		const first = await say(clientOf(0), "regular", "plain");
		expect(await ended(first.id)).toBe("answered");
		const second = await say(clientOf(1), "regular", "danger");
		expect(await ended(second.id)).toBe("answered");
		const [open] = await onServer<{ id: string }>(
			server.url(),
			`SELECT id FROM keryx.confirmations WHERE conversation = '${second.conversation}'`,
		);
		await operatorOf(2).confirmations.approve(open?.id ?? "", {});
		const at = () =>
			onServer(
				server.url(),
				`SELECT n.name FROM keryx.turns t JOIN keryx.nodes n ON n.epoch = t.epoch
				WHERE t.conversation = '${second.conversation}' ORDER BY t.started_at`,
			);
		await expect.poll(at).toEqual([0, 0, 0].map((n) => ({ name: nameOf(n) })));
	});

	test("what one leaves when it is stopped is continued by others, once, and nobody is told of a stop", async () => {
		const users = Array.from({ length: 6 }, (_, n) => `leaver ${n}`);
		const sent = await Promise.all(users.map((user) => say(clientOf(2), user, "late for a stop")));
		const ids = sent.map(({ id }) => id).join(", ");
		const begun = `SELECT turn FROM keryx.inbox WHERE id IN (${ids}) AND turn IS NOT NULL`;
		await expect.poll(async () => (await onServer(server.url(), begun)).length).toBe(users.length);
		const turns = (await onServer<{ turn: string }>(server.url(), begun)).map(({ turn }) => `'${turn}'`);
		await node(2).stop();
		for (const { id } of sent)
			expect((await clientOf(0).inbound({ id, wait: 60 })).disposition).toMatchObject({ kind: "answered" });
		const resumed = `SELECT turn, count(*)::int AS n FROM keryx.events WHERE type = 'turn.resumed' AND turn IN (${turns}) GROUP BY turn`;
		for (const { n } of await onServer<{ n: number }>(server.url(), resumed)) expect(n).toBe(1);
		expect(
			await onServer(server.url(), "SELECT id FROM keryx.deliveries WHERE id LIKE '%:cut-off%'"),
		).toEqual([]);
		await node(2).start();
	});

	test("a job that was made at one that died since runs at another, once", async () => {
		/** A job that comes due only after the node that took it is dead: tried with more time where that was too little. */
		const jobOfTheDead = async (aheadMs: number): Promise<string> => {
			const due = Date.now() + aheadMs;
			const when = new Date(due).toISOString();
			const { id } = await clientOf(2).createSchedule({ when, task: "prompt", text: "plain" });
			await node(2).kill();
			if (Date.now() < due) return id;
			await node(2).start();
			return jobOfTheDead(2 * aheadMs);
		};
		const job = await jobOfTheDead(2000);
		const runs = async () => (await clientOf(0).scheduleRuns({ job })).runs.map(({ state }) => state);
		await expect.poll(runs).toEqual(["answered"]);
		await node(2).start();
	});

	test("a conversation stays where its programs run while that gateway lives, and they are found again when it is back", async () => {
		const answered = async (n: number, text: string) => {
			const { id, conversation } = await say(clientOf(n), "keeper", text);
			expect((await clientOf(n).inbound({ id, wait: 30 })).disposition).toMatchObject({ kind: "answered" });
			const [turn] = await onServer<{ name: string }>(
				server.url(),
				`SELECT n.name FROM keryx.turns t JOIN keryx.nodes n ON n.epoch = t.epoch WHERE t.conversation = '${conversation}' ORDER BY t.started_at DESC LIMIT 1`,
			);
			return turn?.name;
		};
		const programs = async (n: number) =>
			(await clientOf(n).processes({ kind: "background" })).processes.map(({ id, elsewhere }) => ({
				id,
				elsewhere,
			}));
		expect(await answered(0, "program")).toBe(nameOf(0));
		const [program] = await programs(0);
		expect(program?.elsewhere).toBeNull();
		const at = (lives: boolean) => [{ id: program?.id, elsewhere: { node: nameOf(0), lives } }];
		expect(await programs(1)).toEqual(at(true));
		expect(await answered(1, "plain")).toBe(nameOf(0));
		await node(0).kill();
		expect(await answered(1, "plain again")).not.toBe(nameOf(0));
		expect(await programs(2)).toEqual(at(false));
		await node(0).start();
		expect(await programs(0)).toEqual([program]);
		const id = program?.id ?? "";
		expect((await clientOf(1).processLog({ id })).output).toContain("printed");
		expect((await clientOf(1).killProcess({ id })).result).toBe("killed");
		expect(await programs(1)).toEqual([]);
		expect((await clientOf(2).processLog({ id })).output).toContain("printed");
		expect(await clientOf(2).process({ id })).toMatchObject({ state: "killed", survivors: [] });
	});

	test("one whose clock is an hour ahead goes by the server's, keeps its lease, gives nobody up, and answers in the same order as the others", async () => {
		const lives = "SELECT name FROM keryx.nodes WHERE ended_at IS NULL ORDER BY name";
		node(2).skew(3_600_000);
		await node(2).kill();
		await node(2).start();
		const said: string[] = [];
		let conversation = "";
		for (let k = 0; k < 6; k++) {
			const client = clientOf(k % 2 === 0 ? 2 : 0);
			const sent = await say(client, "skewed", `plain ${k}`);
			said.push(`plain ${k}`);
			conversation = sent.conversation ?? "";
			expect((await client.inbound({ id: sent.id, wait: 30 })).disposition).toMatchObject({
				kind: "answered",
			});
		}
		const rows = await onServer<{ body: string }>(
			server.url(),
			`SELECT m.body FROM keryx.messages m JOIN keryx.sessions s ON s.key = m.session
			WHERE s.conversation = '${conversation}' AND m.role = 'user' ORDER BY m.id`,
		);
		expect(rows.map(({ body }) => JSON.parse(body).content)).toEqual(said);
		expect(await onServer(server.url(), lives)).toEqual([0, 1, 2].map((n) => ({ name: nameOf(n) })));
		const ahead = `SELECT 1 FROM keryx.events WHERE at > extract(epoch FROM clock_timestamp()) * 1000 + 60000`;
		expect(await onServer(server.url(), ahead)).toEqual([]);
		node(2).skew(0);
		await node(2).kill();
		await node(2).start();
	});

	test("tables of a later version do not stop those that run, but another of this version does not start", async () => {
		const version = (by: number) =>
			`UPDATE keryx.settings SET value = (value::int + ${by})::text WHERE name = 'schema'`;
		const tables = ["inbox", "turns", "messages", "sessions", "conversations", "deliveries", "events"];
		for (const n of [0, 1, 2]) await say(clientOf(n), `updated ${n}`, "plain");
		// One table at a time: a transaction that locks several could wait for one that waits for it.
		for (const table of tables)
			await onServer(server.url(), `ALTER TABLE keryx.${table} ADD COLUMN later text`);
		await onServer(server.url(), version(1));
		for (const n of [0, 1, 2]) {
			const { id } = await say(clientOf(n), `updated ${n}`, "tool again");
			const { disposition } = await clientOf(n).inbound({ id, wait: 30 });
			expect(disposition).toMatchObject({ kind: "answered" });
		}
		await node(2).kill();
		await expect(node(2).start()).rejects.toThrow("did not start");
		await onServer(server.url(), version(-1));
		await node(2).start();
	});

	test("one that stood still for longer than its lease writes nothing, sends nothing and calls no tool afterwards", async () => {
		const slack = (platforms.get("slack") as PlatformServer).platform;
		const victim = await holderOf("channel slack ");
		const { pid } = node(victim);
		const [{ epoch } = { epoch: "" }] = await onServer<{ epoch: string }>(
			server.url(),
			`SELECT epoch FROM keryx.nodes WHERE name = '${nameOf(victim)}' AND ended_at IS NULL`,
		);
		await onServer(server.url(), NOTE_WRITERS);
		const chats = Array.from({ length: 9 }, (_, n) => `chat ${n}`);
		const byVictim = () => linesOf(acts).filter((line) => line.startsWith(`${pid} `));
		// Some wait for their model, some call tools, some are previewed when it stands still.
		for (const chat of chats.slice(0, 5)) slack.say({ chat, text: `late for ${chat}` });
		await expect.poll(() => byVictim().filter((line) => line.endsWith("edit")).length).toBeGreaterThan(0);
		for (const chat of chats.slice(5)) slack.say({ chat, text: `late for ${chat}` });
		const begun = `SELECT count(*)::int AS n FROM keryx.turns WHERE state = 'running' AND epoch = ${epoch}`;
		await expect.poll(() => onServer(server.url(), begun)).not.toEqual([{ n: 0 }]);
		node(victim).halt();
		await givenUp(server.url(), victim, LEASE.seconds);
		const before = byVictim();
		node(victim).resume();
		expect(await node(victim).ended()).toBe(1);
		expect(byVictim()).toEqual(before);
		const late = `SELECT count(*)::int AS n FROM public.wrote JOIN keryx.nodes n ON n.epoch = ${epoch}
			WHERE writer LIKE 'keryx writer ${epoch} of %' AND at > n.ended_at`;
		expect(await onServer(server.url(), late)).toEqual([{ n: 0 }]);
		// The others have gone on with all of it. What it was about to send may have been seen, which this platform cannot be asked.
		const replies = () =>
			onServer<{ chat: string; state: string }>(
				server.url(),
				"SELECT destination::json ->> 'chatId' AS chat, state FROM keryx.deliveries WHERE platform = 'slack' AND kind = 'reply'",
			);
		const isSettled = async () =>
			(await replies()).filter(({ state }) => state === "sent" || state === "unknown").length;
		await expect.poll(isSettled).toBe(chats.length);
		for (const { chat, state } of await replies()) {
			const shown = slack.visible(chat).filter(({ text }) => text.includes("part 39"));
			expect(shown.length, `${chat}: ${state}`).toBeLessThanOrEqual(1);
			if (state === "sent") expect(shown, chat).toHaveLength(1);
		}
		const turns = linesOf(join(root, "effects"));
		expect(new Set(turns).size).toBe(turns.length);
	});
});

/** Which writer has committed events, and when, in milliseconds. */
const NOTE_WRITERS = `
CREATE TABLE public.wrote (writer text, at bigint);
CREATE FUNCTION public.note_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO public.wrote VALUES (current_setting('application_name'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
	RETURN NULL;
END $$;
CREATE TRIGGER note_writer AFTER INSERT ON keryx.events FOR EACH STATEMENT EXECUTE FUNCTION public.note_writer();
`;

function linesOf(file: string): string[] {
	return readFileSync(file, "utf8").trim().split("\n");
}
