// Passes events to the host: serially per chat, chats in parallel. The sender is told after the commit, and not before (I3). A repeated
// event meanwhile is the same one.
import { Lanes } from "../lanes.ts";
import type { Pauses } from "../pauses.ts";
import { Remembered } from "../remembered.ts";
import { Stumbles } from "../stumbles.ts";
import {
	type ChatLocation,
	chatOf,
	type EventContext,
	eventOf,
	type Happening,
	handIn,
	locationOf,
	messageOf,
} from "./events.ts";
import { Marks } from "./marks.ts";
import { reasonOf } from "./outcome.ts";

/** Messages from history: their events, which also arrive, are only acknowledged. */
const REMEMBERED = 10_000;
/** This many may wait to be committed; Slack must resend posts beyond that. */
const MOST_PENDING = 2000;
const TS = /^\d+(?:\.\d+)?$/;

export interface IntakeOptions {
	readonly pauses: Pauses;
	/** Requests of one chat overtake each other by less than this. */
	readonly orderMs: number;
	readonly isStopping: () => boolean;
	/** Reads missed messages of the chat first, if there may be any. Never rejects. */
	readonly before: (location: ChatLocation) => Promise<void>;
	/** Null if nobody is connected. */
	readonly context: () => (() => EventContext) | null;
	readonly log: (message: string, error?: unknown) => void;
}

interface Pending {
	/** Called with whether it was committed. */
	readonly settle: ((isCommitted: boolean) => void)[];
}

interface Arrival {
	readonly happening: Happening;
	readonly settle: (isCommitted: boolean) => void;
}

export class Intake {
	readonly lanes = new Lanes();
	readonly marks = new Marks();
	readonly #options: IntakeOptions;
	/** Running, by event id. */
	readonly #pending = new Map<string | object, Pending>();
	readonly #live = new Remembered(REMEMBERED);
	readonly #fromHistory = new Remembered(REMEMBERED);
	/** Committed ones. A repeated message is known to the store (I4); anything else is only acknowledged. */
	readonly #done = new Remembered(REMEMBERED);
	/** Just posted, by chat: Slack posts in parallel, so that one may overtake another. */
	readonly #arrivals = new Map<string, Arrival[]>();

	constructor(options: IntakeOptions) {
		this.#options = options;
	}

	get isFull(): boolean {
		return this.#pending.size >= MOST_PENDING;
	}

	/** Whether an event is in progress or already committed. */
	knows(happening: Happening): boolean {
		const key = keyOf(happening);
		return key !== null && (this.#pending.has(key) || this.#done.has(key));
	}

	/** A post from Slack. Resolves when committed; false if not. */
	post(happening: Happening): Promise<boolean> {
		return new Promise((resolve) => {
			if (happening.kind !== "events_api") return this.take(happening, resolve);
			const chat = chatOf(happening);
			const arrived = this.#arrivals.get(chat) ?? [];
			arrived.push({ happening, settle: resolve });
			if (arrived.length > 1) return;
			this.#arrivals.set(chat, arrived);
			void this.#options.pauses.sleep(this.#options.orderMs).then(() => {
				this.#arrivals.delete(chat);
				for (const one of inOrder(arrived)) this.take(one.happening, one.settle);
			});
		});
	}

	/** Whether a history message was already passed on, as an event or from history. */
	wasTaken(chat: string, ts: string): boolean {
		const key = `${chat}/${ts}`;
		return this.#live.has(key) || this.#fromHistory.has(key);
	}

	tookFromHistory(chat: string, ts: string): void {
		this.#fromHistory.add(`${chat}/${ts}`);
	}

	/** Retries until it is committed or the line stops. Impossible events are skipped. */
	async commit(what: string, work: () => Promise<void>): Promise<"done" | "passed over" | "stopped"> {
		const { isStopping, pauses, log } = this.#options;
		const stumbles = new Stumbles();
		for (let failures = 0; !isStopping(); failures++)
			try {
				await work();
				return "done";
			} catch (error) {
				if (isStopping()) break;
				if (stumbles.isHopeless("", error)) {
					log(`${what} cannot be processed`, error);
					return "passed over";
				}
				if (failures === 0) log(`${what} cannot be processed yet: ${reasonOf(error)}`);
				await pauses.afterFailures(failures);
			}
		return "stopped";
	}

	/** `settle` is called with whether it was committed. */
	take(happening: Happening, settle: (isCommitted: boolean) => void): void {
		const key = keyOf(happening) ?? {};
		const pending = this.#pending.get(key);
		if (pending) {
			pending.settle.push(settle);
			return;
		}
		if (typeof key === "string" && this.#done.has(key) && !messageOf(happening)) {
			settle(true);
			return;
		}
		const entry: Pending = { settle: [settle] };
		this.#pending.set(key, entry);
		const holder = {};
		const ts = tsOf(happening);
		if (ts !== undefined) this.marks.begin(holder, ts);
		const location = locationOf(happening);
		// A press waits neither for a file in its chat nor for the history: Slack allows three seconds, and does not deliver it again.
		const isPress = happening.kind === "interactive";
		void this.lanes.run(isPress ? `press in ${chatOf(happening)}` : chatOf(happening), async () => {
			if (location) await this.#options.before(location);
			const tell = (isCommitted: boolean) => {
				if (isCommitted && typeof key === "string") this.#done.add(key);
				this.#pending.delete(key);
				for (const settle of entry.settle.splice(0)) settle(isCommitted);
			};
			await this.#handIn(happening, ts, holder, () => tell(true));
			tell(false);
		});
	}

	async #handIn(
		happening: Happening,
		ts: string | undefined,
		holder: object,
		committed: () => void,
	): Promise<void> {
		const context = this.#options.context();
		const chat = chatOf(happening);
		const message = messageOf(happening);
		let after: (() => Promise<void>) | undefined;
		let cursor: string | undefined;
		if (!context || this.#options.isStopping()) return;
		const isKnown = message?.ts !== undefined && this.#fromHistory.has(`${chat}/${message.ts}`);
		const outcome = isKnown
			? "done"
			: await this.commit("an event", async () => {
					cursor = ts === undefined ? undefined : this.marks.cursorOf(holder, ts);
					after = await handIn(happening, cursor, { ...context(), committed });
				});
		if (outcome === "stopped") return;
		this.marks.end(holder, outcome === "done" ? cursor : undefined);
		if (message?.ts !== undefined) this.#live.add(`${chat}/${message.ts}`);
		committed();
		// The button has taken effect; if the sentence is too late, only that is lost.
		await after?.().catch((error: unknown) =>
			this.#options.log("a button press was not answered", reasonOf(error)),
		);
	}
}

/** When it happened; anything else than a time must not become the cursor. */
function tsOf(happening: Happening): string | undefined {
	const ts = messageOf(happening)?.ts ?? eventOf(happening).event_ts;
	return ts !== undefined && TS.test(ts) ? ts : undefined;
}

/** Slack's id, the same for every delivery; null if it has none. */
function keyOf({ payload }: Happening): string | null {
	const { event_id: event, trigger_id: trigger } = payload;
	if (typeof event === "string") return event;
	return typeof trigger === "string" ? trigger : null;
}

/** As they happened in their chat. */
function inOrder(arrivals: readonly Arrival[]): readonly Arrival[] {
	const at = ({ happening }: Arrival) => {
		const { event_ts: changed, ts } = eventOf(happening);
		return Number(changed ?? ts ?? 0);
	};
	return arrivals.toSorted((a, b) => at(a) - at(b));
}
