import { expect, test } from "vitest";
import { conversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Delta } from "../../gateway/index.ts";
import { type Conversation, type LiveEvent, OPERATOR, type Scope, type Store } from "../../store/index.ts";
import { Feed, type FollowOptions } from "./feed.ts";
import type { Frame } from "./frame.ts";

const HERE = conversationId("here");
const THERE = conversationId("there");

/** A log that is read only when the test lets it, and an answer that is being written. */
function scene() {
	const events: LiveEvent[] = [];
	const reads = Object.assign<(() => void)[], { count: number }>([], { count: 0 });
	const hidden = new Set<string>();
	const commits = new Set<() => void>();
	const listeners = new Set<(delta: Delta) => void>();
	let text = "";
	const cursorOf = (n: number) => `e${String(n)}`;
	const store = {
		liveEvents: async ({ after, limit }: { readonly after: string; readonly limit: number }) => {
			reads.count++;
			await new Promise<void>((resolve) => reads.push(resolve));
			const from = after === "now" ? events.length : Number(after.slice(1));
			const page = events.slice(from, from + limit);
			return { kind: "events" as const, events: page, cursor: cursorOf(from + page.length) };
		},
		onCommit: (listener: () => void) => {
			commits.add(listener);
			return () => commits.delete(listener);
		},
		conversation: ({ ref }: Parameters<Store["conversation"]>[0]) =>
			"id" in ref && hidden.has(ref.id)
				? Promise.reject(new KeryxError("store.not_found", "no such conversation"))
				: Promise.resolve({} as Conversation),
	};
	const gateway = {
		partial: () => (text === "" ? null : { turn: "t", index: 0, text }),
		onDelta: (listener: (delta: Delta) => void) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
	return {
		feed: new Feed(store, gateway),
		write(piece: string) {
			const offset = text.length;
			text += piece;
			for (const listener of listeners)
				listener({ conversation: HERE, turn: "t", index: 0, offset, text: piece });
		},
		hidden,
		reads,
		commit(type = "turn.resumed", conversation = THERE) {
			const at = { at: 0, conversation, session: null, turn: null, subject: null };
			const event = { ...at, cursor: cursorOf(events.length + 1), type, facts: {} };
			events.push({ event, message: null, delivery: null } as unknown as LiveEvent);
			for (const listener of commits) listener();
		},
		/** Waits for the next read, and lets it go on. */
		async read(meanwhile = () => {}) {
			await expect.poll(() => reads.length).toBeGreaterThan(0);
			meanwhile();
			reads.shift()?.();
		},
		/** Reads whatever is asked for from now on. */
		readOn() {
			for (const read of reads.splice(0)) read();
			reads.push = (read) => {
				read();
				return 0;
			};
		},
	};
}

/** One by one; by default everything, for the operator. */
async function* framesOf(
	feed: Feed,
	options: Partial<FollowOptions> & Pick<FollowOptions, "signal">,
): AsyncGenerator<Frame> {
	for await (const frames of feed.follow({ scope: OPERATOR, after: "e0", ...options })) yield* frames;
}

/** What a view shows of the answer: text behind a gap is of no use to it. */
async function shown(feed: Feed, whole: string): Promise<string> {
	const leaving = new AbortController();
	let text = "";
	for await (const frame of framesOf(feed, { conversation: HERE, signal: leaving.signal })) {
		if (frame.kind !== "delta") continue;
		const { offset, text: piece } = frame.delta;
		if (offset <= text.length) text += piece.slice(text.length - offset);
		if (text === whole) leaving.abort();
	}
	return text;
}

test("text that comes while the log is opened is not lost, nor what follows it", async () => {
	const { feed, write, read, readOn } = scene();
	const view = shown(feed, "one two");
	write("one ");
	await read();
	readOn();
	write("two");
	expect(await view).toBe("one two");
});

test("text that comes while the log is read is not lost if something was committed after it", async () => {
	const { feed, write, commit, read, readOn } = scene();
	write("one ");
	const view = shown(feed, "one two three");
	// The end of the log; then its content is read, late.
	await read();
	write("two ");
	commit();
	readOn();
	write("three");
	expect(await view).toBe("one two three");
});

test("somebody who may no longer see a conversation hears no more of it, whatever types they follow", async () => {
	const { feed, commit, readOn, hidden } = scene();
	readOn();
	const scope: Scope = { kind: "principal", principal: "p" as never, profile: null };
	const leaving = new AbortController();
	const { signal } = leaving;
	const seen: string[] = [];
	const following = (async () => {
		for await (const frame of framesOf(feed, {
			scope,
			after: "now",
			types: new Set(["turn.resumed"]),
			signal,
		}))
			seen.push(frame.kind === "event" ? frame.event.cursor : frame.kind);
	})();
	await expect.poll(() => seen).toEqual(["hello"]);
	commit();
	await expect.poll(() => seen).toEqual(["hello", "e1"]);
	hidden.add(THERE);
	commit("conversation.deleted");
	commit();
	commit("turn.resumed", HERE);
	await expect.poll(() => seen.at(-1)).toBe("e4");
	expect(seen).toEqual(["hello", "e1", "e4"]);
	leaving.abort();
	await following;
});

test("a follower hears what was read, even if more is committed with every read", async () => {
	const { feed, commit, read } = scene();
	const leaving = new AbortController();
	const frames = framesOf(feed, { signal: leaving.signal });
	const first = frames.next();
	// The end of the log; then its content for this follower.
	await read();
	await read();
	commit();
	await read(commit);
	expect((await first).value).toMatchObject({ kind: "event", event: { cursor: "e1" } });
	leaving.abort();
	await frames.return(undefined);
});

test("whoever follows from the end reads nothing while others follow, and misses nothing", async () => {
	const { feed, write, commit, read, readOn, reads } = scene();
	const leaving = new AbortController();
	const { signal } = leaving;
	const all = framesOf(feed, { signal });
	const first = all.next();
	await read();
	commit();
	readOn();
	await first;
	commit();
	await all.next();
	const before = reads.count;
	const from = await feed.end();
	const late = framesOf(feed, { after: from, conversation: HERE, signal });
	const next = late.next();
	expect([from, reads.count]).toEqual(["e2", before]);
	write("one");
	commit("turn.ended", HERE);
	expect(await next).toMatchObject({ value: { kind: "event", event: { cursor: "e3" } } });
	expect(await late.next()).toMatchObject({ value: { kind: "delta", delta: { text: "one" } } });
	// Only the round has read, for both.
	expect(reads.count).toBe(before + 1);
	leaving.abort();
	await Promise.all([all.return(undefined), late.return(undefined)]);
});

test("a commit that those who come should hear of is not lost to a round for those who left", async () => {
	const { feed, commit, read, readOn, reads } = scene();
	const [leaving, staying] = [new AbortController(), new AbortController()];
	const left = framesOf(feed, { signal: leaving.signal });
	const last = left.next();
	await read();
	await read();
	commit();
	await expect.poll(() => reads.length).toBe(1);
	const round = reads.shift();
	for (let n = 0; n < 299; n++) commit();
	leaving.abort();
	expect((await last).done).toBe(true);
	const frames = framesOf(feed, { after: "now", signal: staying.signal });
	const hello = frames.next();
	await read();
	await read();
	expect((await hello).value).toEqual({ kind: "hello", cursor: "e300" });
	const next = frames.next();
	commit();
	round?.();
	readOn();
	expect((await next).value).toMatchObject({ kind: "event", event: { cursor: "e301" } });
	staying.abort();
	await frames.return(undefined);
});
