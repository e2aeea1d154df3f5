// Sent messages, and what became of them. A private message is proven by the server's count of what it has handled, one to a room by its
// echo (I7). A cut connection decides nothing: the session that continues says what arrived.
import type { SendResult } from "../../gateway/index.ts";
import type { StanzaError } from "./stream/session.ts";

export interface Flight {
	/** Of the stanza, and the receipt. */
	readonly id: string;
	/** Without the resource. */
	readonly to: string;
	readonly isRoom: boolean;
	/** Its number among our stanzas; 0: they are not counted. */
	readonly number: number;
}

interface Flying extends Flight {
	readonly receipt: string;
	readonly settle: (result: SendResult) => void;
}

const LATER_MS = 30_000;
/** Nothing is known to be wrong with the message. */
const PASSING: ReadonlySet<string> = new Set([
	"remote-server-not-found",
	"remote-server-timeout",
	"internal-server-error",
	"resource-constraint",
]);

export class Sending {
	readonly #flights = new Map<string, Flying>();

	get underWay(): number {
		return this.#flights.size;
	}

	fly(flight: Flight, receipt: string): Promise<SendResult> {
		return new Promise((settle) => this.#flights.set(flight.id, { ...flight, receipt, settle }));
	}

	/** The server has handled so many of our stanzas. A room may still refuse. */
	handled(count: number): void {
		for (const flight of [...this.#flights.values()])
			if (!flight.isRoom && flight.number > 0 && flight.number <= count) this.arrived(flight.id);
	}

	/** It is certain that it arrived. */
	arrived(id: string): void {
		const flight = this.#flights.get(id);
		if (flight) this.#settle(flight, { kind: "sent", receipt: flight.receipt });
	}

	/** Whether an error was about one of these messages. */
	refused(id: string, from: string, error: StanzaError): boolean {
		const flight = this.#flights.get(id);
		if (flight?.to !== from) return false;
		const { type, condition, message: reason } = error;
		// The room does not know us: it was restarted, and we join again.
		if (flight.isRoom && condition === "not-acceptable")
			this.#settle(flight, { kind: "retry", afterMs: 500, reason: `not in ${from} yet` });
		else if (type === "wait") this.#settle(flight, { kind: "retry", afterMs: LATER_MS, reason });
		else if (PASSING.has(condition)) this.#settle(flight, { kind: "retry", reason });
		else this.#settle(flight, { kind: "refused", reason });
		return true;
	}

	/** The previous session handled this many: later ones did not arrive and never will. */
	continued(count: number): void {
		this.handled(count);
		for (const flight of [...this.#flights.values()])
			if (flight.number > count)
				this.#settle(flight, { kind: "retry", reason: "the connection was lost before the server had it" });
	}

	/** It took too long, or the session is gone. */
	unknown(reason: string, id?: string): void {
		for (const flight of [...this.#flights.values()])
			if (id === undefined || flight.id === id) this.#settle(flight, { kind: "unknown", reason });
	}

	#settle(flight: Flying, result: SendResult): void {
		this.#flights.delete(flight.id);
		flight.settle(result);
	}
}
