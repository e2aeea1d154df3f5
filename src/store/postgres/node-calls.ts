// Questions from one gateway to another on the same store, and their answers, in pieces small enough for the database to pass on. Nothing is
// promised: if a piece gets lost, the caller gets an error instead of an answer.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type ErrorCode, KeryxError } from "../../errors.ts";
import type { Clock } from "../../time/index.ts";
import { BROADCAST_BYTES, type Cluster } from "../engine.ts";

/** In UTF-16 units; shorter if that is too many bytes. */
const PIECE = 2500;
/** For the number of the node that tells. */
const PREFIX_BYTES = 40;
/** A longer answer might not be passed on whole. */
const MOST_PIECES = 90;

const nodeMessage = z.union([
	z.tuple([z.literal("ask"), z.string(), z.int(), z.string(), z.unknown()]),
	z.tuple([z.literal("answer"), z.string(), z.int(), z.int(), z.string()]),
]);
const answered = z.union([
	z.object({ value: z.unknown() }),
	z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
]);

type Handler = (given: unknown) => Promise<unknown>;

interface Asked {
	readonly pieces: string[];
	readonly resolve: (text: string) => void;
}

export interface NodeCallsOptions {
	readonly cluster: Pick<Cluster, "broadcast" | "onBroadcast">;
	/** This node's epoch. */
	readonly epoch: number;
	readonly clock: Pick<Clock, "after">;
}

export class NodeCalls {
	readonly #options: NodeCallsOptions;
	readonly #handlers = new Map<string, Handler>();
	readonly #asked = new Map<string, Asked>();

	constructor(options: NodeCallsOptions) {
		this.#options = options;
		options.cluster.onBroadcast((text) => this.#hear(text));
	}

	/** Answers what other nodes ask by this name. */
	answer(name: string, handler: Handler): void {
		this.#handlers.set(name, handler);
	}

	/** Throws the error that the other node met, or gateway.silent. */
	async ask(node: number, name: string, given: unknown, ms: number): Promise<unknown> {
		const { cluster, clock } = this.#options;
		const id = randomUUID();
		const { promise, resolve } = Promise.withResolvers<string | null>();
		this.#asked.set(id, { pieces: [], resolve });
		const cancel = clock.after(ms, () => resolve(null));
		cluster.broadcast(JSON.stringify(["ask", id, node, name, given]));
		const text = await promise;
		cancel();
		this.#asked.delete(id);
		if (text === null) throw new KeryxError("gateway.silent", "the other gateway does not answer");
		const outcome = answered.parse(JSON.parse(text));
		if ("value" in outcome) return outcome.value;
		const { code, message, hint } = outcome.error;
		throw new KeryxError(code as ErrorCode, message, { hint });
	}

	#hear(text: string): void {
		const { data } = nodeMessage.safeParse(parsed(text));
		if (!data) return;
		if (data[0] === "ask") {
			const [, id, node, name, given] = data;
			const handler = this.#handlers.get(name);
			if (node === this.#options.epoch && handler) void this.#serve(id, handler, given);
			return;
		}
		const [, id, at, of, piece] = data;
		const asked = this.#asked.get(id);
		// Pieces come in order: after a lost one the rest is worthless.
		if (asked?.pieces.length !== at) return;
		asked.pieces.push(piece);
		if (asked.pieces.length === of) asked.resolve(asked.pieces.join(""));
	}

	async #serve(id: string, handler: Handler, given: unknown): Promise<void> {
		const outcome = await handler(given).then(
			(value) => ({ value: value ?? null }),
			(error: unknown) => ({ error: toError(error) }),
		);
		const pieces = piecesOf(JSON.stringify(outcome));
		if (pieces.length > MOST_PIECES) return;
		pieces.forEach((piece, at) => {
			this.#options.cluster.broadcast(JSON.stringify(["answer", id, at, pieces.length, piece]));
		});
	}
}

function toError(error: unknown): { code: string; message: string; hint: string } {
	const { code, message, hint } =
		error instanceof KeryxError ? error : new KeryxError("gateway.silent", "the other gateway failed");
	return { code, message, hint };
}

function piecesOf(text: string): string[] {
	const pieces: string[] = [];
	for (let at = 0; at < text.length; ) {
		let piece = text.slice(at, at + PIECE);
		while (
			Buffer.byteLength(JSON.stringify(["answer", randomUUID(), 0, 0, piece])) >
			BROADCAST_BYTES - PREFIX_BYTES
		)
			piece = piece.slice(0, Math.ceil(piece.length / 2));
		pieces.push(piece);
		at += piece.length;
	}
	return pieces;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
