// Passes events to the host: serially per channel, channels in parallel, so that a large file delays only its own channel. The cursor
// moves only past events committed together with everything before them (I3).
import { type Cursor, type Mark, movedTo, withPrivateChat, withRead, writeCursor } from "./cursor.ts";

/** A part of an event's work. */
export interface Work {
	/** Work of one lane is done in arrival order. */
	readonly lane: string;
	/** Whether it commits the given cursor. */
	readonly takesCursor: boolean;
	/** Commits it, with the cursor if there is one at that moment. Rejects if nothing was committed. */
	readonly run: (cursor: () => string | undefined) => Promise<void>;
}

export interface IntakeOptions {
	/** Everything up to the position is committed; the host may not have the position itself yet. */
	readonly onMoved: () => void;
	/** Something was not committed. Nothing more is started. */
	readonly onFailed: (error: unknown) => void;
}

interface Entry {
	readonly sequence: number;
	readonly mark: Mark | undefined;
	/** The number of uncommitted parts. */
	left: number;
}

export class Intake {
	readonly #options: IntakeOptions;
	/** Events of this connection after the position, in order. */
	readonly #entries = new Map<number, Entry>();
	/** Committed before an uncommitted event, over an earlier connection: it comes again. */
	readonly #done = new Set<number>();
	readonly #lanes = new Map<string, Promise<void>>();
	#position: Cursor | null = null;
	/** The previous session's position, which the host keeps until something of this session is committed. */
	#before: Cursor | null = null;
	#stored: string | null = null;
	#isClosed = true;

	constructor(options: IntakeOptions) {
		this.#options = options;
	}

	/** Everything up to here is committed. */
	get position(): Cursor | null {
		return this.#position;
	}

	/** The position, if the host does not have it. A session without accepted events has none: earlier ones may be open. */
	get unstored(): string | null {
		if (!this.#position || this.#position.sequence === 0) return null;
		const text = writeCursor(this.#position);
		return text === this.#stored ? null : text;
	}

	stored(text: string): void {
		this.#stored = text;
	}

	/** Takes events after this position; null: none yet. */
	begin(position: Cursor | null): void {
		if (this.#position?.session.id !== position?.session.id) this.#done.clear();
		if (position?.sequence !== 0) this.#before = null;
		else if (this.#position && this.#position.sequence > 0) this.#before = this.#position;
		this.#position = position;
		this.#isClosed = false;
	}

	/** For a history message: the cursor to commit it with. */
	cursorOfHistory(channel: string, message: string): string | undefined {
		const kept = this.#kept;
		return kept ? writeCursor(withRead(kept, channel, message)) : undefined;
	}

	/** The history message is committed. */
	readHistory(channel: string, message: string): void {
		this.#note((cursor) => withRead(cursor, channel, message));
	}

	/** Starts nothing more; resolves when nothing is running. Uncommitted events are dropped, and come again. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all(this.#lanes.values());
		for (const { sequence, left } of this.#entries.values()) if (left === 0) this.#done.add(sequence);
		this.#entries.clear();
	}

	/** False if it is already committed. */
	isNew(sequence: number): boolean {
		return sequence > (this.#position?.sequence ?? 0) && !this.#done.has(sequence);
	}

	add(sequence: number, works: readonly Work[], mark?: Mark): void {
		if (this.#isClosed || sequence <= (this.#position?.sequence ?? 0)) return;
		const isDone = this.#done.delete(sequence);
		const entry: Entry = { sequence, mark, left: isDone ? 0 : works.length };
		this.#entries.set(sequence, entry);
		if (entry.left === 0) this.#advance();
		else for (const work of works) this.#enqueue(entry, work);
	}

	/** What the host has, or may have, of the position. */
	get #kept(): Cursor | null {
		return this.#position && this.#position.sequence > 0 ? this.#position : this.#before;
	}

	#note(change: (cursor: Cursor) => Cursor): void {
		if (this.#position) this.#position = change(this.#position);
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
			if (privateChat !== undefined) this.#note((position) => withPrivateChat(position, privateChat));
			entry.left--;
			this.#advance();
		});
		this.#lanes.set(lane, after);
		void after.then(() => {
			if (this.#lanes.get(lane) === after) this.#lanes.delete(lane);
		});
	}

	/**
	 * Only the last part of an event with nothing open before it moves the cursor. A private chat is still stored: otherwise nobody would
	 * look there after a gap.
	 */
	#cursorFor(entry: Entry): string | undefined {
		const [first] = this.#entries.values();
		if (first === entry && entry.left === 1 && this.#position)
			return writeCursor(movedTo(this.#position, entry.sequence, entry.mark));
		const privateChat = entry.mark?.privateChat;
		const kept = this.#kept;
		if (privateChat === undefined || !kept || kept.privateChats.includes(privateChat)) return undefined;
		return writeCursor(withPrivateChat(kept, privateChat));
	}

	#advance(): void {
		const before = this.#position;
		for (const { sequence, mark, left } of this.#entries.values()) {
			if (left > 0 || !this.#position) break;
			this.#entries.delete(sequence);
			this.#position = movedTo(this.#position, sequence, mark);
		}
		// Nothing is open: no history is being read.
		if (this.#position && this.#entries.size === 0) this.#position = { ...this.#position, read: {} };
		if (this.#position && this.#position.sequence > 0) this.#before = null;
		if (this.#position?.sequence !== before?.sequence) this.#options.onMoved();
	}
}
