// The client's interface, call by call.
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
	/** Reconnected; nothing was missed. */
	| { readonly kind: "lost" | "restored" };

export interface FollowInput {
	/** Absent: only new events. */
	readonly after?: string;
	readonly conversation?: string;
	readonly signal: AbortSignal;
}

/** The plain calls. `Client` adds combinations. */
export interface CallingClient extends Calls {
	/** Events from a cursor on, across reconnects and restarts of Keryx, each once, until the signal. */
	follow(input: FollowInput): AsyncGenerator<Followed>;
	/** The lines of an export, as they arrive. */
	export(input: {
		readonly session?: string;
		readonly conversation?: string;
		readonly format?: "jsonl" | "markdown";
	}): AsyncGenerator<Uint8Array>;
	import(body: AsyncIterable<Uint8Array>, origin?: string): Promise<Readonly<Record<string, number>>>;
	/** A call of the confirmations' family: /confirm, /audit, /grants. Returns the answer unchanged, including refusals. */
	confirm(
		method: "GET" | "POST" | "DELETE",
		path: string,
		body?: unknown,
		signal?: AbortSignal,
	): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}
