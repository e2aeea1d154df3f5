// Live events for many followers from one reading of the log. A follower that keeps up is fed from memory; one that is behind, or
// comes back with an old cursor, reads the log itself: it lags, it never misses or repeats one. Text on its way (deltas) is not in
// the log: a follower that cannot take it fast enough goes without, and gets the row.
import { type ConversationId, conversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Delta, Gateway } from "../../gateway/index.ts";
import { OPERATOR, type Scope, type Store, type StoreEvent } from "../../store/index.ts";
import type { WireEvent } from "../schemas.ts";
import { toWireDelivery, toWireEvent, toWireMessage } from "../wire.ts";

/** So many of the newest events are kept for those who keep up. */
const KEPT = 1000;
const PAGE = 200;
/** More text than this waiting for one follower is thrown away. */
const DELTAS_KEPT = 1000;

export type Frame =
	| { readonly kind: "event"; readonly event: WireEvent }
	| { readonly kind: "delta"; readonly delta: Delta }
	/** Where the log ended when following began: what to go on from if nothing comes before a cut. */
	| { readonly kind: "hello"; readonly cursor: string }
	/** The cursor is too old: read the state anew, and go on from this one. */
	| { readonly kind: "resync"; readonly cursor: string };

export interface FollowOptions {
	readonly scope: Scope;
	/** The last event that was seen; "" is the oldest that is kept, "now" the end. */
	readonly after: string;
	readonly conversation?: ConversationId;
	readonly types?: ReadonlySet<string>;
	readonly signal: AbortSignal;
}

export class Feed {
	readonly #store: Store;
	readonly #gateway: Gateway | null;
	readonly #followers = new Set<Follower>();
	/** The newest events in order, and where in that order each cursor stands. */
	#tail: WireEvent[] = [];
	/** The cursor just before the oldest of them; null before the end of the log is known. */
	#before: string | null = null;
	#dropped = 0;
	readonly #positions = new Map<string, number>();
	#reading: Promise<void> | null = null;
	#more = false;
	#unlisten: (() => void) | null = null;

	constructor(store: Store, gateway: Gateway | null) {
		this.#store = store;
		this.#gateway = gateway;
	}

	/** Frames until the signal; the present text of a running answer first. Throws where the log cannot be read (I8). */
	async *follow(options: FollowOptions): AsyncGenerator<Frame> {
		for await (const frames of this.batches(options)) yield* frames;
	}

	/** The same, with all that there is to say at a time in one piece; none is empty. */
	async *batches(options: FollowOptions): AsyncGenerator<readonly Frame[]> {
		const { scope, conversation, types, signal } = options;
		const sight = scope.kind === "operator" ? null : new Sight(this.#store, scope);
		if (sight && conversation !== undefined && !(await sight.sees(conversation)))
			throw new KeryxError("store.not_found", `no conversation ${conversation}`);
		const follower = new Follower(conversation);
		const partial = conversation === undefined ? null : (this.#gateway?.partial(conversation) ?? null);
		this.#join(follower);
		const stop = () => follower.wake();
		signal.addEventListener("abort", stop);
		try {
			if (partial && conversation !== undefined)
				yield [{ kind: "delta", delta: { ...partial, conversation, offset: 0 } }];
			let cursor = options.after;
			for (let first = true; !signal.aborted; first = false) {
				// Rows that were committed before a text was written come before it, its own row after it.
				const written = follower.deltas;
				if (follower.hasDeltas) await this.#upToDate();
				const kept = first ? undefined : this.#keptAfter(cursor);
				const next = kept ?? (await this.#pageAfter(cursor, conversation));
				let frames: Frame[] = [];
				if (first && cursor === "now") frames.push({ kind: "hello", cursor: next.cursor });
				if (next.kind === "resync") frames.push(next);
				else
					for (const event of next.events) {
						if (conversation !== undefined && event.conversation !== conversation) continue;
						frames.push(...follower.takeOf(event));
						if (types === undefined || types.has(event.type)) frames.push({ kind: "event", event });
					}
				frames.push(...follower.takeUpTo(written));
				if (sight) frames = await sight.seenOf(frames);
				if (frames.length > 0) yield frames;
				const moved = next.cursor !== cursor;
				cursor = next.cursor;
				if (!moved) await follower.woken();
			}
		} finally {
			signal.removeEventListener("abort", stop);
			this.#leave(follower);
		}
	}

	#join(follower: Follower): void {
		this.#followers.add(follower);
		if (this.#unlisten) return;
		const commits = this.#store.onCommit(() => this.#read());
		const deltas = this.#gateway?.onDelta((delta) => {
			for (const one of this.#followers) one.addDelta(delta);
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
		this.#forget();
	}

	#forget(): void {
		this.#tail = [];
		this.#before = null;
		this.#dropped = 0;
		this.#positions.clear();
	}

	#keptAfter(cursor: string): Page | undefined {
		const position = this.#positions.get(cursor);
		if (position === undefined) return undefined;
		const from = position + 1 - this.#dropped;
		const events = this.#tail.slice(from, from + PAGE);
		return { kind: "events", events, cursor: events.at(-1)?.cursor ?? cursor };
	}

	async #pageAfter(cursor: string, conversation: ConversationId | undefined): Promise<Page | Resync> {
		const keptTo = this.#keptTo();
		const filter = conversation === undefined ? {} : { conversation };
		const page = await this.page({ scope: OPERATOR, after: cursor, limit: PAGE, ...filter });
		// A short page reaches to the end of the log, and so to the end of what is kept: from there on, memory is enough.
		if (page.kind === "resync" || keptTo === null || page.events.length === PAGE) return page;
		return { ...page, cursor: later(page.cursor, keptTo) };
	}

	/** One page from the log itself, with its bodies. */
	async page(args: Parameters<Store["events"]>[0]): Promise<Page | Resync> {
		const page = await this.#store.events(args);
		return page.kind === "resync" ? page : { ...page, events: await this.#bodies(page.events) };
	}

	/** Reads what is new once, for all. A failure is no end: followers read for themselves then, and see it. */
	#read(): void {
		this.#more = true;
		this.#reading ??= this.#readOn().finally(() => {
			this.#reading = null;
			for (const follower of this.#followers) follower.wake();
			if (this.#more && this.#followers.size > 0) this.#read();
		});
	}

	/** Resolves when everything committed so far has been read. */
	async #upToDate(): Promise<void> {
		this.#read();
		while (this.#more) await this.#reading;
		await this.#reading;
	}

	async #readOn(): Promise<void> {
		try {
			while (this.#more && this.#followers.size > 0) {
				this.#more = false;
				const last = this.#keptTo();
				const page = await this.#store.events({ scope: OPERATOR, after: last ?? "now", limit: PAGE });
				if (page.kind === "resync") return this.#forget();
				// The first reading only finds the end: what follows it is kept.
				if (last === null) return this.#begin(page.cursor);
				for (const event of await this.#bodies(page.events)) this.#keep(event);
				for (const follower of this.#followers) follower.wake();
				if (page.events.length === PAGE) this.#more = true;
			}
		} catch {
			// Followers read for themselves now, and each is told what is wrong.
			this.#forget();
		}
	}

	#begin(cursor: string): void {
		this.#forget();
		this.#before = cursor;
		this.#positions.set(cursor, -1);
	}

	#keptTo(): string | null {
		return this.#tail.at(-1)?.cursor ?? this.#before;
	}

	#keep(event: WireEvent): void {
		this.#positions.set(event.cursor, this.#dropped + this.#tail.length);
		this.#tail.push(event);
		if (this.#tail.length <= KEPT) return;
		const oldest = this.#tail.shift();
		this.#dropped++;
		if (this.#before !== null) this.#positions.delete(this.#before);
		this.#before = oldest?.cursor ?? null;
	}

	/** Bodies are read when the event is sent: what has been deleted since is left out. */
	#bodies(events: readonly StoreEvent[]): Promise<WireEvent[]> {
		return Promise.all(events.map((event) => this.#body(event)));
	}

	async #body(event: StoreEvent): Promise<WireEvent> {
		const wire = toWireEvent(event);
		try {
			if (event.type === "message.appended" && event.subject !== null)
				return {
					...wire,
					message: toWireMessage(await this.#store.message({ scope: OPERATOR, id: Number(event.subject) })),
				};
			if (event.type.startsWith("delivery.") && event.subject !== null)
				return {
					...wire,
					delivery: toWireDelivery(await this.#store.delivery({ scope: OPERATOR, id: event.subject })),
				};
		} catch (error) {
			if (!(error instanceof KeryxError && error.code === "store.not_found")) throw error;
		}
		return wire;
	}
}

type Resync = Extract<Frame, { readonly kind: "resync" }>;

interface Page {
	readonly kind: "events";
	readonly events: readonly WireEvent[];
	readonly cursor: string;
}

/** Cursors are opaque to others; here it is known that they grow, in length and then in order. */
function later(a: string, b: string): string {
	return a.length === b.length ? (a > b ? a : b) : a.length > b.length ? a : b;
}

/** What a person may see of the log: events and texts of their own conversations, and no others. */
class Sight {
	readonly #store: Pick<Store, "conversation">;
	readonly #scope: Scope;
	/** Emptied by events that may change the answer. */
	readonly #known = new Map<string, boolean>();

	constructor(store: Pick<Store, "conversation">, scope: Scope) {
		this.#store = store;
		this.#scope = scope;
	}

	async seenOf(frames: readonly Frame[]): Promise<Frame[]> {
		const seen: Frame[] = [];
		for (const frame of frames) {
			if (frame.kind === "event" && CHANGES_SIGHT.test(frame.event.type)) this.#known.clear();
			const of =
				frame.kind === "event"
					? frame.event.conversation
					: frame.kind === "delta"
						? frame.delta.conversation
						: null;
			const isTheirs =
				of === null ? frame.kind === "hello" || frame.kind === "resync" : await this.sees(conversationId(of));
			if (isTheirs) seen.push(frame);
		}
		return seen;
	}

	async sees(id: ConversationId): Promise<boolean> {
		const known = this.#known.get(id);
		if (known !== undefined) return known;
		const sees = await this.#store.conversation({ scope: this.#scope, ref: { id } }).then(
			() => true,
			(error: unknown) => {
				if (error instanceof KeryxError && error.code === "store.not_found") return false;
				throw error;
			},
		);
		if (this.#known.size >= MOST_KNOWN) this.#known.clear();
		this.#known.set(id, sees);
		return sees;
	}
}
const CHANGES_SIGHT = /^(?:principal\.|conversation\.(?:state|deleted|created|imported)$)/;
const MOST_KNOWN = 10_000;

/** One follower's waiting: woken by a commit, a delta, or its end. */
class Follower {
	readonly #conversation: ConversationId | undefined;
	#waiting: { readonly n: number; readonly delta: Delta }[] = [];
	#count = 0;
	#woken = false;
	#resolve: (() => void) | null = null;

	constructor(conversation: ConversationId | undefined) {
		this.#conversation = conversation;
	}

	addDelta(delta: Delta): void {
		if (this.#conversation !== undefined && delta.conversation !== this.#conversation) return;
		if (this.#waiting.length >= DELTAS_KEPT) this.#waiting = [];
		this.#waiting.push({ n: ++this.#count, delta });
		this.wake();
	}

	/** How many there have been. */
	get deltas(): number {
		return this.#count;
	}

	get hasDeltas(): boolean {
		return this.#waiting.length > 0;
	}

	/** The text of the message whose row this event tells of. */
	takeOf({ type, turn, facts }: WireEvent): Frame[] {
		if (type !== "message.appended") return [];
		return this.#take(({ delta }) => delta.turn === turn && delta.index === facts.index);
	}

	takeUpTo(count: number): Frame[] {
		return this.#take(({ n }) => n <= count);
	}

	#take(wanted: (one: { readonly n: number; readonly delta: Delta }) => boolean): Frame[] {
		if (this.#waiting.length === 0) return [];
		const taken = this.#waiting.filter(wanted);
		this.#waiting = this.#waiting.filter((one) => !wanted(one));
		return taken.map(({ delta }) => ({ kind: "delta", delta }));
	}

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
