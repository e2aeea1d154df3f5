// Events on their way to the host: those of one channel one after the other, channels side by side, so that a large file holds up its own
// channel alone. The cursor moves only past what is committed together with everything before it (I3).
import { type Cursor, type Mark, movedTo, withPrivateChat, withRead, writeCursor } from "./cursor.ts";

/** A part of an event's work. */
export interface Work {
	/** Work of one lane is done in the order in which it came. */
	readonly lane: string;
	/** Whether it commits the cursor that it is given. */
	readonly takesCursor: boolean;
	/** Commits it, and the cursor with it where there is one at that moment. Rejects when nothing was committed. */
	readonly run: (cursor: () => string | undefined) => Promise<void>;
}

export interface IntakeOptions {
	/** Everything up to the place is committed; the host may not have the place itself yet. */
	readonly onMoved: () => void;
	/** Something was not committed. Nothing more is begun. */
	readonly onFailed: (error: unknown) => void;
}

interface Entry {
	readonly sequence: number;
	readonly mark: Mark | undefined;
	/** How many parts are not committed. */
	left: number;
}

export class Intake {
	readonly #options: IntakeOptions;
	/** What came over this connection and is not behind the place yet, in order. */
	readonly #entries = new Map<number, Entry>();
	/** What was committed before something that was not, over an earlier connection: it comes again. */
	readonly #done = new Set<number>();
	readonly #lanes = new Map<string, Promise<void>>();
	#place: Cursor | null = null;
	/** The place of the session before, which the host keeps until something of this session is committed. */
	#before: Cursor | null = null;
	#stored: string | null = null;
	#isClosed = true;

	constructor(options: IntakeOptions) {
		this.#options = options;
	}

	/** Everything up to here is committed. */
	get place(): Cursor | null {
		return this.#place;
	}

	/** The place, where the host does not have it. A session that nothing was taken of yet is none: what was before it may be open. */
	get unstored(): string | null {
		if (!this.#place || this.#place.sequence === 0) return null;
		const text = writeCursor(this.#place);
		return text === this.#stored ? null : text;
	}

	stored(text: string): void {
		this.#stored = text;
	}

	/** Takes the events after this place; null: there is none yet. */
	begin(place: Cursor | null): void {
		if (this.#place?.session.id !== place?.session.id) this.#done.clear();
		if (place?.sequence !== 0) this.#before = null;
		else if (this.#place && this.#place.sequence > 0) this.#before = this.#place;
		this.#place = place;
		this.#isClosed = false;
	}

	/** A message of a channel's history: the cursor to commit it with. */
	cursorOfHistory(channel: string, message: string): string | undefined {
		const kept = this.#kept;
		return kept ? writeCursor(withRead(kept, channel, message)) : undefined;
	}

	/** The message of the history is committed. */
	readHistory(channel: string, message: string): void {
		this.#note((cursor) => withRead(cursor, channel, message));
	}

	/** Begins nothing more; resolves when nothing is under way. What was not committed is forgotten, and comes again. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all(this.#lanes.values());
		for (const { sequence, left } of this.#entries.values()) if (left === 0) this.#done.add(sequence);
		this.#entries.clear();
	}

	/** False for what is committed already. */
	isNew(sequence: number): boolean {
		return sequence > (this.#place?.sequence ?? 0) && !this.#done.has(sequence);
	}

	add(sequence: number, works: readonly Work[], mark?: Mark): void {
		if (this.#isClosed || sequence <= (this.#place?.sequence ?? 0)) return;
		const isDone = this.#done.delete(sequence);
		const entry: Entry = { sequence, mark, left: isDone ? 0 : works.length };
		this.#entries.set(sequence, entry);
		if (entry.left === 0) this.#advance();
		else for (const work of works) this.#enqueue(entry, work);
	}

	/** What the host has of the place, or may have. */
	get #kept(): Cursor | null {
		return this.#place && this.#place.sequence > 0 ? this.#place : this.#before;
	}

	#note(change: (cursor: Cursor) => Cursor): void {
		if (this.#place) this.#place = change(this.#place);
		if (this.#before) this.#before = change(this.#before);
	}

	#enqueue(entry: Entry, { lane, run, takesCursor }: Work): void {
		const before = this.#lanes.get(lane) ?? Promise.resolve();
		const after = before.then(async () => {
			if (this.#isClosed) return;
			let cursor: string | undefined;
			try {
				await run(() => {
					cursor = takesCursor ? this.#cursorFor(entry) : undefined;
					return cursor;
				});
			} catch (error) {
				if (this.#isClosed) return;
				this.#isClosed = true;
				this.#options.onFailed(error);
				return;
			}
			if (cursor !== undefined) this.#stored = cursor;
			const privateChat = entry.mark?.privateChat;
			if (privateChat !== undefined) this.#note((place) => withPrivateChat(place, privateChat));
			entry.left--;
			this.#advance();
		});
		this.#lanes.set(lane, after);
		void after.then(() => {
			if (this.#lanes.get(lane) === after) this.#lanes.delete(lane);
		});
	}

	/**
	 * Only the last part of an event that has nothing open before it moves the cursor. A private chat is kept in it even so: without it, nobody
	 * would look there after a gap.
	 */
	#cursorFor(entry: Entry): string | undefined {
		const [first] = this.#entries.values();
		if (first === entry && entry.left === 1 && this.#place)
			return writeCursor(movedTo(this.#place, entry.sequence, entry.mark));
		const privateChat = entry.mark?.privateChat;
		const kept = this.#kept;
		if (privateChat === undefined || !kept || kept.privateChats.includes(privateChat)) return undefined;
		return writeCursor(withPrivateChat(kept, privateChat));
	}

	#advance(): void {
		const before = this.#place;
		for (const { sequence, mark, left } of this.#entries.values()) {
			if (left > 0 || !this.#place) break;
			this.#entries.delete(sequence);
			this.#place = movedTo(this.#place, sequence, mark);
		}
		// Nothing is open: no history is being read.
		if (this.#place && this.#entries.size === 0) this.#place = { ...this.#place, read: {} };
		if (this.#place && this.#place.sequence > 0) this.#before = null;
		if (this.#place?.sequence !== before?.sequence) this.#options.onMoved();
	}
}
