// A chat platform as far as a gateway can see it: what its users wrote and have been shown, what it was asked and what it
// answered. No clock, no connection, no threads: those who serve it bring them, in this process or behind a socket.
import type { ChatType, Content } from "../domain/index.ts";
import type { Inbound, Outgoing, SendResult } from "../gateway/index.ts";
import type { Destination } from "../store/index.ts";

/** What the platform does with one request. */
export type Behaviour =
	| Undelayed
	/** Takes its time, then does what `andThen` says (left out: ok). */
	| { readonly delayMs: number; readonly andThen?: Undelayed };

type Undelayed =
	| "ok"
	| "refuse"
	/** Text with markup is not understood; the plain twin is taken. */
	| "markup_refused"
	/** Taken, but the answer is lost. */
	| "lose_ack"
	/** Not taken, and the answer is lost. */
	| "lost"
	/** Too many at once. */
	| { readonly retryAfterMs: number };

export interface Attempt {
	/** Counts every attempt, from 1. */
	readonly n: number;
	/** Counts those of one delivery, from 1. */
	readonly nth: number;
	readonly kind: "send" | "edit";
	readonly id: string;
	readonly destination: Destination;
	readonly text: string;
	readonly plain: boolean;
	readonly at: number;
}

/** What the channel was told; null while the platform takes its time. */
export interface AttemptRecord extends Attempt {
	readonly outcome: SendResult["kind"] | null;
}

/** A message of Keryx as users see it now. */
export interface VisibleMessage {
	readonly receipt: string;
	/** The delivery that it came from. */
	readonly id: string;
	readonly chat: string;
	readonly thread: string | undefined;
	readonly text: string;
	readonly at: number;
	readonly edits: number;
}

/** What a user wrote. */
export interface Saying {
	readonly chat: string;
	readonly text?: string;
	/** In place of the text. */
	readonly content?: Content;
	/** Left out: in a dm the chat is the person, elsewhere it is `someone`. */
	readonly user?: string;
	readonly chatType?: ChatType;
	readonly thread?: string;
	/** The platform's id of the message; left out: a new one. */
	readonly id?: string;
	/** More of the source, on the wire. */
	readonly source?: Readonly<Record<string, unknown>>;
	readonly addressed?: boolean;
	readonly mentioned?: boolean;
	readonly quoted?: Inbound["quoted"];
	readonly album?: string;
	readonly sentAt?: number;
	readonly transport?: Inbound["transport"];
}

/** A message on its way to the gateway. The offset is its place in the stream, not its identity: a message may come twice. */
export interface Update {
	readonly offset: number;
	readonly inbound: Inbound;
}

export interface PlatformOptions {
	/** Its name in sources and destinations. */
	readonly platform: string;
	readonly account?: string;
	readonly behave?: (attempt: Attempt) => Behaviour;
	/** Whether a delivery that was taken before is answered with its receipt, and not shown again. */
	readonly idempotent?: boolean;
	/** The longest text it takes, in UTF-16 units. */
	readonly maxLength?: number;
}

/** A request that has reached the platform: when its time has come, `finish` does it and says what the channel is told. */
export interface Started {
	readonly delayMs: number;
	finish(now: number): SendResult;
}

export class ScriptedPlatform {
	readonly platform: string;
	readonly account: string;
	/** May be replaced at any time. */
	behave: (attempt: Attempt) => Behaviour;
	readonly #idempotent: boolean;
	readonly #maxLength: number;
	readonly #messages: VisibleMessage[] = [];
	/** Where each message stands, by its receipt; the first of each delivery, by that one's id. */
	readonly #byReceipt = new Map<string, number>();
	readonly #byDelivery = new Map<string, number>();
	readonly #attempts: AttemptRecord[] = [];
	/** How many attempts each delivery had, and how many of them have not ended. */
	readonly #tries = new Map<string, { count: number; underWay: number }>();
	readonly #typing: Destination[] = [];
	readonly #updates: Update[] = [];
	readonly #listeners = new Set<() => void>();
	#said = 0;
	#acknowledged = 0;
	#handedOut = 0;

	constructor({
		platform,
		account = "",
		behave = () => "ok",
		idempotent = false,
		maxLength,
	}: PlatformOptions) {
		this.platform = platform;
		this.account = account;
		this.behave = behave;
		this.#idempotent = idempotent;
		this.#maxLength = maxLength ?? Number.POSITIVE_INFINITY;
	}

	/** A user writes; answers the platform's id of the message. */
	say(saying: Saying): string {
		const { chat, text = "", user, chatType = "dm", sentAt, transport } = saying;
		const { addressed, mentioned, quoted, album } = saying;
		const id = saying.id ?? `m${++this.#said}`;
		this.#add({
			source: {
				platform: this.platform,
				...(this.account && { account: this.account }),
				chat_id: chat,
				chat_type: chatType,
				user_id: user ?? (chatType === "dm" ? chat : "someone"),
				...(saying.thread !== undefined && { thread_id: saying.thread }),
				...saying.source,
			},
			platformMessage: id,
			content: saying.content ?? text,
			...(addressed !== undefined && { addressed }),
			...(mentioned !== undefined && { mentioned }),
			...(quoted && { quoted }),
			...(album !== undefined && { album }),
			...(sentAt !== undefined && { sentAt }),
			...(transport && { transport }),
		});
		return id;
	}

	/** Delivers a message once more, as platforms do. */
	redeliver(id: string): void {
		const update = this.#updates.find(({ inbound }) => inbound.platformMessage === id);
		if (update) this.#add(update.inbound);
	}

	/** Changes the order of what has not been handed out yet. What it leaves out is never delivered. */
	reorder(order: (waiting: readonly Inbound[]) => readonly Inbound[]): void {
		const waiting = this.#updates.splice(this.#handedOut);
		for (const inbound of order(waiting.map((update) => update.inbound))) this.#add(inbound);
	}

	/** What users see, in one chat or in all of them, oldest first. */
	visible(chat?: string): readonly VisibleMessage[] {
		return this.#messages.filter((message) => chat === undefined || message.chat === chat);
	}

	get attempts(): readonly AttemptRecord[] {
		return this.#attempts;
	}

	/** Where somebody was shown that an answer is being written. */
	get typing(): readonly Destination[] {
		return this.#typing;
	}

	/** Up to here the gateway said that it has taken what was delivered. */
	get acknowledged(): number {
		return this.#acknowledged;
	}

	/** Everything that was delivered or waits to be, in its order. */
	get updates(): readonly Update[] {
		return this.#updates;
	}

	/** What was delivered or waits to be, and has not been acknowledged. */
	get unacknowledged(): readonly Update[] {
		return this.#updates.slice(this.#acknowledged);
	}

	/** Resolves as soon as it holds; it is asked again after every change. */
	until(condition: () => boolean): Promise<void> {
		return new Promise((resolve, reject) => {
			const look = () => {
				try {
					if (!condition()) return;
					stop();
					resolve();
				} catch (error) {
					stop();
					reject(error);
				}
			};
			const stop = this.onChange(look);
			look();
		});
	}

	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** For who serves it: what follows an offset. What is handed out keeps its place. */
	handOut(after: number): readonly Update[] {
		this.#handedOut = this.#updates.length;
		return this.#updates.slice(after);
	}

	acknowledge(offset: number): void {
		this.#acknowledged = Math.max(this.#acknowledged, offset);
		this.#changed();
	}

	type(destination: Destination): void {
		this.#typing.push(destination);
		this.#changed();
	}

	/** A request arrives: to show a message, or with a receipt to change one. */
	begin(outgoing: Outgoing, now: number, receipt?: string): Started {
		const tries = this.#tries.get(outgoing.id) ?? { count: 0, underWay: 0 };
		this.#tries.set(outgoing.id, { count: tries.count + 1, underWay: tries.underWay + 1 });
		const attempt: Attempt = {
			n: this.#attempts.length + 1,
			nth: tries.count + 1,
			kind: receipt === undefined ? "send" : "edit",
			id: outgoing.id,
			destination: outgoing.destination,
			text: outgoing.plain ? outgoing.body.plain : outgoing.body.text,
			plain: outgoing.plain,
			at: now,
		};
		this.#attempts.push({ ...attempt, outcome: null });
		const said = this.behave(attempt);
		const [delayMs, behaviour] =
			typeof said === "object" && "delayMs" in said ? [said.delayMs, said.andThen ?? "ok"] : [0, said];
		this.#changed();
		return {
			delayMs,
			finish: (at) => {
				const result = this.#finish(attempt, behaviour, at, receipt);
				const { count, underWay } = this.#tries.get(attempt.id) ?? { count: 1, underWay: 1 };
				this.#tries.set(attempt.id, { count, underWay: underWay - 1 });
				this.#attempts[attempt.n - 1] = { ...attempt, outcome: result.kind };
				this.#changed();
				return result;
			},
		};
	}

	/** Absent is said only where it will stay so: of a request that is still under way nothing is known. */
	lookup(
		id: string,
	): { readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" } {
		const shown = this.#messages[this.#byDelivery.get(id) ?? -1];
		if (shown) return { kind: "sent", receipt: shown.receipt };
		return { kind: this.#tries.get(id)?.underWay ? "unknown" : "absent" };
	}

	#finish(attempt: Attempt, behaviour: Undelayed, now: number, receipt: string | undefined): SendResult {
		if (typeof behaviour === "object")
			return { kind: "retry", afterMs: behaviour.retryAfterMs, reason: "the platform asks for a pause" };
		if (behaviour === "refuse") return { kind: "refused", reason: "the platform refused it" };
		if (behaviour === "markup_refused" && !attempt.plain) return { kind: "markup_refused" };
		if (behaviour === "lost") return LOST;
		const result = receipt === undefined ? this.#show(attempt, now) : this.#change(attempt, receipt);
		return behaviour === "lose_ack" ? LOST : result;
	}

	#show(attempt: Attempt, at: number): SendResult {
		const { id, text, destination } = attempt;
		if (text.length > this.#maxLength) return this.#tooLong();
		const before = this.#messages[this.#byDelivery.get(id) ?? -1];
		if (before && this.#idempotent) return { kind: "sent", receipt: before.receipt };
		const receipt = `r${attempt.n}`;
		this.#byReceipt.set(receipt, this.#messages.length);
		if (!before) this.#byDelivery.set(id, this.#messages.length);
		const { chatId: chat, threadId: thread } = destination;
		this.#messages.push({ receipt, id, chat, thread, text, at, edits: 0 });
		return { kind: "sent", receipt };
	}

	#change({ text }: Attempt, receipt: string): SendResult {
		if (text.length > this.#maxLength) return this.#tooLong();
		const index = this.#byReceipt.get(receipt);
		const shown = index === undefined ? undefined : this.#messages[index];
		if (index === undefined || !shown) return { kind: "refused", reason: "there is no such message" };
		this.#messages[index] = { ...shown, text, edits: shown.edits + 1 };
		return { kind: "sent", receipt };
	}

	#tooLong(): SendResult {
		return { kind: "refused", reason: `the text is longer than ${this.#maxLength}` };
	}

	#add(inbound: Inbound): void {
		this.#updates.push({ offset: this.#updates.length + 1, inbound });
		this.#changed();
	}

	#changed(): void {
		for (const listener of this.#listeners) listener();
	}
}

const LOST: SendResult = { kind: "unknown", reason: "the platform's answer was lost" };
