// The bot's rate: about 30 calls a second in total, one message a second in a private chat, 20 a minute in a group. Edits and typing
// count like messages. Many answers slow down together. New messages go before edits, which are mostly previews. A chat's own limit holds
// back only edits.
import type { Clock } from "../../time/index.ts";

interface Allowance {
	/** How many at once. */
	readonly burst: number;
	/** How long until one more. */
	readonly everyMs: number;
}

/** At most 23 leave in any second. On the way some catch up with others: this leaves room for that. */
const ALL: Allowance = { burst: 3, everyMs: 50 };
const PRIVATE: Allowance = { burst: 5, everyMs: 1000 };
const GROUP: Allowance = { burst: 20, everyMs: 3000 };
/**
 * A message with this many before it waits in the store instead: if it were killed while waiting here, its outcome would be unknown
 * although it never left. An edit may be repeated, and waits here up to this long.
 */
const MOST_AHEAD = 3;
const LONGEST_CHANGE_MS = 5000;
/** Long unused chats, and unused slots, are dropped when there are this many. */
const REMEMBERED = 1000;
/** How long a promised slot is kept after its time. */
const KEPT_MS = 10_000;

/** How long until one more may go, given when the allowance is full again. */
function waitOf({ burst, everyMs }: Allowance, wholeAt: number, now: number): number {
	return Math.max(0, wholeAt - now - (burst - 1) * everyMs);
}

function wholeAfter({ everyMs }: Allowance, wholeAt: number, now: number): number {
	return Math.max(now, wholeAt) + everyMs;
}

export interface Wish {
	/** Stable over retries: a refused caller keeps its slot by it. */
	readonly id: string;
	readonly chatId: string;
	readonly what: "message" | "change";
}

/** It may go now, or ask again after this long. */
export type Turn = "go" | { readonly askAfterMs: number };

/** The input of a decision. */
export interface PaceFacts {
	/** Until the bot may make one more call. */
	readonly waitMs: number;
	/** Until this chat's messages may be edited once more. */
	readonly chatWaitMs: number;
	readonly messagesAhead: number;
	readonly changesAhead: number;
	/** It was refused before, and has come back at its time. */
	readonly isPromised: boolean;
	/** Until the last refused one is sent. */
	readonly promisedMs: number;
}

export type Decision =
	| { readonly kind: "queue" }
	/** For a message: its slot is kept, and the next one's is after it. */
	| { readonly kind: "later"; readonly ms: number };

export function decide(what: Wish["what"], facts: PaceFacts): Decision {
	const { waitMs, chatWaitMs, messagesAhead, changesAhead, isPromised, promisedMs } = facts;
	if (what === "change") {
		const ms = Math.max(waitMs + (messagesAhead + changesAhead) * ALL.everyMs, chatWaitMs);
		return ms <= LONGEST_CHANGE_MS ? { kind: "queue" } : { kind: "later", ms: ms - LONGEST_CHANGE_MS / 2 };
	}
	if (isPromised || (messagesAhead < MOST_AHEAD && promisedMs <= 0)) return { kind: "queue" };
	return { kind: "later", ms: Math.max(waitMs + messagesAhead * ALL.everyMs, promisedMs) + ALL.everyMs };
}

interface Waiting {
	readonly chatId: string;
	readonly go: (turn: Turn) => void;
}

export class Pace {
	readonly #clock: Pick<Clock, "monotonic" | "after">;
	/** When the bot's allowance, and each chat's, is full again. */
	#wholeAt = 0;
	readonly #chatWholeAt = new Map<string, number>();
	readonly #messages: Waiting[] = [];
	readonly #changes: Waiting[] = [];
	/** The times of refused callers, by id. */
	readonly #promised = new Map<string, number>();
	#promisedUntil = 0;
	#cancel = () => {};

	constructor(clock: Pick<Clock, "monotonic" | "after">) {
		this.#clock = clock;
	}

	/** Resolves when it may go, or at once if that takes too long. */
	turn({ id, chatId, what }: Wish): Promise<Turn> {
		const now = this.#clock.monotonic();
		const decision = decide(what, {
			waitMs: waitOf(ALL, this.#wholeAt, now),
			chatWaitMs: this.#chatWaitMs(chatId, now),
			messagesAhead: this.#messages.length,
			changesAhead: this.#changes.length,
			isPromised: this.#promised.delete(id),
			promisedMs: this.#promisedUntil - now,
		});
		if (decision.kind === "later") {
			if (what === "message") this.#promise(id, now + decision.ms);
			return Promise.resolve({ askAfterMs: Math.ceil(decision.ms) });
		}
		return new Promise((resolve) => {
			(what === "message" ? this.#messages : this.#changes).push({ chatId, go: resolve });
			this.#pump();
		});
	}

	/** How many messages may go at once now. One may always wait here: messages go before edits, and would never be reached otherwise. */
	room(): { readonly free: number; readonly afterMs: number } {
		const now = this.#clock.monotonic();
		const left = Math.floor(ALL.burst - Math.max(0, this.#wholeAt - now) / ALL.everyMs);
		return {
			free: Math.max(1, left) - this.#messages.length,
			afterMs: Math.max(waitOf(ALL, this.#wholeAt, now), ALL.everyMs),
		};
	}

	/** Whether an optional call fits now; if so, it counts. */
	fits(): boolean {
		const now = this.#clock.monotonic();
		const isFree =
			this.#messages.length + this.#changes.length === 0 && waitOf(ALL, this.#wholeAt, now) === 0;
		if (isFree) this.count();
		return isFree;
	}

	/** A call that waits for nobody. */
	count(): void {
		this.#wholeAt = wholeAfter(ALL, this.#wholeAt, this.#clock.monotonic());
	}

	/** Sends everybody away. */
	clear(): void {
		this.#cancel();
		for (const { go } of [...this.#messages.splice(0), ...this.#changes.splice(0)]) go({ askAfterMs: 1000 });
	}

	/** By the actual sending time: after a stall they do not all go at once. */
	#pump(): void {
		this.#cancel();
		for (;;) {
			const now = this.#clock.monotonic();
			const waitMs = waitOf(ALL, this.#wholeAt, now);
			const found = this.#next(now);
			if (!found) return;
			const ms = Math.max(waitMs, found.ms);
			if (ms > 0) {
				this.#cancel = this.#clock.after(Math.ceil(ms), () => this.#pump());
				return;
			}
			found.from.splice(found.at, 1);
			this.#use(found.waiting.chatId, now);
			found.waiting.go("go");
		}
	}

	/** Who is next, and how long their chat still holds them. */
	#next(now: number) {
		const [message] = this.#messages;
		if (message) return { waiting: message, from: this.#messages, at: 0, ms: 0 };
		let first: { waiting: Waiting; from: Waiting[]; at: number; ms: number } | undefined;
		for (const [at, waiting] of this.#changes.entries()) {
			const ms = this.#chatWaitMs(waiting.chatId, now);
			if (first && ms >= first.ms) continue;
			first = { waiting, from: this.#changes, at, ms };
			if (ms === 0) return first;
		}
		return first;
	}

	#chatWaitMs(chatId: string, now: number): number {
		return waitOf(ofChat(chatId), this.#chatWholeAt.get(chatId) ?? 0, now);
	}

	#use(chatId: string, now: number): void {
		this.#wholeAt = wholeAfter(ALL, this.#wholeAt, now);
		this.#chatWholeAt.set(chatId, wholeAfter(ofChat(chatId), this.#chatWholeAt.get(chatId) ?? 0, now));
		if (this.#chatWholeAt.size <= REMEMBERED) return;
		for (const [known, at] of this.#chatWholeAt) if (at <= now) this.#chatWholeAt.delete(known);
	}

	#promise(id: string, at: number): void {
		this.#promised.set(id, at);
		this.#promisedUntil = at;
		if (this.#promised.size <= REMEMBERED) return;
		const now = this.#clock.monotonic();
		for (const [known, due] of this.#promised) if (due + KEPT_MS < now) this.#promised.delete(known);
	}
}

function ofChat(chatId: string): Allowance {
	return chatId.startsWith("-") ? GROUP : PRIVATE;
}
