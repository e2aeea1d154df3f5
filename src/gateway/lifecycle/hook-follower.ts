// Runs hooks for events in log order. Ends of sessions are reported by finalising, which repeats until it is done; everything else once,
// from the start of this process on.

import { Duty, hookOf, OPERATOR, type Store, type StoreEvent } from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Hooks } from "./hooks.ts";

const AT_ONCE = 200;

export class HookFollower {
	readonly #store: Store;
	readonly #hooks: Hooks;
	readonly #rounds: Rounds;
	readonly #duty: Duty;
	#cursor = "now";
	#unlisten = () => {};

	constructor(
		store: Store,
		hooks: Hooks,
		{ clock, log }: { readonly clock: Clock; readonly log: (message: string, error: unknown) => void },
	) {
		this.#store = store;
		this.#hooks = hooks;
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
		for (;;) {
			const page = await this.#store.events({
				scope: OPERATOR,
				after: this.#cursor,
				limit: AT_ONCE,
			});
			this.#cursor = page.cursor;
			if (page.kind === "resync") return;
			for (const event of page.events) await this.#tell(event);
			if (page.events.length < AT_ONCE) return;
		}
	}

	async #tell({ type, at, conversation, session, turn, subject, facts }: StoreEvent): Promise<void> {
		const name = hookOf(type);
		if (name) await this.#hooks.tell(name, { at, conversation, session, turn, subject, ...facts });
	}
}
