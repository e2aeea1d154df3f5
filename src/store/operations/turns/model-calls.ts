// One row per model call, written when it ends, however it ends; the session's counters change in the same transaction.
import { type Context, get, type Op, run, sql } from "../../query.ts";
import { emit } from "../events.ts";
import { findConversation } from "../sessions/sessions.ts";
import { heldTurn, type TurnRow } from "./row.ts";

export interface ModelCallArgs extends ModelCall {
	readonly turn: string;
	readonly token: number;
}

export interface ModelCall {
	/** Counts the calls of a turn from 1; a repeated write of the same n changes nothing. */
	readonly n: number;
	readonly provider: string;
	readonly model: string;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** The part of the input from the provider's cache, if known. */
	readonly cachedInputTokens?: number;
	/** In millionths of the currency; null if no price is known. */
	readonly costMicros: number | null;
	readonly currency: string;
	readonly status: "ok" | "error" | "aborted";
	/** Not a step of the conversation: its prompt says nothing about the conversation's. */
	readonly aside?: boolean;
}

const insertCall = sql<{ n: number }>(
	`INSERT INTO model_calls (turn, n, principal, profile, provider, model, input_tokens, output_tokens, cached_tokens, cost_micros, currency, status, ended_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, n) DO NOTHING RETURNING n`,
);
const addUsage = sql(
	`UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, last_prompt_tokens = coalesce(CAST(? AS BIGINT), last_prompt_tokens),
		cost_micros = cost_micros + ?,
		cost_status = CASE WHEN cost_status = 'none' THEN ? WHEN cost_status = ? THEN cost_status ELSE 'partial' END
	WHERE key = ?`,
);

export function* recordModelCall(context: Context, args: ModelCallArgs): Op<void> {
	yield* addModelCall(context, yield* heldTurn(context, args.turn, args.token), args);
}

/** The caller must hold the turn. */
export function* addModelCall(
	context: Context,
	turn: Pick<TurnRow, "id" | "conversation" | "session" | "principal">,
	args: ModelCall,
): Op<void> {
	const { profile } = yield* findConversation(turn.conversation);
	const written = yield* get(
		insertCall,
		turn.id,
		args.n,
		turn.principal,
		profile,
		args.provider,
		args.model,
		args.inputTokens,
		args.outputTokens,
		args.cachedInputTokens ?? 0,
		args.costMicros,
		args.currency,
		args.status,
		context.now,
	);
	if (!written) return;
	const status = args.costMicros === null ? "unknown" : "known";
	yield* run(
		addUsage,
		args.inputTokens,
		args.outputTokens,
		args.aside || args.status !== "ok" ? null : args.inputTokens,
		args.costMicros ?? 0,
		status,
		status,
		turn.session,
	);
	yield* emit(
		context,
		"model.called",
		{ conversation: turn.conversation, turn: turn.id },
		{ n: args.n, status: args.status },
	);
}
