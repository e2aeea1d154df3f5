// The rows of a turn: its initial transcript, and what it appends under its token (I5). Each appended row has an index within the turn,
// so that a repeated write is still one row. Contents are decided elsewhere.
import type { Message, NewMessage, ResetPolicy } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { Waiting } from "./asking.ts";
import type { TurnStart } from "./start.ts";
import type { CallOutcome } from "./tool-calls.ts";

export class TurnRows {
	readonly #store: Store;
	readonly #start: TurnStart;
	#all: Message[];
	#count: number;
	#cap: number;
	#nextIndex: number;

	constructor(store: Store, start: TurnStart, transcript: readonly Message[]) {
		this.#store = store;
		this.#start = start;
		this.#all = [...transcript];
		this.#count = start.messages;
		this.#cap = start.cap;
		this.#nextIndex = start.nextIndex;
	}

	get all(): readonly Message[] {
		return this.#all;
	}

	/** Messages of the session so far. */
	get count(): number {
		return this.#count;
	}

	/** May be raised while the turn runs. */
	get cap(): number {
		return this.#cap;
	}

	get nextIndex(): number {
		return this.#nextIndex;
	}

	/** The compactor's rows: they have no index and do not count. */
	add(rows: readonly Message[]): void {
		this.#all.push(...rows);
	}

	/** Rows written together with a question. */
	took({ rows, messages, cap }: Waiting): void {
		this.#nextIndex += rows.length;
		this.#count = messages;
		this.#cap = cap;
		this.#all.push(...rows);
	}

	/** Once the agent is asked nothing more. The rows before are most of what a turn holds, and its end may take a while to be written. */
	keepOwn(): void {
		this.#all = this.#all.filter((row) => row.turn === this.#start.turn);
	}

	indexed(messages: readonly NewMessage[]): readonly (NewMessage & { readonly index: number })[] {
		return messages.map((message, offset) => ({ ...message, index: this.#nextIndex + offset }));
	}

	/** Appends rows under the token, and returns how often the same call has failed in a row. */
	async append(messages: readonly NewMessage[], outcomes: readonly CallOutcome[] = []): Promise<number> {
		const { turn, token } = this.#start;
		const answer = await this.#store.appendMessages({
			turn,
			token,
			messages: this.indexed(messages),
			blobs: outcomes.flatMap(({ blobs = [] }) => blobs),
			outcomes: outcomes.map(({ digest, failed }) => ({ digest, failed })),
		});
		this.#nextIndex += messages.length;
		this.#count = answer.messages;
		this.#cap = answer.cap;
		this.#all.push(...answer.rows);
		for (const { stored } of outcomes) stored?.();
		return outcomes.some(({ failed }) => failed) ? answer.failingCount : 0;
	}

	/** Adds waiting messages to the turn. */
	async join(
		inbox: readonly number[],
		policy: ResetPolicy,
	): Promise<{ readonly joined: readonly number[]; readonly hasNew: boolean }> {
		const { turn, token } = this.#start;
		const { joined, rows, nextIndex } = await this.#store.joinTurn({
			turn,
			token,
			inbox,
			nextIndex: this.#nextIndex,
			policy,
		});
		if (rows.length > 0) {
			this.#nextIndex = nextIndex;
			this.#count += rows.length;
			this.#all.push(...rows);
		}
		return { joined, hasNew: rows.length > 0 };
	}
}
