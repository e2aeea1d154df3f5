// What the child says over its pipe, one line each, and only after the operation's promise resolved.
import type { ConversationId, SessionId } from "../../src/domain/index.ts";

/** What the child is told: as JSON in its one argument. */
export interface Orders {
	readonly path: string;
	/** Counts the children; texts and message ids are made of it, so that none is ever made twice. */
	readonly run: number;
	readonly seed: number;
	/** Tokens of children that were killed: each is tried again, and must be refused. */
	readonly stale: readonly Token[];
}

export interface Token {
	readonly turn: string;
	readonly token: number;
}

export interface AckedRow {
	readonly id: number;
	readonly session: SessionId;
	readonly seq: number;
	readonly text: string;
}

/** An event that must be in the log once for each time it was acknowledged. */
export interface AckedEvent {
	readonly type: string;
	readonly conversation: ConversationId;
	readonly turn?: string;
	readonly subject?: string | number;
}

export type Ack =
	| { readonly op: "starting" }
	| { readonly op: "opened"; readonly epoch: number }
	| { readonly op: "refused"; readonly turn: string; readonly code: string | null }
	| {
			readonly op: "accepted";
			readonly inbox: number;
			readonly platformMessage: string;
			readonly conversation: ConversationId;
			readonly duplicate: boolean;
	  }
	| ({ readonly op: "holds" } & Token)
	| { readonly op: "rows"; readonly rows: readonly AckedRow[] }
	| {
			readonly op: "ended";
			readonly turn: string;
			readonly state: string;
			readonly deliveries: readonly string[];
	  }
	| { readonly op: "settled"; readonly delivery: string; readonly state: string }
	| { readonly op: "happened"; readonly events: readonly AckedEvent[] }
	| { readonly op: "failed"; readonly message: string };

/** A small generator of numbers in [0, 1), so that a run can be repeated by its seed. */
export function randomBy(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
