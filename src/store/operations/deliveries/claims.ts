// Claims: a delivery is handed to one sender at a time, per destination in commit order (I19). After the sender's death its outcome is
// unknown, and it is not sent again by itself (I7).
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Delivery, Destination } from "../../types.ts";
import { NODE_LIVES } from "../nodes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryRow, toDelivery } from "./row.ts";
import { type Settlement, settleRow } from "./settling.ts";

/** Condition: the text, a list of channels between bars, does not contain the delivery's. */
const NOT_NAMED = "replace(CAST(? AS TEXT), '|' || platform || ' ' || account || '|', '') = CAST(? AS TEXT)";
/** Excludes channels that can send nothing now, and those of another node. */
const due = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE first_at IS NOT NULL AND first_at <= ? AND state IN ('pending', 'unknown')
		AND (state = 'unknown' OR ${NOT_NAMED}) AND ${NOT_NAMED} ORDER BY first_at, n LIMIT ?`,
);
const claimRow = sql(
	"UPDATE deliveries SET state = 'sending', claim = ?, attempts = attempts + 1, due_at = ?, first_at = ? WHERE n = ?",
);
const claimAsking = sql("UPDATE deliveries SET claim = ?, due_at = ?, first_at = ? WHERE n = ?");
const OF_EARLIER = `claim NOT LIKE ?
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE ${NODE_LIVES} AND deliveries.claim LIKE n.epoch || ':%')`;
/** `+n`: finds the unfinished ones, then sorts; avoids a walk through every delivery. */
const sendingOfEarlier = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE due_at IS NOT NULL AND state = 'sending' AND ${OF_EARLIER} ORDER BY +deliveries.n`,
);
const askedByEarlier = sql(
	`UPDATE deliveries SET claim = NULL, due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at IS NOT NULL AND state = 'unknown' AND ${OF_EARLIER}`,
);
const setDue = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE id = ? AND due_at IS NOT NULL AND state IN ('pending', 'unknown')`,
);
/** Excludes unknown ones: they would be looked up twice. */
const pullForward = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at > ? AND state = 'pending'`,
);
/** Dated by a clock that was set back while nothing ran. */
const fromTheFuture = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at > ? AND created_at > ? AND state IN ('pending', 'unknown')`,
);
/** A preview is claimed by its turn, and counts no attempts. */
const claimedNow = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE first_at IS NOT NULL AND state = 'sending' AND attempts > 0 AND claim LIKE ?`,
);
/** Deliveries behind another one are not next, however long they have been due. */
const nextDueAt = sql<{ first_at: number }>(
	`SELECT first_at FROM deliveries WHERE first_at IS NOT NULL AND state IN ('pending', 'unknown') AND ${NOT_NAMED} ORDER BY first_at LIMIT 1`,
);

/** How many messages a channel can send now. */
export interface Room {
	readonly platform: string;
	readonly account: string;
	readonly free: number;
}

/**
 * Due deliveries, only the first per destination: marked as sending, or still unknown and to be looked up (`recordLookup`). One that is
 * not looked up in time is handed out again.
 */
export function* claimDeliveries(
	context: Context,
	args: {
		readonly limit: number;
		readonly timeoutMs: number;
		/** Channels with limited capacity. Claiming more would leave unknown outcomes after a crash. */
		readonly rooms?: readonly Room[];
		/** Channels of another node, which sends their deliveries. */
		readonly elsewhere?: readonly Pick<Room, "platform" | "account">[];
	},
): Op<{ deliveries: readonly (Delivery & { readonly claim: string })[]; nextDueAt: number | null }> {
	// Short, because a row that grows splits its page. This end of an id is random.
	const claim = `${context.epoch}:${context.uuid().slice(-12)}`;
	const until = context.now + args.timeoutMs;
	const deliveries: (Delivery & { readonly claim: string })[] = [];
	const free = new Map((args.rooms ?? []).map((room) => [`${room.platform} ${room.account}`, room.free]));
	const full = [...free].map(([channel, left]) => (left > 0 ? "" : `|${channel}|`)).join("");
	const elsewhere = (args.elsewhere ?? []).map((one) => `|${one.platform} ${one.account}|`).join("");
	for (const row of yield* all(due, context.now, full, full, elsewhere, elsewhere, args.limit)) {
		const { platform, account } = JSON.parse(row.destination) as Destination;
		const left = free.get(`${platform} ${account}`);
		if (row.state === "pending" && left !== undefined) {
			if (left <= 0) continue;
			free.set(`${platform} ${account}`, left - 1);
		}
		const delivery = { ...(yield* withReceipt(toDelivery(row))), claim };
		if (row.state === "unknown") {
			yield* run(claimAsking, claim, until, until, row.n);
			deliveries.push(delivery);
			continue;
		}
		yield* run(claimRow, claim, until, until, row.n);
		deliveries.push({ ...delivery, state: "sending", attempts: row.attempts + 1 });
	}
	return { deliveries, nextDueAt: (yield* get(nextDueAt, elsewhere, elsewhere))?.first_at ?? null };
}

/** One that replaces another's message is an edit of it; one that was never shown has none. */
function* withReceipt(delivery: Delivery): Op<Delivery> {
	const { edits } = delivery.body;
	if (edits === undefined) return delivery;
	return { ...delivery, receipt: (yield* deliveryRow(edits))?.receipt ?? null };
}

/** Undoes a claim whose answer was lost: nothing of it was sent. `holding`: what the caller knows it holds. */
export function* releaseClaims(context: Context, args: { readonly holding: readonly string[] }): Op<void> {
	const holding = new Set(args.holding);
	for (const row of yield* all(claimedNow, `${context.epoch}:%`))
		if (!holding.has(row.id))
			yield* settleRow(context, row, {
				kind: "retry",
				at: context.now,
				reason: "it was picked up and never sent",
				pause: true,
			});
}

/** The wall clock was set: waiting deliveries are due at other times now. */
export function* retimeDeliveries(
	context: Context,
	args: {
		readonly due: readonly { readonly id: string; readonly at: number }[];
		/** Others that would wait longer are due now. Absent: they stay unchanged. */
		readonly latest?: number;
	},
): Op<void> {
	if (args.latest !== undefined) yield* run(pullForward, context.now, context.now, args.latest);
	for (const { id, at } of args.due) yield* run(setDue, at, at, id);
}

/**
 * Deliveries an earlier owner was sending when it died: unknown, unless they edit a message with a known receipt. Later ones wait until
 * the platform was asked, if it can be. Nobody waits for the answer to what the earlier owner asked.
 */
export function* recoverDeliveries(
	context: Context,
	args: { readonly canAsk: readonly Pick<Destination, "platform" | "account">[] },
): Op<{ unknown: readonly Delivery[] }> {
	const unknown: Delivery[] = [];
	yield* run(fromTheFuture, context.now, context.now, context.now, context.now);
	yield* run(askedByEarlier, context.now, context.now, `${context.epoch}:%`);
	for (const row of yield* all(sendingOfEarlier, `${context.epoch}:%`)) {
		const delivery = toDelivery(row);
		const { platform, account } = delivery.destination;
		const unasked = args.canAsk.some((one) => one.platform === platform && one.account === account);
		const isEdit = row.receipt !== null || delivery.body.edits !== undefined;
		const settlement: Settlement = !isEdit
			? { kind: "unknown", reason: "Keryx died while sending", unasked }
			: { kind: "retry", at: context.now, reason: "Keryx died while editing" };
		yield* settleRow(context, row, settlement);
		if (settlement.kind === "unknown")
			unknown.push({ ...delivery, state: "unknown", reason: settlement.reason });
	}
	return { unknown };
}
