// The newest events for all followers in one order, with streaming text in between. Each entry is serialised once. Followers with the
// same filter and position get the same bytes.
import type { ConversationId } from "../../domain/index.ts";
import type { Delta } from "../../gateway/index.ts";
import { withoutNamesInJson } from "../../secrets/index.ts";
import type { WireEvent } from "../schemas.ts";
import { type Shown, ShownEvent, shown } from "./frame.ts";

/** Kept for followers that keep up, in characters. Older positions are read from the log. */
const KEPT = 4 * 1024 * 1024;
/** Sent to one follower at once; the most that waits in memory for a stalled one. */
const PIECE = 128 * 1024;

/** After these, what earlier events brought along is shown in another way, or not at all. */
const CHANGES_EARLIER: ReadonlySet<string> = new Set([
	"conversation.deleted",
	"conversation.state",
	"transcript.undone",
	"transcript.redone",
	"transcript.retried",
]);

/** A follower's filter. */
export interface Filter {
	readonly conversation?: ConversationId;
	readonly types?: ReadonlySet<string>;
	/** Hides names of secrets: only the operator may see them (I12). */
	readonly nameless?: boolean;
}

/** Who gets streaming text: it has other pieces for followers who must not see names of secrets. Events are for all. */
export type Readers = "all" | "named" | "nameless";

/** Streaming text has a growing number; an event has 0. */
interface Entry {
	readonly shown: Shown;
	readonly n: number;
	readonly size: number;
	readonly readers: Readers;
}

export class Tail {
	#entries: Entry[] = [];
	/** The position of the first. */
	#from = 0;
	/** The last event before the first, and the last one of all. */
	#before: string;
	#last: string;
	/** Whoever comes with an older position reads the log: it has the messages as they are now. */
	#current: string;
	#characters = 0;
	readonly #stretches = new Map<number, Stretch>();

	/** Keeps what comes after this event. */
	constructor(cursor: string) {
		this.#before = cursor;
		this.#last = cursor;
		this.#current = cursor;
	}

	/** The last event that was added. */
	get cursor(): string {
		return this.#last;
	}

	addEvent(event: WireEvent): void {
		const shownEvent = new ShownEvent(event);
		this.#add({ shown: shownEvent, n: 0, size: shownEvent.size, readers: "all" });
		this.#last = event.cursor;
		if (CHANGES_EARLIER.has(event.type)) this.#current = event.cursor;
	}

	/** Its number, and who gets it. */
	addText(delta: Delta, n: number, readers: Readers = "all"): void {
		const text = shown({ kind: "delta", delta });
		this.#add({ shown: text, n, size: text.text.length, readers });
	}

	#add(entry: Entry): void {
		this.#entries.push(entry);
		this.#characters += entry.size;
	}

	/** Called when everything new was added: drops old entries. */
	settle(): void {
		this.#stretches.clear();
		let old = 0;
		for (; this.#characters > KEPT; old++) {
			const { shown: oldest, size } = this.#entries[old] as Entry;
			this.#characters -= size;
			if (oldest instanceof ShownEvent) this.#before = oldest.cursor;
		}
		if (old === 0) return;
		this.#entries = this.#entries.slice(old);
		this.#from += old;
	}

	/** The position after an event; undefined if later entries were dropped. */
	positionAfter(cursor: string): number | undefined {
		for (let at = this.#entries.length - 1; at >= 0; at--) {
			const { shown: entry } = this.#entries[at] as Entry;
			if (entry instanceof ShownEvent && !isLater(entry.cursor, cursor)) return this.#from + at + 1;
		}
		return isLater(this.#before, cursor) ? undefined : this.#from;
	}

	/** Whether it has everything after exactly this event, as it is now. */
	knows(cursor: string): boolean {
		if (isLater(this.#current, cursor)) return false;
		if (cursor === this.#before) return true;
		for (let at = this.#entries.length - 1; at >= 0; at--) {
			const { shown: entry } = this.#entries[at] as Entry;
			if (entry instanceof ShownEvent && !isLater(entry.cursor, cursor)) return entry.cursor === cursor;
		}
		return false;
	}

	/** What follows a position, as much as is sent at once; undefined if some was dropped. */
	after(position: number): Stretch | undefined {
		if (position < this.#from) return undefined;
		const known = this.#stretches.get(position);
		if (known) return known;
		const first = position - this.#from;
		let end = first;
		for (let characters = 0; end < this.#entries.length && characters < PIECE; end++)
			characters += (this.#entries[end] as Entry).size;
		const stretch = new Stretch(this.#entries.slice(first, end), this.#from + end);
		this.#stretches.set(position, stretch);
		return stretch;
	}
}

/** Entries that follow each other. */
export class Stretch {
	readonly #entries: readonly Entry[];
	/** Where the next one starts. */
	readonly end: number;
	/** Its last event; null if none. */
	readonly cursor: string | null = null;
	/** The number of its first streaming text. */
	readonly #firstDelta: number = Number.POSITIVE_INFINITY;
	readonly #isForAll: boolean;
	readonly #bytes = new Map<string, Uint8Array>();
	#byConversation: ReadonlyMap<string | null, readonly Entry[]> | undefined;

	constructor(entries: readonly Entry[], end: number) {
		this.#entries = entries;
		this.end = end;
		this.#isForAll = entries.every(({ readers }) => readers === "all");
		for (const { shown: entry, n } of entries)
			if (entry instanceof ShownEvent) this.cursor = entry.cursor;
			else this.#firstDelta = Math.min(this.#firstDelta, n);
	}

	/** For a follower that has the texts up to a number. */
	shown(filter: Filter, heard: number): Shown[] {
		return this.#matching(filter, heard).map((entry) => entry.shown);
	}

	/** The same as bytes. */
	bytes(filter: Filter, heard: number): Uint8Array {
		const key = this.#firstDelta > heard ? keyOf(filter) : undefined;
		const known = key === undefined ? undefined : this.#bytes.get(key);
		if (known) return known;
		const bytes = encode(this.shown(filter, heard), filter);
		if (key !== undefined) this.#bytes.set(key, bytes);
		return bytes;
	}

	#matching({ conversation, types, nameless = false }: Filter, heard: number): readonly Entry[] {
		const all = conversation === undefined ? this.#entries : this.#entriesOf(conversation);
		if (types === undefined && this.#isForAll && this.#firstDelta > heard) return all;
		const others = nameless ? "named" : "nameless";
		return all.filter(({ shown: entry, n, readers }) => {
			if (readers === others) return false;
			return entry instanceof ShownEvent ? types === undefined || types.has(entry.type) : n > heard;
		});
	}

	/** Each entry is looked at once, however many follow one conversation each. */
	#entriesOf(conversation: string): readonly Entry[] {
		this.#byConversation ??= Map.groupBy(this.#entries, ({ shown: entry }) => entry.conversation);
		return this.#byConversation.get(conversation) ?? NO_ENTRIES;
	}
}

const NO_ENTRIES: readonly Entry[] = [];

export function encode(all: readonly Shown[], { nameless = false }: Filter): Uint8Array {
	const text = all.map((one) => one.text).join("");
	return Buffer.from(nameless ? withoutNamesInJson(text) : text);
}

/** Cursors are opaque to others; internally they grow, in length and then in order. */
export function isLater(a: string, b: string): boolean {
	return a.length === b.length ? a > b : a.length > b.length;
}

function keyOf({ conversation, types, nameless = false }: Filter): string {
	return JSON.stringify([conversation ?? null, nameless, types ? [...types].sort() : null]);
}
