// Durable message rounds through Keryx: accept, begin a turn (one message), end it (another, and a delivery), claim and settle
// the delivery. So many conversations at once; the outbox claims what is due together, as a gateway's does.

import { performance } from "node:perf_hooks";
import { resolvePolicy } from "../src/config/index.ts";
import type { ConversationId } from "../src/domain/index.ts";
import type { Store } from "../src/store/index.ts";
import { PLATFORM, REPLY, ROUTING, sourceOf, TEXT } from "./store-data.ts";

/** Which conversation a lane speaks in next. */
export type Pick = (lane: number) => number;

export const LANES = 64;
const policy = resolvePolicy({ mode: "idle", max_messages: 0 }, { platform: PLATFORM, chatType: "dm" });

export class KeryxRounds {
	readonly #store: Store;
	readonly #platform: string;
	readonly #elsewhere: readonly { readonly platform: string; readonly account: string }[];
	readonly #sent = new Map<string, () => void>();
	#said = 0;
	#claiming = false;
	#due = false;

	/** Of several nodes on a store each holds a platform; what is for the others' is sent by them. */
	constructor(
		store: Store,
		{ platform = PLATFORM, others = [] }: { platform?: string; others?: readonly string[] } = {},
	) {
		this.#store = store;
		this.#platform = platform;
		this.#elsewhere = others.map((other) => ({ platform: other, account: "" }));
	}

	/** Rounds a second, over so many milliseconds. */
	async rate(pick: Pick, ms: number, lanes = LANES): Promise<number> {
		const began = performance.now();
		let rounds = 0;
		const lane = async (n: number): Promise<void> => {
			while (performance.now() - began < ms) {
				await this.round(pick(n));
				rounds++;
			}
		};
		await Promise.all(Array.from({ length: lanes }, (_, n) => lane(n)));
		return (rounds / (performance.now() - began)) * 1000;
	}

	/** One round in the nth conversation. */
	async round(n: number): Promise<void> {
		const store = this.#store;
		const { conversation, id } = await store.accept({
			kind: "person",
			source: { ...sourceOf(n), platform: this.#platform },
			platformMessage: `${process.pid} ${store.epoch} ${++this.#said}`,
			content: TEXT,
			routing: ROUTING,
			as: { kind: "accept" },
		});
		const begun = await store.beginTurn({
			conversation: conversation as ConversationId,
			inbox: [id],
			policy,
			context: "You are Keryx.",
			autoContinueFreshness: 3600,
			deadlineAt: Date.now() + 600_000,
		});
		if (begun.kind !== "begun") throw new Error(`the turn did not begin: ${begun.kind}`);
		const { turn, token, destination, nextIndex } = begun;
		const delivery = `${turn}:1`;
		const sent = new Promise<void>((resolve) => this.#sent.set(delivery, resolve));
		await store.endTurn({
			turn,
			token,
			outcome: { kind: "completed" },
			messages: [{ role: "assistant", content: REPLY, index: nextIndex }],
			deliveries: [{ id: delivery, kind: "reply", destination, body: { text: REPLY, plain: REPLY } }],
			policy,
		});
		void this.#sendAll();
		await sent;
	}

	/** One look at a time; what becomes due meanwhile is claimed by the next one. */
	async #sendAll(): Promise<void> {
		this.#due = true;
		if (this.#claiming) return;
		this.#claiming = true;
		while (this.#due) {
			this.#due = false;
			const { deliveries } = await this.#store.claimDeliveries({
				limit: LANES,
				timeoutMs: 60_000,
				elsewhere: this.#elsewhere,
			});
			if (deliveries.length === LANES) this.#due = true;
			for (const { n, id, claim } of deliveries) void this.#send(id, claim, `r${n}`);
		}
		this.#claiming = false;
	}

	async #send(id: string, claim: string, receipt: string): Promise<void> {
		await this.#store.settleDelivery({ id, claim, settlement: { kind: "sent", receipt } });
		this.#sent.get(id)?.();
		this.#sent.delete(id);
	}
}
