// Counts since the start, from the event log: each request reads what is new, and between requests it is read now and then, so that the
// first request after a long time is not slow.
import { OPERATOR, type Store, type StoreEvent } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { Counter, Histogram, type Metric } from "./prometheus.ts";

const PAGE = 1000;
const TURN_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];
/** How long events are gathered after a commit. */
const GATHER_MS = 10_000;
/** Turns whose start is remembered until their end. */
const MOST_OPEN = 10_000;

export class Tally {
	readonly #store: Pick<Store, "events" | "onCommit">;
	readonly #events = new Counter("type");
	readonly #outcomes = new Counter("outcome");
	readonly #dispositions = new Counter("kind");
	readonly #deliveries = new Counter("state", ["sent", "retry", "unknown", "dead"]);
	readonly #turnSeconds = new Histogram(TURN_SECONDS);
	readonly #begun = new Map<string, number>();
	#accepted = 0;
	#cursor = "now";
	#working: Promise<void> | null = null;

	constructor(store: Pick<Store, "events" | "onCommit">) {
		this.#store = store;
	}

	/** Counts everything committed after this has resolved, until the signal. */
	async start(after: Clock["after"], closing: AbortSignal): Promise<void> {
		let cancel: (() => void) | null = null;
		const look = (): void => {
			cancel = null;
			// Nothing is lost by a failed read: the next one begins where this one did, and a request reports it.
			this.catchUp().catch(() => {});
		};
		const unlisten = this.#store.onCommit(() => {
			cancel ??= after(GATHER_MS, look);
		});
		closing.addEventListener(
			"abort",
			() => {
				unlisten();
				cancel?.();
			},
			{ once: true },
		);
		await this.catchUp();
	}

	get metrics(): readonly Metric[] {
		return [
			counter("keryx_inbound_accepted_total", "messages that were accepted", [[{}, this.#accepted]]),
			counter("keryx_dispositions_total", "what became of messages, by kind", this.#dispositions.samples),
			counter("keryx_turns_total", "turns that ended, by outcome", this.#outcomes.samples),
			{
				name: "keryx_turn_seconds",
				type: "histogram",
				help: "how long turns took, from begin to end",
				samples: this.#turnSeconds.samples,
			},
			counter("keryx_deliveries_total", "what became of attempts to deliver", this.#deliveries.samples),
			counter("keryx_events_total", "what happened, by type of event", this.#events.samples),
		];
	}

	/** Concurrent requests count once. */
	catchUp(): Promise<void> {
		this.#working ??= this.#count().finally(() => {
			this.#working = null;
		});
		return this.#working;
	}

	async #count(): Promise<void> {
		for (;;) {
			const page = await this.#store.events({ scope: OPERATOR, after: this.#cursor, limit: PAGE });
			this.#cursor = page.cursor;
			if (page.kind === "resync") return;
			for (const event of page.events) this.#add(event);
			if (page.events.length < PAGE) return;
		}
	}

	#add(event: StoreEvent): void {
		const { type } = event;
		this.#events.add(type);
		if (type === "turn.begun") this.#begin(event);
		else if (type === "turn.ended") this.#end(event);
		else if (type.startsWith("delivery.")) this.#delivery(type);
		else if (type.startsWith("inbound.")) this.#inbound(type);
	}

	#begin({ turn, at }: StoreEvent): void {
		if (turn === null) return;
		if (this.#begun.size >= MOST_OPEN) this.#begun.clear();
		this.#begun.set(turn, at);
	}

	#end({ turn, at, facts }: Extract<StoreEvent, { readonly type: "turn.ended" }>): void {
		this.#outcomes.add(facts.outcome);
		this.#dispositions.add(facts.disposition, facts.items);
		const begun = turn === null ? undefined : this.#begun.get(turn);
		if (turn === null || begun === undefined) return;
		this.#begun.delete(turn);
		this.#turnSeconds.add(Math.max(0, at - begun) / 1000);
	}

	#delivery(type: string): void {
		const state = type.slice("delivery.".length);
		if (/^(?:sent|retry|unknown|dead)$/.test(state)) this.#deliveries.add(state);
	}

	#inbound(type: string): void {
		const kind = type.slice("inbound.".length);
		if (kind === "accepted") this.#accepted++;
		else if (/^(?:observed|command|expired|dropped_by_user|refused)$/.test(kind))
			this.#dispositions.add(kind);
	}
}

function counter(name: string, help: string, samples: Metric["samples"]): Metric {
	return { name, type: "counter", help, samples };
}
