// Live events for many followers from one read of the log. A follower that keeps up is fed from memory; one that is behind, or returns
// with an old cursor, reads the log: it lags, but never misses or repeats an event. Streaming text (deltas) is not in the log: a slow
// follower skips it, and gets the row.
import { setTimeout as delay, setImmediate as immediate } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { Delta, Gateway } from "../../gateway/index.ts";
import { type LiveEvent, OPERATOR, type Scope, type Store } from "../../store/index.ts";
import type { WireEvent } from "../schemas.ts";
import { toWireDelivery, toWireEvent, toWireMessage } from "../wire.ts";
import { type Frame, type Shown, shown } from "./frame.ts";
import { Nameless, namelessSoFar } from "./nameless.ts";
import { Sight } from "./sight.ts";
import { encode, type Filter, isLater, type Readers, type Stretch, Tail } from "./tail.ts";

const PAGE = 200;
/**
 * After one round of sending, new events are gathered for the next. The pause is four times as long as the round took, within these
 * bounds: all followers together take at most a fifth of this thread.
 */
const PAUSES_MS = [20, 80] as const;
const PAUSE_SHARE = 4;

export interface FollowOptions extends Filter {
	readonly scope: Scope;
	/** The last seen event; "" is the oldest kept one, "now" the end. */
	readonly after: string;
	readonly signal: AbortSignal;
}

type FeedStore = Pick<Store, "liveEvents" | "onCommit" | "conversation">;
type FeedGateway = Pick<Gateway, "partial" | "onDelta">;

export class Feed {
	readonly #store: FeedStore;
	readonly #gateway: FeedGateway | null;
	readonly #followers = new Set<Follower>();
	/** Null without followers, before the log's end is known, and after the log could not be read. */
	#tail: Tail | null = null;
	#opening: Promise<void> | null = null;
	readonly #nameless: Nameless;
	/** Texts waiting for the next round, and their total count. */
	#deltas: Text[] = [];
	#deltaCount = 0;
	#hasCommits = false;
	#isTelling = false;
	#unlisten: (() => void) | null = null;
	#reading: Promise<unknown> = Promise.resolve();

	constructor(store: FeedStore, gateway: FeedGateway | null) {
		this.#store = store;
		this.#gateway = gateway;
		this.#nameless = new Nameless((conversation) => gateway?.partial(conversation) ?? null);
	}

	/** Where to follow from for all that happens after this. Reads nothing while others follow. */
	async end(): Promise<string> {
		return this.#tail?.cursor ?? (await this.page({ scope: OPERATOR, after: "now", limit: 1 })).cursor;
	}

	/**
	 * Frames until the signal, those that come together at once; the text so far of a running answer first. Throws if the log cannot be
	 * read (I8).
	 */
	async *follow(options: FollowOptions): AsyncGenerator<readonly Frame[]> {
		for await (const all of this.#seen(options)) if (all.length > 0) yield all.map(({ frame }) => frame);
	}

	/** The same as bytes for a stream, with everything available in one piece; never empty. */
	async *pieces(options: FollowOptions): AsyncGenerator<Uint8Array> {
		if (options.scope.kind !== "operator") {
			for await (const all of this.#seen(options)) if (all.length > 0) yield encode(all, options);
			return;
		}
		for await (const batch of this.#batches(options)) {
			const bytes = batch.stretch
				? batch.stretch.bytes(options, batch.heard)
				: encode(batch.frames.map(shown), options);
			if (bytes.length > 0) yield bytes;
		}
	}

	/** What the follower's scope may see. */
	async *#seen(options: FollowOptions): AsyncGenerator<readonly Shown[]> {
		const { scope, conversation } = options;
		const sight = scope.kind === "operator" ? null : new Sight(this.#store, scope);
		if (sight && conversation !== undefined && !(await sight.sees(conversation)))
			throw new KeryxError("store.not_found", `no conversation ${conversation}`);
		for await (const batch of this.#batches(options)) {
			const all = batch.stretch ? batch.stretch.shown(options, batch.heard) : batch.frames.map(shown);
			sight?.hear(batch.stretch?.shown({}, batch.heard) ?? null);
			yield sight ? await sight.seenOf(all) : all;
		}
	}

	/** One page from the log itself, with its bodies. */
	async page(args: Parameters<Store["liveEvents"]>[0]): Promise<Page | Resync> {
		const page = await this.#store.liveEvents(args);
		return page.kind === "resync" ? page : { ...page, events: page.events.map(toWire) };
	}

	async *#batches(options: FollowOptions): AsyncGenerator<Batch> {
		const { signal } = options;
		const follower = new Follower();
		let heard = this.#deltaCount;
		let soFar = this.#textSoFar(options);
		this.#join(follower);
		const stop = () => follower.wake();
		signal.addEventListener("abort", stop);
		try {
			if (soFar.length > 0) yield { frames: soFar };
			let cursor = options.after;
			while (!signal.aborted) {
				const { tail, next, ...batch } = this.#inMemory(cursor) ?? (await this.#fromLog(cursor, options));
				const hasMoved = next !== cursor;
				cursor = next;
				if (batch.frames.length > 0) yield batch;
				// The log may be ahead of memory, which is catching up.
				while (tail && tail === this.#tail && isLater(cursor, tail.cursor) && !signal.aborted)
					await follower.woken();
				// Text that came while the log was read may stand before this position.
				if (tail && heard !== this.#deltaCount) {
					heard = this.#deltaCount;
					soFar = this.#textSoFar(options);
					if (soFar.length > 0) yield { frames: soFar };
				}
				for (let position = tail?.positionAfter(cursor); position !== undefined && !signal.aborted; ) {
					const stretch: Stretch | undefined = tail === this.#tail ? tail?.after(position) : undefined;
					if (!stretch) break;
					if (stretch.end === position) await follower.woken();
					else yield { stretch, heard };
					position = stretch.end;
					cursor = stretch.cursor ?? cursor;
				}
				if (!tail && !hasMoved) await follower.woken();
			}
		} finally {
			signal.removeEventListener("abort", stop);
			this.#leave(follower);
		}
	}

	/** For the answer being written. Views skip text they have. */
	#textSoFar({ conversation, nameless = false }: FollowOptions): readonly Frame[] {
		const partial = conversation === undefined ? null : this.#gateway?.partial(conversation);
		if (!partial || conversation === undefined) return [];
		const text = nameless ? namelessSoFar(partial.text) : partial.text;
		return text === "" ? [] : [{ kind: "delta", delta: { ...partial, conversation, offset: 0, text } }];
	}

	/** Nothing is read for a follower whose last event is still known. */
	#inMemory(cursor: string): LogPage | null {
		const tail = this.#tail;
		return tail?.knows(cursor) ? { frames: [], next: cursor, tail } : null;
	}

	/** One page of the log for one follower. With a tail, the log was read to its end: from there, memory is enough. */
	async #fromLog(after: string, { conversation, types }: FollowOptions): Promise<LogPage> {
		await this.#open();
		const tail = this.#tail;
		const known = tail?.cursor;
		const filter = conversation === undefined ? {} : { conversation };
		const page = await this.#inTurn(() => this.page({ scope: OPERATOR, after, limit: PAGE, ...filter }));
		const frames: Frame[] = after === "now" ? [{ kind: "hello", cursor: page.cursor }] : [];
		if (page.kind === "resync") return { frames: [...frames, page], next: page.cursor, tail };
		for (const event of page.events)
			if (types === undefined || types.has(event.type)) frames.push({ kind: "event", event });
		if (page.events.length === PAGE) return { frames, next: page.cursor, tail: null };
		const next = known !== undefined && isLater(known, page.cursor) ? known : page.cursor;
		return { frames, next, tail };
	}

	/** One page at a time: many late followers must not block the store's readers. */
	#inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
		const result = this.#reading.then(read);
		this.#reading = result.catch(() => undefined);
		return result;
	}

	#join(follower: Follower): void {
		this.#followers.add(follower);
		if (this.#unlisten) return;
		const commits = this.#store.onCommit(() => {
			this.#hasCommits = true;
			this.#tell();
		});
		const deltas = this.#gateway?.onDelta((delta) => {
			this.#deltas.push(...this.#textsOf(delta));
			this.#tell();
		});
		this.#unlisten = () => {
			commits();
			deltas?.();
		};
	}

	#leave(follower: Follower): void {
		this.#followers.delete(follower);
		if (this.#followers.size > 0) return;
		this.#unlisten?.();
		this.#unlisten = null;
		this.#tail = null;
		this.#deltas = [];
		this.#nameless.clear();
	}

	/** What the followers get of a text: mostly the same. */
	#textsOf(delta: Delta): Text[] {
		const nameless = this.#nameless.take(delta);
		if (nameless.length === 1 && nameless[0] === delta)
			return [{ n: ++this.#deltaCount, delta, readers: "all" }];
		const named: Text = { n: ++this.#deltaCount, delta, readers: "named" };
		return [named, ...this.#forNameless(nameless)];
	}

	#forNameless(deltas: readonly Delta[]): Text[] {
		return deltas.map((delta) => ({ n: ++this.#deltaCount, delta, readers: "nameless" }));
	}

	/** Finds the end of the log; later events are kept. Failures are left to the followers, who read for themselves. */
	#open(): Promise<void> {
		if (this.#tail) return Promise.resolve();
		this.#opening ??= this.#store
			.liveEvents({ scope: OPERATOR, after: "now", limit: 1 })
			.then(
				({ cursor }) => {
					if (this.#followers.size > 0) this.#tail = new Tail(cursor);
				},
				() => undefined,
			)
			.finally(() => {
				this.#opening = null;
			});
		return this.#opening;
	}

	/** Sends new events to all followers: at once, or after the current round. */
	#tell(): void {
		if (this.#isTelling) return;
		this.#isTelling = true;
		void this.#rounds().finally(() => {
			this.#isTelling = false;
		});
	}

	async #rounds(): Promise<void> {
		while (this.#followers.size > 0 && (this.#hasCommits || this.#deltas.length > 0)) {
			await this.#round();
			const began = performance.now();
			for (const follower of this.#followers) follower.wake();
			// Their last writes are then included.
			await immediate();
			const pause = (performance.now() - began) * PAUSE_SHARE;
			await delay(Math.min(Math.max(pause, PAUSES_MS[0]), PAUSES_MS[1]), undefined, { ref: false });
		}
	}

	/** What was held back of an event's message: with its row, nothing more of it follows. */
	#restOf({ type, conversation, turn, facts }: WireEvent): Text[] {
		if (conversation === null || turn === null) return [];
		if (type === "turn.ended" || type === "turn.interrupted") this.#nameless.forget(conversation, turn);
		if (type !== "message.appended") return [];
		return this.#forNameless(this.#nameless.finish({ conversation, turn, index: Number(facts.index) }));
	}

	/** Rows committed before a text come before it, its own row after it. */
	async #round(): Promise<void> {
		// Text that comes meanwhile waits for it.
		await this.#open();
		const deltas = this.#deltas.splice(0);
		const tail = this.#tail;
		if (!tail) {
			this.#hasCommits = false;
			return;
		}
		try {
			for (let isBehind = this.#hasCommits; isBehind; ) {
				// All followers have left, and others have come: their commits wait for the next round.
				if (tail !== this.#tail) return;
				this.#hasCommits = false;
				const page = await this.page({ scope: OPERATOR, after: tail.cursor, limit: PAGE });
				if (page.kind === "resync") {
					this.#tail = null;
					return;
				}
				for (const event of page.events) {
					const texts = [...takeOf(event, deltas), ...takeOf(event, this.#deltas), ...this.#restOf(event)];
					for (const { n, delta, readers } of texts) tail.addText(delta, n, readers);
					tail.addEvent(event);
				}
				// What was committed meanwhile waits for the next round: a busy store would otherwise keep this one from ending.
				isBehind = page.events.length === PAGE;
			}
			for (const { n, delta, readers } of deltas) tail.addText(delta, n, readers);
			tail.settle();
		} catch {
			// Followers read for themselves now, and each gets the error.
			this.#tail = null;
		}
	}
}

/** A piece of streaming text that waits for the next round. */
interface Text {
	readonly n: number;
	readonly delta: Delta;
	readonly readers: Readers;
}

type Resync = Extract<Frame, { readonly kind: "resync" }>;

interface Page {
	readonly kind: "events";
	readonly events: readonly WireEvent[];
	readonly cursor: string;
}

/** What a follower gets of the log, and where it is then. */
interface LogPage {
	readonly frames: readonly Frame[];
	readonly next: string;
	/** Has everything from there on; null: there may be more in the log. */
	readonly tail: Tail | null;
}

/** A follower's own frames, or a shared stretch, and the last text it has received. */
type Batch =
	| { readonly frames: readonly Frame[]; readonly stretch?: undefined }
	| { readonly stretch: Stretch; readonly heard: number };

/** Bodies are read when the event is sent: deleted ones are left out. */
function toWire({ event, message, delivery }: LiveEvent): WireEvent {
	return {
		...toWireEvent(event),
		...(message && { message: toWireMessage(message) }),
		...(delivery && { delivery: toWireDelivery(delivery) }),
	};
}

/** Removes the texts of this event's message from a list. */
function takeOf({ type, turn, facts }: WireEvent, from: Text[]): Text[] {
	if (type !== "message.appended" || from.length === 0) return [];
	const taken: Text[] = [];
	for (let at = from.length - 1; at >= 0; at--) {
		const { delta } = from[at] as Text;
		if (delta.turn === turn && delta.index === facts.index) taken.unshift(...from.splice(at, 1));
	}
	return taken;
}

/** One follower's wait: woken by a round, or its end. */
class Follower {
	#woken = false;
	#resolve: (() => void) | null = null;

	wake(): void {
		this.#woken = true;
		this.#resolve?.();
	}

	async woken(): Promise<void> {
		if (!this.#woken)
			await new Promise<void>((resolve) => {
				this.#resolve = resolve;
			});
		this.#woken = false;
		this.#resolve = null;
	}
}
