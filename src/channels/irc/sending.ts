// Sent messages, and the server's answers. A server answers in order: an error before the answer to the PING after a message is about
// that message, and that answer proves that the message was accepted (I7). If the server echoes, the echo is the proof.
import type { SendResult } from "../../gateway/index.ts";
import { folded, formatLine, type Message } from "./wire.ts";

interface Flight {
	readonly target: string;
	readonly token: string;
	readonly settle: (result: SendResult) => void;
}

/** "Try again": the server is busy, or the target changes too fast. It names no time. */
const LATER = new Set(["263", "439"]);
const LATER_MS = 30_000;

export class Sending {
	readonly #flights: Flight[] = [];
	/** Distinguishes receipts of one connection from another's. */
	readonly #connection: string;
	#sent = 0;

	constructor(connection: string) {
		this.#connection = connection;
	}

	get underWay(): number {
		return this.#flights.length;
	}

	/** `write` returns false if nothing was written. */
	send(
		{ target, text, echoes }: { readonly target: string; readonly text: string; readonly echoes: boolean },
		write: (...lines: readonly string[]) => boolean,
	): Promise<SendResult> {
		const token = `${this.#connection}-${++this.#sent}`;
		const lines = [formatLine("PRIVMSG", [target, text]), ...(echoes ? [] : [formatLine("PING", [token])])];
		return new Promise((settle) => {
			if (write(...lines)) this.#flights.push({ target: folded(target), token, settle });
			else settle({ kind: "retry", reason: "the connection to the server was lost" });
		});
	}

	/** Our own message came back. */
	echoed(target: string, id: string | undefined): void {
		const flight = this.#flights.find((one) => one.target === folded(target));
		if (flight) this.#settle(flight, { kind: "sent", receipt: id ?? flight.token });
	}

	/** A PONG. False: it answers something else. */
	answered(token: string): boolean {
		const flight = this.#flights.find((one) => one.token === token);
		if (flight) this.#settle(flight, { kind: "sent", receipt: token });
		return flight !== undefined;
	}

	/** A server error, as a number or in words. */
	refused({ command, params }: Message): void {
		const [first] = this.#flights;
		const named = params.map(folded);
		const flight = this.#flights.find(({ target }) => named.includes(target)) ?? first;
		if (!flight) return;
		// About something else: a nick, a channel to join.
		if (!named.includes(flight.target) && !named.includes("privmsg") && !isAboutText(command)) return;
		const reason = params.at(-1) ?? command;
		if (LATER.has(command)) this.#settle(flight, { kind: "retry", afterMs: LATER_MS, reason });
		else if (command === "401")
			this.#settle(flight, { kind: "retry", reason: `${flight.target} is not there: ${reason}` });
		else this.#settle(flight, { kind: "refused", reason });
	}

	/** The connection is gone. */
	lost(reason: string): void {
		for (const flight of [...this.#flights]) this.#settle(flight, { kind: "unknown", reason });
	}

	#settle(flight: Flight, result: SendResult): void {
		this.#flights.splice(this.#flights.indexOf(flight), 1);
		flight.settle(result);
	}
}

/** No text to send, and a too long line: these name no target. */
function isAboutText(command: string): boolean {
	return command === "412" || command === "417";
}
