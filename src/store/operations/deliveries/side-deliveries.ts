// Messages outside a conversation's transcript: notices, answers to commands, and replies of failed turns.
import type { ConversationId } from "../../../domain/index.ts";
import { all, type Op, sql } from "../../query.ts";
import type { Delivery, Scope } from "../../types.ts";
import { assertSees } from "../people/scope.ts";
import { DELIVERY_COLUMNS, type DeliveryRow, toDelivery } from "./row.ts";

export type SideDeliveryKind = "notice" | "command" | "failure";

/** The condition on both kinds matches the index: without it, neither engine would use it. */
const ofKind = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries
	WHERE conversation = ? AND kind = ? AND kind IN ('notice', 'command') AND n < ? ORDER BY n DESC LIMIT ?`,
);
/** `+n` keeps SQLite from walking through every delivery: those of the turns are found, then sorted. */
const failures = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries
	WHERE turn IN (SELECT id FROM turns WHERE conversation = ? AND state = 'failed')
	AND kind = 'reply' AND +n < ? ORDER BY +n DESC LIMIT ?`,
);

/** The last ones before a number, in order. */
export function* sideDeliveries(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly kinds: readonly SideDeliveryKind[];
	readonly before?: number;
	readonly limit: number;
}): Op<readonly Delivery[]> {
	const { conversation, kinds, before = Number.MAX_SAFE_INTEGER, limit } = args;
	yield* assertSees(args.scope, conversation, `conversation ${conversation}`);
	const found: DeliveryRow[] = [];
	for (const kind of new Set(kinds))
		found.push(
			...(kind === "failure"
				? yield* all(failures, conversation, before, limit)
				: yield* all(ofKind, conversation, kind, before, limit)),
		);
	return found
		.sort((a, b) => a.n - b.n)
		.slice(-limit)
		.map(toDelivery);
}
