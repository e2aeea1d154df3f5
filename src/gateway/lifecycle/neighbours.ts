// The other gateways on the same store. Their commits are read from the events: new messages for a conversation that runs, was answered last
// or has programs here, and ends of turns that run here. The work of a dead gateway is taken over. Without other gateways nothing is read.
import type { ConversationId } from "../../domain/index.ts";
import { OPERATOR, type Store, type StoreEvent } from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { LastAnswered } from "../lanes/last-answered.ts";

const AT_ONCE = 500;
const HOMES = /^home\./;

export interface NeighboursOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly lanes: Lanes;
	readonly lastAnswered: LastAnswered;
	/** Adds waiting messages of a conversation to its lane. */
	readonly refresh: (conversation: ConversationId) => Promise<void>;
	/** Messages that were accepted here but are in no lane. */
	readonly lookForUnheard: () => void;
	/** A turn has ended, wherever it ran. */
	readonly turnEnded: (conversation: ConversationId, turn: string) => void;
	/** A home channel may have been set at another gateway. */
	readonly readHomes: () => Promise<void>;
	/** Disconnects from platforms. */
	readonly letGo: () => void;
	/** Takes over the work of dead nodes. */
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
		// Changes made before the first read appear in no event.
		await this.#options.readHomes();
		this.#following.wait();
		this.#burying.wait();
		const unlisten = [
			cluster.onCommitElsewhere(() => this.#following.look()),
			cluster.onNodeDead(() => this.#burying.look()),
			// Another node may also run a turn whose lease has expired.
			cluster.onLease((holds) => {
				if (holds) {
					this.#options.lookForUnheard();
					// Its channels, too, unless another gateway has them by now.
					this.#burying.look();
				} else {
					this.#options.lanes.loseAll();
					this.#options.letGo();
				}
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
		const { store, lanes, lastAnswered, refresh, turnEnded, readHomes } = this.#options;
		for (;;) {
			const page = await store.events({ scope: OPERATOR, after: this.#cursor, limit: AT_ONCE });
			if (page.kind === "resync" || page.events.some(({ type }) => HOMES.test(type))) await readHomes();
			this.#cursor = page.cursor;
			if (page.kind === "resync") break;
			const waiting = new Set<ConversationId>();
			const held = await this.#withPrograms(page.events);
			for (const { type, conversation, turn } of page.events) {
				if (conversation === null) continue;
				const ended = type === "turn.ended" ? turn : null;
				if (ended !== null) turnEnded(conversation, ended);
				// Messages that were left to the gateway with their programs may now start anywhere.
				if (type === "process.ended") waiting.add(conversation);
				if (type === "inbound.accepted" && (held.has(conversation) || lastAnswered.isHere(conversation)))
					waiting.add(conversation);
				if ((type === "turn.begun" || type === "turn.resumed") && turn !== null)
					lastAnswered.heard(conversation, turn);
				if (!lanes.has(conversation)) continue;
				if (type === "inbound.accepted") waiting.add(conversation);
				if (ended !== null) lanes.loseUnlessEnding(conversation, ended);
			}
			for (const conversation of waiting) await refresh(conversation);
			if (page.events.length < AT_ONCE) break;
		}
		return null;
	}

	/** Conversations with programs here: other gateways leave their messages to this one. */
	async #withPrograms(events: readonly StoreEvent[]): Promise<ReadonlySet<ConversationId>> {
		const { store } = this.#options;
		if (!events.some(({ type }) => type === "inbound.accepted")) return new Set();
		return new Set(await store.conversationsWithPrograms({ scope: OPERATOR, node: store.epoch }));
	}
}
