// Runs hooks for events in log order. Ends of sessions are reported by finalising, which repeats until it is done; everything else once,
// from the start of this process on. Among several gateways one runs them. How far it got is kept, so that another one continues there.

import { Duty, hookOf, OPERATOR, type Store, type StoreEvent } from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Hooks } from "./hooks.ts";

const AT_ONCE = 200;
/** Hooks are not called for events older than this, after a long pause of all gateways. */
const LATEST_MS = 600_000;
/** Where a position is kept, among those of channels. */
const KEPT = { platform: "keryx", account: "hooks" } as const;

export class HookFollower {
	readonly #store: Store;
	readonly #hooks: Hooks;
	readonly #rounds: Rounds;
	readonly #duty: Duty;
	readonly #clock: Clock;
	/** Null: the duty is not this gateway's yet. */
	#cursor: string | null = null;
	#unlisten = () => {};

	constructor(
		store: Store,
		hooks: Hooks,
		{ clock, log }: { readonly clock: Clock; readonly log: (message: string, error: unknown) => void },
	) {
		this.#store = store;
		this.#hooks = hooks;
		this.#clock = clock;
		this.#duty = new Duty(store, clock, "hooks");
		this.#rounds = new Rounds({
			clock,
			round: async () => {
				await this.#look();
				return null;
			},
			failed: (error) => log("hooks cannot read events right now", error),
		});
	}

	async start(): Promise<void> {
		if (!this.#hooks.listens) return;
		await this.#look();
		this.#rounds.wait();
		this.#unlisten = this.#store.onCommit(() => this.look());
	}

	/** There may be new events. */
	look(): void {
		this.#rounds.look();
	}

	async stop(): Promise<void> {
		this.#unlisten();
		await this.#rounds.stop();
	}

	async #look(): Promise<void> {
		// Another gateway runs them.
		if (!(await this.#duty.isMine())) return;
		const kept = this.#cursor ?? (await this.#kept());
		for (let after = kept ?? "now"; ; ) {
			const page = await this.#store.events({ scope: OPERATOR, after, limit: AT_ONCE });
			after = page.cursor;
			let hasCalled = kept === null;
			for (const event of page.kind === "resync" ? [] : page.events)
				hasCalled = (await this.#call(event)) || hasCalled;
			if (hasCalled) await this.#keep(after);
			this.#cursor = after;
			if (page.kind === "resync" || page.events.length < AT_ONCE) return;
		}
	}

	/** True if the event has a hook and is recent enough. */
	async #call({ type, at, conversation, session, turn, subject, facts }: StoreEvent): Promise<boolean> {
		const name = hookOf(type);
		if (!name || at < this.#clock.now() - LATEST_MS) return false;
		await this.#hooks.tell(name, { at, conversation, session, turn, subject, ...facts });
		return true;
	}

	/** Where an earlier gateway got to; null: nobody has begun, or there is only this one. */
	async #kept(): Promise<string | null> {
		return this.#store.cluster ? await this.#store.channelCursor({ scope: OPERATOR, ...KEPT }) : null;
	}

	/** If this gateway dies before this write, the last hooks are called twice. */
	async #keep(cursor: string): Promise<void> {
		if (this.#store.cluster) await this.#store.moveCursor({ ...KEPT, value: cursor });
	}
}
