import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import {
	apiTransport,
	type Client,
	createApi,
	createClient,
	type Followed,
	serveOnSocket,
	socketTransport,
	type WireEvent,
} from "../../src/http/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { type Served, serve, TERMINAL } from "./support.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

interface OnSocket extends Served {
	readonly remote: Client;
	readonly path: string;
	/** Closes the server with all its connections; messages are answered meanwhile. Then listens again at the same place. */
	away(meanwhile: () => Promise<unknown>): Promise<void>;
}

async function onSocket(script?: Script): Promise<OnSocket> {
	const keryx = await serve(script);
	const folder = mkdtempSync(join(tmpdir(), "keryx-socket-"));
	const path = join(folder, "keryx.sock");
	let served = await serveOnSocket(keryx.newApi(), path);
	ends.push(async () => {
		await served.close();
		await keryx.close();
		rmSync(folder, { recursive: true, force: true });
	});
	return {
		...keryx,
		remote: createClient(socketTransport(path)),
		path,
		away: async (meanwhile) => {
			await served.close();
			await meanwhile();
			served = await serveOnSocket(keryx.newApi(), path);
		},
	};
}

/** Follows until `enough` says so, and hangs up. */
async function collect(
	client: Client,
	input: { readonly after: string; readonly conversation?: string },
	enough: (frames: readonly Followed[]) => boolean,
): Promise<readonly Followed[]> {
	const hangUp = new AbortController();
	const frames: Followed[] = [];
	for await (const frame of client.follow({ ...input, signal: hangUp.signal })) {
		frames.push(frame);
		if (enough(frames)) hangUp.abort();
		if (hangUp.signal.aborted) break;
	}
	return frames;
}

const typesOf = (frames: readonly Followed[]) =>
	frames.flatMap((frame) => (frame.kind === "event" ? [frame.event.type] : []));
const has = (type: WireEvent["type"]) => (frames: readonly Followed[]) => typesOf(frames).includes(type);

describe("events over the socket", () => {
	test("the socket is the user's alone", async () => {
		const { path } = await onSocket();
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	test("a follower sees a message from its acceptance to its delivery, with the bodies", async () => {
		const { remote, say } = await onSocket();
		const { cursor } = await remote.eventsAfter({ after: "now" });
		const following = collect(remote, { after: cursor }, has("delivery.sent"));
		await say("hello");
		const frames = await following;
		expect(typesOf(frames)).toEqual([
			"conversation.created",
			"inbound.accepted",
			"session.opened",
			"turn.begun",
			"message.appended",
			"model.called",
			"message.appended",
			"delivery.pending",
			"turn.ended",
			"delivery.sent",
		]);
		const events = frames.flatMap((frame) => (frame.kind === "event" ? [frame.event] : []));
		expect(events.filter(({ message }) => message).map(({ message }) => message?.content)).toEqual([
			"hello",
			"you said hello",
		]);
		expect(events.find(({ type }) => type === "delivery.pending")?.delivery?.plain).toBe("you said hello");
	});

	test("text on its way comes before its row, and joins to it", async () => {
		const { remote, say } = await onSocket({ otherwise: [{ chunks: ["you ", "said ", "{{input}}"] }] });
		const { conversation } = await say("one");
		let second: Promise<unknown> | undefined;
		const frames = await collect(remote, { after: "", conversation }, (all) => {
			// The first frame shows that the follower is there.
			second ??= say("two");
			return typesOf(all).filter((type) => type === "turn.ended").length === 2;
		});
		await second;
		const deltas = frames.flatMap((frame) => (frame.kind === "delta" ? [frame.delta] : []));
		expect(deltas.map(({ text }) => text).join("")).toBe("you said two");
		expect(deltas.map(({ offset }) => offset)).toEqual([0, 4, 9]);
		const row = frames.findIndex(
			(frame) => frame.kind === "event" && frame.event.message?.content === "you said two",
		);
		expect(frames.slice(row).every((frame) => frame.kind !== "delta")).toBe(true);
	});

	test("a follower of one conversation sees nothing of another", async () => {
		const { remote, say } = await onSocket();
		const { conversation } = await say("mine");
		const { cursor } = await remote.eventsAfter({ after: "now" });
		const following = collect(remote, { after: cursor, conversation }, has("delivery.sent"));
		const other = { ...TERMINAL, platform: "api_server", chat_id: "another" };
		for (let n = 0; n < 5; n++) {
			const { id } = await remote.send({ text: "theirs", client_message_id: `o${n}`, source: other });
			await remote.inbound({ id, wait: 30 });
		}
		await say("mine again");
		for (const frame of await following) {
			const about = frame.kind === "event" ? frame.event : frame.kind === "delta" ? frame.delta : null;
			expect(about?.conversation).toBe(conversation);
		}
	});

	test("a cursor that is none of ours, or too old, gets resync and goes on from the end", async () => {
		const { remote, say, store } = await onSocket();
		const { conversation } = await say("one");
		const { cursor: old } = await remote.eventsAfter({ after: "", limit: 1 });
		await store.pruneEvents({ keepDays: -1, limit: 1000 });
		const [strange] = await collect(remote, { after: "zzz" }, (frames) => frames.length > 0);
		expect(strange?.kind).toBe("resync");
		const [first] = await collect(remote, { after: old }, (frames) => frames.length > 0);
		expect(first?.kind).toBe("resync");
		const { cursor } = first as { cursor: string };
		const following = collect(remote, { after: cursor, conversation }, has("turn.ended"));
		await say("two");
		expect(typesOf(await following)).toContain("inbound.accepted");
	});

	test("two clients on one conversation, one cut off and back 100 times under load: the same events, each once, in order", async () => {
		const chunks = Array.from({ length: 40 }, (_, n) => `word ${n} `);
		const WORDS = chunks.join("");
		const { remote, say, gateway } = await onSocket({ otherwise: [{ chunks, chunk_delay_ms: 1 }] });
		const { conversation } = await say("first");
		const { cursor: start } = await remote.eventsAfter({ after: "now" });
		const LAST = "the last one";
		const isOver = (frames: readonly Followed[]) => {
			const asked = frames.findIndex(
				(frame) => frame.kind === "event" && frame.event.message?.content === LAST,
			);
			return asked !== -1 && has("turn.ended")(frames.slice(asked));
		};
		const steady = collect(remote, { after: start, conversation }, isOver);

		let isDone = false;
		const load = (async () => {
			for (let n = 0; !isDone; n++) await say(`message ${n}`);
			await say(LAST);
		})();
		const seen: Followed[] = [];
		const partials: string[] = [];
		let cursor = start;
		const random = lcg(7);
		for (let cut = 0; cut < 100; cut++) {
			const running = gateway.partial(conversation as ConversationId);
			const take = 1 + Math.floor(random() * 12);
			const frames = await collect(remote, { after: cursor, conversation }, (all) => all.length >= take);
			const [first] = frames;
			if (running && first?.kind === "delta" && first.delta.offset === 0) partials.push(first.delta.text);
			for (const frame of frames) if (frame.kind === "event") cursor = frame.event.cursor;
			seen.push(...frames);
		}
		isDone = true;
		await load;
		seen.push(
			...(await collect(remote, { after: cursor, conversation }, (all) => isOver([...seen, ...all]))),
		);

		const cursors = (frames: readonly Followed[]) =>
			frames.flatMap((frame) => (frame.kind === "event" ? [frame.event.cursor] : []));
		const rows = (frames: readonly Followed[]) =>
			frames.flatMap((frame) => (frame.kind === "event" && frame.event.message ? [frame.event.message] : []));
		expect(cursors(seen)).toEqual(cursors(await steady));
		expect(rows(seen)).toEqual(rows(await steady));
		expect(new Set(cursors(seen)).size).toBe(cursors(seen).length);
		// What a client that comes back in the middle of an answer is shown is the beginning of that answer.
		expect(partials.length).toBeGreaterThan(0);
		for (const partial of partials) expect(WORDS.startsWith(partial)).toBe(true);
		const session = (await remote.conversation({ conversation })).live_session as string;
		const { messages } = await remote.messages({ session, limit: 200 });
		expect(
			rows(seen)
				.slice(-20)
				.map(({ id }) => id),
		).toEqual(messages.slice(-20).map(({ id }) => id));
	});

	test("what is new is read once for all followers, however many there are", async () => {
		const FOLLOWERS = 30;
		const keryx = await serve();
		ends.push(() => keryx.close());
		let reads = 0;
		const liveEvents: typeof keryx.store.liveEvents = (args) => {
			reads++;
			return keryx.store.liveEvents(args);
		};
		const api = createApi({ ...keryx.host, store: { ...keryx.store, liveEvents } });
		const client = createClient(apiTransport(api));
		const { cursor } = await client.eventsAfter({ after: "now" });
		reads = 0;
		const following = Array.from({ length: FOLLOWERS }, () =>
			collect(client, { after: cursor }, has("delivery.sent")),
		);
		// Each reads one page of the log when it comes, and the end of the log is found once.
		await expect.poll(() => reads).toBe(FOLLOWERS + 1);
		await keryx.say("hello");
		const [first, ...others] = (await Promise.all(following)).map(typesOf);
		for (const types of others) expect(types).toEqual(first);
		expect(reads - (FOLLOWERS + 1)).toBeLessThan(FOLLOWERS);
	});

	test("a server that goes away and comes back is followed without a gap", async () => {
		const { remote, say, away } = await onSocket();
		const { conversation } = await say("before");
		const { cursor } = await remote.eventsAfter({ after: "now" });
		let connections = 0;
		const following = collect(remote, { after: cursor, conversation }, (frames) => {
			connections = frames.filter((frame) => frame.kind === "restored").length;
			return has("turn.ended")(frames);
		});
		await away(() => say("while nobody listens"));
		const frames = await following;
		expect(frames.map(({ kind }) => kind)).toContain("lost");
		expect(connections).toBe(1);
		expect(typesOf(frames).filter((type) => type === "inbound.accepted")).toHaveLength(1);
	});
});

/** Repeatable numbers from 0 to 1. */
function lcg(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return state / 2 ** 31;
	};
}
