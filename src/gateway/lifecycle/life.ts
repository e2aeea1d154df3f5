// How far a gateway is in its life: whether it accepts, whether its end has begun, and the work that its end waits for. The parts of a
// gateway share one. It starts and stops nothing itself.
import { KeryxError } from "../../errors.ts";

export class GatewayLife {
	/** When Keryx last did anything before this start; null: never. */
	awaySince: number | null = null;
	#accepting = false;
	#stopping = new AbortController();
	readonly #working = new Set<Promise<void>>();

	/** Aborted when the end begins. Read per use: a start replaces it. */
	get stopping(): AbortSignal {
		return this.#stopping.signal;
	}

	get isAccepting(): boolean {
		return this.#accepting;
	}

	begin(): void {
		this.#stopping = new AbortController();
	}

	accept(): void {
		this.#accepting = true;
	}

	beginEnd(): void {
		this.#accepting = false;
		this.#stopping.abort();
	}

	/** Throws gateway.stopped. */
	assertAccepting(): void {
		if (!this.#accepting)
			throw new KeryxError("gateway.stopped", "Keryx is not accepting messages right now");
	}

	/** Work next to everything else. The shutdown waits for started work. */
	track(work: Promise<void>): void {
		this.#working.add(work);
		void work.finally(() => this.#working.delete(work));
	}

	/** Resolves when all work that is tracked now has ended. */
	async untilDone(): Promise<void> {
		await Promise.all(this.#working);
	}
}
