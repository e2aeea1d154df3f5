// Events on their way to the host: those of one channel one after the other, channels side by side, so that a large file holds up its own
// channel alone. The cursor moves only past what is committed together with everything before it (I3).
import { type Cursor, type Mark, movedTo, writeCursor } from "./cursor.ts";

/** A part of an event's work. */
export interface Work {
	/** Work of one lane is done in the order in which it came. */
	readonly lane: string;
	/** Whether it commits the cursor that it is given. */
	readonly takesCursor: boolean;
	/** Commits it, and the cursor with it where one is given. Rejects when nothing was committed. */
	readonly run: (cursor: string | undefined) => Promise<void>;
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
		this.#place = place;
		this.#isClosed = false;
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

	#enqueue(entry: Entry, { lane, run, takesCursor }: Work): void {
		const before = this.#lanes.get(lane) ?? Promise.resolve();
		const after = before.then(async () => {
			if (this.#isClosed) return;
			const cursor = takesCursor ? this.#cursorFor(entry) : undefined;
			try {
				await run(cursor);
			} catch (error) {
				if (this.#isClosed) return;
				this.#isClosed = true;
				this.#options.onFailed(error);
				return;
			}
			if (cursor !== undefined) this.#stored = cursor;
			entry.left--;
			this.#advance();
		});
		this.#lanes.set(lane, after);
		void after.then(() => {
			if (this.#lanes.get(lane) === after) this.#lanes.delete(lane);
		});
	}

	/** Only the last part of what has nothing open before it moves the cursor. */
	#cursorFor(entry: Entry): string | undefined {
		const [first] = this.#entries.values();
		if (first !== entry || entry.left !== 1 || !this.#place) return undefined;
		return writeCursor(movedTo(this.#place, entry.sequence, entry.mark));
	}

	#advance(): void {
		const before = this.#place;
		for (const { sequence, mark, left } of this.#entries.values()) {
			if (left > 0 || !this.#place) break;
			this.#entries.delete(sequence);
			this.#place = movedTo(this.#place, sequence, mark);
		}
		if (this.#place !== before) this.#options.onMoved();
	}
}
