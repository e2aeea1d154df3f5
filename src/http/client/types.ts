// What a client offers, call by call.
import type { Answer, CallInput, EndpointName } from "../endpoints.ts";
import type { WireDelta, WireEvent } from "../schemas.ts";

export type Calls = {
	readonly [Name in EndpointName]: (
		...args: Record<never, never> extends CallInput<Name>
			? [input?: CallInput<Name>]
			: [input: CallInput<Name>]
	) => Promise<Answer<Name>>;
};

export type Followed =
	| { readonly kind: "event"; readonly event: WireEvent }
	| { readonly kind: "delta"; readonly delta: WireDelta }
	| { readonly kind: "resync"; readonly cursor: string }
	/** The connection was cut, and stands again; nothing is missed in between. */
	| { readonly kind: "lost" | "restored" };

export interface FollowInput {
	/** Left out: only what comes. */
	readonly after?: string;
	readonly conversation?: string;
	readonly signal: AbortSignal;
}

/** The calls themselves. `Client` adds what is made of several. */
export interface CallingClient extends Calls {
	/** Events from a cursor on, across cuts and restarts of Keryx, each once, until the signal. */
	follow(input: FollowInput): AsyncGenerator<Followed>;
	/** The lines of an export, as they come. */
	export(input: {
		readonly session?: string;
		readonly conversation?: string;
		readonly format?: "jsonl" | "markdown";
	}): AsyncGenerator<Uint8Array>;
	import(body: AsyncIterable<Uint8Array>, origin?: string): Promise<Readonly<Record<string, number>>>;
	/** A call of the confirmations' own family: /confirm, /audit, /grants. What it answers is given as it is, refusals too. */
	confirm(
		method: "GET" | "POST" | "DELETE",
		path: string,
		body?: unknown,
		signal?: AbortSignal,
	): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}
