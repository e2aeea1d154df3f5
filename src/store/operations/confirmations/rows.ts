// Rows of confirmations as plain data. Expired ones are shown as expired, even before the watcher has run.
import { type ConversationId, isAtLeast, leastStanding, type Speaker } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { Confirmation, ConfirmationStatus } from "../../types.ts";

export interface ConfirmationRow {
	readonly n: number;
	readonly id: string;
	readonly action: string;
	readonly status: ConfirmationStatus;
	readonly digest: string;
	readonly asked_by: string;
	readonly session_key: string;
	readonly waiter: Confirmation["waiter"];
	readonly conversation: ConversationId | null;
	readonly turn: string | null;
	readonly call: string | null;
	readonly tool: string | null;
	readonly destination: string | null;
	readonly timeout_seconds: number;
	readonly created_at: number;
	readonly expires_at: number;
	readonly resolved_at: number | null;
	readonly resolved_by: string | null;
	readonly use_by: number | null;
	readonly used_at: number | null;
	readonly body: string;
	readonly decision_body: string | null;
	readonly body_key: number | null;
}

export const CONFIRMATION_COLUMNS = `n, id, action, status, digest, asked_by, session_key, waiter, conversation, turn, call, tool,
	destination, timeout_seconds, created_at, expires_at, resolved_at, resolved_by, use_by, used_at, body, decision_body, body_key`;

/** What was asked. */
export interface AskedBody {
	readonly description: string;
	readonly details: Readonly<Record<string, unknown>>;
	readonly requester: string;
	/** No grant follows from the answer. */
	readonly once?: true;
}

/** The approver's reason. */
export interface DecisionBody {
	readonly label?: string;
	readonly reason?: string;
	readonly details?: Readonly<Record<string, unknown>>;
}

/** Recorded as the decider when it expires. */
export const TIMEOUT = "system:timeout";

const byId = sql<ConfirmationRow>(`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations WHERE id = ?`);
const noticesOf = sql<{ target: string; state: "pending" | "sent" | "dead" }>(
	"SELECT target, state FROM confirmation_notices WHERE confirmation = ? ORDER BY target",
);
const deliveriesOf = sql<{ destination: string; state: string }>(
	"SELECT destination, state FROM deliveries WHERE id >= ? AND id < ? ORDER BY id",
);
const replyOf = sql<{ state: string }>("SELECT state FROM deliveries WHERE turn = ? AND kind = 'reply'");
const askingTurn = sql<{ speakers: string; state: string }>("SELECT speakers, state FROM turns WHERE id = ?");

export function* confirmationRow(id: string): Op<ConfirmationRow | undefined> {
	return yield* get(byId, id);
}

/** When an untouched confirmation expires, or null. */
export function endsAt(row: ConfirmationRow): number | null {
	if (row.status === "pending") return row.expires_at;
	return row.status === "approved" || row.status === "auto_approved" ? row.use_by : null;
}

export function* toConfirmation(row: ConfirmationRow, now: number): Op<Confirmation> {
	const asked = unseal<AskedBody>(row.body, row.body_key);
	const said = row.decision_body === null ? {} : unseal<DecisionBody>(row.decision_body, row.body_key);
	const end = endsAt(row);
	const over = end !== null && end <= now;
	const status = over ? "expired" : row.status;
	const unanswered = over && row.status === "pending";
	return {
		id: row.id,
		action: row.action,
		description: asked.description,
		details: said.details ?? asked.details,
		requester: asked.requester,
		sessionKey: row.session_key,
		status,
		digest: row.digest,
		askedBy: row.asked_by,
		waiter: row.waiter,
		conversation: row.conversation,
		turn: row.turn,
		call: row.call,
		tool: row.tool,
		timeoutSeconds: row.timeout_seconds,
		createdAt: row.created_at,
		expiresAt: row.expires_at,
		resolvedAt: unanswered ? end : row.resolved_at,
		resolvedBy: unanswered ? TIMEOUT : row.resolved_by,
		resolvedLabel: said.label ?? null,
		reason: said.reason ?? null,
		detailsBefore: said.details ? asked.details : null,
		usedAt: row.used_at,
		// Only an approval has a use deadline.
		useExpiredAt: status === "expired" ? row.use_by : null,
		notices: [...(yield* replyNotice(row)), ...(yield* noticesFor(row.id))],
	};
}

/** The asking turn's reply contains the question. A guest cannot answer it, so their chat does not count as notified. */
function* replyNotice({ waiter, turn, destination }: ConfirmationRow): Op<Confirmation["notices"]> {
	if (waiter !== "turn" || turn === null || destination === null) return [];
	const asking = yield* get(askingTurn, turn);
	if (!asking) return [];
	const speakers = JSON.parse(asking.speakers) as Speaker[];
	if (speakers.length > 0 && !isAtLeast(leastStanding(speakers.map(({ role }) => role)), "member")) return [];
	const states = (yield* all(replyOf, turn)).map(({ state }) => shown(state));
	// A pending reply can still be sent; a turn that ended without one has notified nobody.
	if (states.length === 0 && asking.state !== "running" && asking.state !== "interrupted") return [];
	const state = (["sent", "pending", "dead"] as const).find((one) => states.includes(one)) ?? "pending";
	const { platform, chatId } = JSON.parse(destination) as { platform: string; chatId: string };
	return [{ to: `${platform}:${chatId}`, state }];
}

function* noticesFor(id: string): Op<Confirmation["notices"]> {
	const webhooks = (yield* all(noticesOf, id)).map(({ target, state }) => ({ to: target, state }));
	// A colon's successor ends the range: all ids with this confirmation's prefix.
	const chats = (yield* all(deliveriesOf, `confirmation:${id}:`, `confirmation:${id};`)).map((row) => {
		const { platform, chatId } = JSON.parse(row.destination) as { platform: string; chatId: string };
		return { to: `${platform}:${chatId}`, state: shown(row.state) };
	});
	return [...chats, ...webhooks];
}

function shown(state: string): Confirmation["notices"][number]["state"] {
	return state === "sent" || state === "dead" ? state : "pending";
}
