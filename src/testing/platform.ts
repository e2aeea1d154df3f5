// A chat platform as a gateway sees it: users' messages, shown messages, requests and answers.
// No clock, no connection, no threads: its server brings those, in this process or behind a socket.
import type { ChatType, Content } from "../domain/index.ts";
import type { Inbound, Outgoing, SendResult } from "../gateway/index.ts";
import type { Destination } from "../store/index.ts";

/** How the platform handles one request. */
export type Behaviour =
	| Undelayed
	/** Waits, then does what `andThen` says (default: ok). */
	| { readonly delayMs: number; readonly andThen?: Undelayed };

type Undelayed =
	| "ok"
	| "refuse"
	/** Refuses text with markup, and accepts the plain twin. */
	| "markup_refused"
	/** Accepted, but the answer is lost. */
	| "lose_ack"
	/** Not accepted, and the answer is lost. */
	| "lost"
	/** Rate limited. */
	| { readonly retryAfterMs: number };

export interface Attempt {
	/** Counts every attempt, from 1. */
	readonly n: number;
	/** Counts attempts of one delivery, from 1. */
	readonly nth: number;
	readonly kind: "send" | "edit";
	readonly id: string;
	readonly destination: Destination;
	readonly text: string;
	readonly plain: boolean;
	readonly at: number;
}

/** The answer to the channel; null while the platform waits. */
export interface AttemptRecord extends Attempt {
	readonly outcome: SendResult["kind"] | null;
}

/** A Keryx message as users see it now. */
export interface VisibleMessage {
	readonly receipt: string;
	/** The delivery it came from. */
	readonly id: string;
	readonly chat: string;
	readonly thread: string | undefined;
	readonly text: string;
	readonly at: number;
	readonly edits: number;
}

/** A user's message. */
export interface Saying {
	readonly chat: string;
	readonly text?: string;
	/** Instead of the text. */
	readonly content?: Content;
	/** Default: the chat itself in a dm, otherwise `someone`. */
	readonly user?: string;
	readonly chatType?: ChatType;
	readonly thread?: string;
	/** The platform's id of the message; default: a new one. */
	readonly id?: string;
	/** More fields of the source, on the wire. */
	readonly source?: Readonly<Record<string, unknown>>;
	readonly addressed?: boolean;
	readonly mentioned?: boolean;
	readonly quoted?: Inbound["quoted"];
	readonly album?: string;
	readonly sentAt?: number;
	readonly transport?: Inbound["transport"];
}

/** A message on its way to the gateway. The offset is its position in the stream, not its identity: a message may come twice. */
export interface Update {
	readonly offset: number;
	readonly inbound: Inbound;
}

export interface PlatformOptions {
	/** Its name in sources and destinations. */
	readonly platform: string;
	readonly account?: string;
	readonly behave?: (attempt: Attempt) => Behaviour;
	/** Whether a repeated delivery gets its first receipt, and is not shown again. */
	readonly idempotent?: boolean;
	/** The longest accepted text, in UTF-16 units. */
	readonly maxLength?: number;
}

/** A request that has reached the platform. `finish` processes it when its time has come, and returns the channel's answer. */
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
	/** Each message by its receipt; the first of each delivery by the delivery's id. */
	readonly #byReceipt = new Map<string, number>();
	readonly #byDelivery = new Map<string, number>();
	readonly #attempts: AttemptRecord[] = [];
	/** The number of attempts of each delivery, and of those still open. */
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

	/** A user writes; returns the platform's id of the message. */
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

	/** Reorders updates that were not delivered yet. Omitted ones are never delivered. */
	reorder(order: (waiting: readonly Inbound[]) => readonly Inbound[]): void {
		const waiting = this.#updates.splice(this.#handedOut);
		for (const inbound of order(waiting.map((update) => update.inbound))) this.#add(inbound);
	}

	/** Messages as users see them, in one chat or all, oldest first. */
	visible(chat?: string): readonly VisibleMessage[] {
		return this.#messages.filter((message) => chat === undefined || message.chat === chat);
	}

	get attempts(): readonly AttemptRecord[] {
		return this.#attempts;
	}

	/** Where the typing indicator was shown. */
	get typing(): readonly Destination[] {
		return this.#typing;
	}

	/** The last acknowledged offset. */
	get acknowledged(): number {
		return this.#acknowledged;
	}

	/** All updates, delivered or waiting, in order. */
	get updates(): readonly Update[] {
		return this.#updates;
	}

	/** Updates that were not acknowledged. */
	get unacknowledged(): readonly Update[] {
		return this.#updates.slice(this.#acknowledged);
	}

	/** Resolves as soon as the condition holds; checked after every change. */
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

	/** For its server: the updates after an offset. Delivered updates keep their position. */
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

	/** Absent only if it will stay absent: an open request may still arrive. */
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
