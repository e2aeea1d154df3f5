// The other gateways on the same store. What they commit is read from the events: a message for a conversation that runs here, the end of a
// turn that runs here. When one has died, its unfinished work is taken over. Without other gateways nothing is read.
import type { ConversationId } from "../../domain/index.ts";
import { OPERATOR, type Store } from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Lanes } from "../lanes/lanes.ts";

const AT_ONCE = 500;

export interface NeighboursOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly lanes: Lanes;
	/** Adds what waits in a conversation to its lane. */
	readonly refresh: (conversation: ConversationId) => Promise<void>;
	/** What was accepted here and nobody knows of. */
	readonly lookForUnheard: () => void;
	/** Takes up what dead nodes have left. */
	readonly takeOver: () => Promise<void>;
	readonly log: (message: string, error: unknown) => void;
}

export class Neighbours {
	readonly #options: NeighboursOptions;
	readonly #following: Rounds;
	readonly #burying: Rounds;
	#cursor = "now";
	#unlisten = () => {};

	constructor(options: NeighboursOptions) {
		this.#options = options;
		const { clock, log, takeOver } = options;
		this.#following = new Rounds({
			clock,
			round: () => this.#follow(),
			failed: (error) => log("what other gateways have done cannot be read right now", error),
		});
		this.#burying = new Rounds({
			clock,
			round: async () => {
				await takeOver();
				return null;
			},
			failed: (error) => log("the work of a gateway that died cannot be taken over yet", error),
		});
	}

	async start(): Promise<void> {
		const { cluster } = this.#options.store;
		if (!cluster) return;
		await this.#follow();
		this.#following.wait();
		this.#burying.wait();
		const unlisten = [
			cluster.onCommitElsewhere(() => this.#following.look()),
			cluster.onNodeDead(() => this.#burying.look()),
			// A turn that runs without a lease may be run by another node, too.
			cluster.onLease((holds) => {
				if (holds) this.#options.lookForUnheard();
				else this.#options.lanes.loseAll();
			}),
		];
		this.#unlisten = () => {
			for (const end of unlisten) end();
		};
	}

	async stop(): Promise<void> {
		this.#unlisten();
		await Promise.all([this.#following.stop(), this.#burying.stop()]);
	}

	async #follow(): Promise<null> {
		const { store, lanes, refresh } = this.#options;
		for (;;) {
			const page = await store.events({ scope: OPERATOR, after: this.#cursor, limit: AT_ONCE });
			this.#cursor = page.cursor;
			if (page.kind === "resync") break;
			const waiting = new Set<ConversationId>();
			for (const { type, conversation, turn } of page.events) {
				if (conversation === null || !lanes.has(conversation)) continue;
				if (type === "inbound.accepted") waiting.add(conversation);
				if (type === "turn.ended" && turn !== null) lanes.loseUnlessEnding(conversation, turn);
			}
			for (const conversation of waiting) await refresh(conversation);
			if (page.events.length < AT_ONCE) break;
		}
		return null;
	}
}
