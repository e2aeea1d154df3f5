// Sends streaming text to pages connected to other gateways, a few pieces a second, and only while someone follows there. Delivery is not
// promised: a piece may be lost, and the events bring the row of the finished message.
import { z } from "zod";
import { BROADCAST_BYTES, type Cluster } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Deltas, RelayedDelta } from "../turn/deltas.ts";

/** Minimum time between two pieces of a turn. */
const EVERY_MS = 50;
/** How often a gateway with followers announces it, and how long the announcement is valid. */
const ASK_MS = 3000;
const BELIEVED_MS = 8000;
/** In UTF-16 units; shorter if it would be too many bytes. */
const PIECE = 2500;

const wireMessage = z.union([
	z.literal("follow"),
	z.literal("leave"),
	z.tuple([z.string(), z.string(), z.int(), z.int(), z.int(), z.string()]),
]);

export interface TextRelayOptions {
	readonly cluster: Pick<Cluster, "broadcast" | "onBroadcast">;
	readonly clock: Pick<Clock, "monotonic" | "after">;
	readonly deltas: Deltas;
}

export class TextRelay {
	readonly #options: TextRelayOptions;
	/** How long each gateway wants text, by epoch. */
	readonly #followers = new Map<number, number>();
	/** Text that waits to be sent, by turn, in order. */
	readonly #waiting = new Map<string, RelayedDelta[]>();
	#isPacing = false;
	#cancelPace = () => {};
	#cancelAsk = () => {};
	#unlisten = () => {};

	constructor(options: TextRelayOptions) {
		this.#options = options;
	}

	start(): void {
		const { cluster, deltas } = this.#options;
		const unlisten = [
			cluster.onBroadcast((text, from) => this.#hear(text, from)),
			deltas.onOwn((delta) => this.#add(delta)),
			deltas.onEnding((turn) => this.#tellRest(turn)),
			deltas.onFollowed((isFollowed) => this.#ask(isFollowed)),
		];
		this.#unlisten = () => {
			for (const end of unlisten) end();
		};
	}

	stop(): void {
		this.#unlisten();
		this.#cancelAsk();
		this.#cancelPace();
		this.#waiting.clear();
	}

	#ask(isFollowed: boolean): void {
		const { cluster, clock } = this.#options;
		this.#cancelAsk();
		cluster.broadcast(JSON.stringify(isFollowed ? "follow" : "leave"));
		if (isFollowed) this.#cancelAsk = clock.after(ASK_MS, () => this.#ask(true));
	}

	#hear(text: string, from: number): void {
		const { deltas, clock } = this.#options;
		const { data } = wireMessage.safeParse(parsed(text));
		if (data === undefined) return;
		if (data === "leave") this.#followers.delete(from);
		else if (data === "follow") {
			const isNew = !this.#isFollowed(from);
			this.#followers.set(from, clock.monotonic() + BELIEVED_MS);
			if (isNew) this.#tellAll();
		} else {
			const [conversation, turn, token, index, offset, piece] = data;
			deltas.hear({ conversation, turn, token, index, offset, text: piece });
		}
	}

	/** A new follower gets the text so far; others already have it. */
	#tellAll(): void {
		for (const [conversation, { turn, token, index, text }] of this.#options.deltas.own())
			this.#waiting.set(turn, [{ conversation, turn, token, index, offset: 0, text }]);
		this.#pace();
	}

	#isFollowed(epoch: number): boolean {
		return (this.#followers.get(epoch) ?? 0) > this.#options.clock.monotonic();
	}

	#add(delta: RelayedDelta): void {
		for (const epoch of this.#followers.keys()) if (!this.#isFollowed(epoch)) this.#followers.delete(epoch);
		if (this.#followers.size === 0) return;
		const waiting = this.#waiting.get(delta.turn) ?? [];
		const last = waiting.at(-1);
		if (last?.index === delta.index) waiting[waiting.length - 1] = { ...last, text: last.text + delta.text };
		else waiting.push(delta);
		this.#waiting.set(delta.turn, waiting);
		this.#pace();
	}

	/** The first piece is sent at once, later ones of the same turn after a pause. */
	#pace(): void {
		if (this.#isPacing || this.#waiting.size === 0) return;
		this.#isPacing = true;
		for (const [turn, waiting] of this.#waiting) if (!this.#tellNext(waiting)) this.#waiting.delete(turn);
		this.#cancelPace = this.#options.clock.after(EVERY_MS, () => {
			this.#isPacing = false;
			this.#pace();
		});
	}

	/** Sent at once: after the end nobody waits for more. */
	#tellRest(turn: string): void {
		const waiting = this.#waiting.get(turn) ?? [];
		while (this.#tellNext(waiting));
		this.#waiting.delete(turn);
	}

	/** True if more waits. */
	#tellNext(waiting: RelayedDelta[]): boolean {
		const [first] = waiting;
		if (!first) return false;
		const { message, length } = pieceOf(first);
		this.#options.cluster.broadcast(message);
		if (length === first.text.length) waiting.shift();
		else waiting[0] = { ...first, offset: first.offset + length, text: first.text.slice(length) };
		return waiting.length > 0;
	}
}

/** As much as fits into one broadcast. A split surrogate pair is joined again by the receiver. */
function pieceOf({ conversation, turn, token, index, offset, text }: RelayedDelta): {
	message: string;
	length: number;
} {
	for (let length = Math.min(text.length, PIECE); ; length = Math.ceil(length / 2)) {
		const message = JSON.stringify([conversation, turn, token, index, offset, text.slice(0, length)]);
		if (length <= 1 || Buffer.byteLength(message) <= BROADCAST_BYTES - PREFIX_BYTES)
			return { message, length };
	}
}

/** Space for the sender's number. */
const PREFIX_BYTES = 40;

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
