// Strangers who ask for access. Each gets a code, stored only as a digest; the owner lets them in with it, with a stored role. Frequent
// requests are ignored, and guessing codes locks them.
import { personId, type Source } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	AuditVia,
	Destination,
	NewDelivery,
	OperatorScope,
	Pairing,
	PairingState,
	PersonRole,
} from "../../types.ts";
import { audit } from "../confirmations/audit.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { destinationOf, noticeLane } from "../deliveries/destination.ts";
import { emit } from "../events.ts";
import { pairingNoticeId } from "../row-ids.ts";
import { ensurePrincipal, samePrincipals } from "./principals.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** One code per sender in this time. */
const ASK_EVERY_MS = 10 * MINUTE_MS;
const CODE_LIVES_MS = HOUR_MS;
/** With this many open on one platform, the owner is no longer asked; the list has all of them. */
const MOST_ASKED = 5;
/** The most open requests on one platform; further strangers get none, and existing requests stay. */
const MOST_OPEN = 50;
const WRONG_GUESSES = 5;
const LOCK_MS = HOUR_MS;
/** How long unsuccessful requests are kept. */
const KEPT_MS = 7 * DAY_MS;

interface PairingRow {
	readonly n: number;
	readonly platform: string;
	readonly account: string;
	readonly alias: string;
	readonly digest: string;
	readonly state: PairingState;
	readonly role: PersonRole | null;
	readonly principal: string | null;
	readonly destination: string;
	readonly asked_at: number;
	readonly expires_at: number;
	readonly decided_at: number | null;
	readonly decided_by: string | null;
	readonly body: string;
	readonly body_key: number | null;
}

const COLUMNS = `n, platform, account, alias, digest, state, role, principal, destination, asked_at, expires_at, decided_at, decided_by,
	body, body_key`;
const lastAsked = sql<{ asked_at: number }>(
	"SELECT asked_at FROM pairings WHERE platform = ? AND alias = ? ORDER BY asked_at DESC LIMIT 1",
);
const openOn = sql<{ n: number }>(
	"SELECT count(*) AS n FROM pairings WHERE platform = ? AND state = 'open' AND expires_at > ?",
);
const insertPairing = sql<{ n: number }>(
	`INSERT INTO pairings (platform, account, alias, digest, state, destination, asked_at, expires_at, body)
	VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?) RETURNING n`,
);
const endOpen = sql(
	`UPDATE pairings SET state = 'expired', decided_at = ?, decided_by = 'system:timeout'
	WHERE platform = ? AND state = 'open' AND (alias = ? OR expires_at <= ?)`,
);
const byCode = sql<PairingRow>(
	`SELECT ${COLUMNS} FROM pairings WHERE platform = ? AND digest = ? AND state = 'open' AND expires_at > ?`,
);
const byNumber = sql<PairingRow>(`SELECT ${COLUMNS} FROM pairings WHERE n = ?`);
const everyPairing = sql<PairingRow>(
	`SELECT ${COLUMNS} FROM pairings WHERE (state = 'open' AND expires_at > ?) OR state = 'approved' ORDER BY n DESC LIMIT ?`,
);
const letIn = sql(
	`UPDATE pairings SET state = 'approved', role = ?, principal = ?, decided_at = ?, decided_by = ? WHERE n = ?`,
);
const supersede = sql(
	"UPDATE pairings SET state = 'revoked', decided_at = ?, decided_by = ? WHERE platform = ? AND principal = ? AND state = 'approved'",
);
const endPairing = sql("UPDATE pairings SET state = ?, decided_at = ?, decided_by = ? WHERE n = ?");
const guesses = sql<{ wrong: number; locked_until: number | null }>(
	"SELECT wrong, locked_until FROM pairing_guesses WHERE platform = ?",
);
const setGuesses = sql(
	`INSERT INTO pairing_guesses (platform, wrong, locked_until) VALUES (?, ?, ?)
	ON CONFLICT (platform) DO UPDATE SET wrong = excluded.wrong, locked_until = excluded.locked_until`,
);
const roleOfPrincipal = sql<{ role: PersonRole }>(
	"SELECT role FROM pairings WHERE platform = ? AND principal = ? AND state = 'approved'",
);
const oldOnes = sql<{ n: number; digest: string }>(
	"SELECT n, digest FROM pairings WHERE state <> 'approved' AND asked_at < ? AND (state <> 'open' OR expires_at <= ?) ORDER BY n LIMIT ?",
);
const forget = sql("DELETE FROM pairings WHERE n = ?");
const forgetNotices = sql("DELETE FROM deliveries WHERE id >= ? AND id < ? AND due_at IS NULL");

export interface PairingRequest {
	/** SHA-256 of the code, in hex. */
	readonly digest: string;
	/** Contains the code; sent only if one is given. */
	readonly deliveries: readonly NewDelivery[];
	/**
	 * Asks the owner in the home channels, unless many have asked: strangers cannot flood them. `{n}` in a button's command is the
	 * request's number.
	 */
	readonly questions?: readonly NewDelivery[];
}

/** A stranger has written. Returns whether they get a code. */
export function* askPairing(
	context: Context,
	source: Source,
	{ digest, deliveries, questions = [] }: PairingRequest,
): Op<boolean> {
	const { platform, account } = source;
	const id = source.userIdAlt ?? source.userId ?? source.chatId;
	const alias = personId(platform, id, []);
	const last = yield* get(lastAsked, platform, alias);
	if (last && last.asked_at > context.now - ASK_EVERY_MS) return false;
	yield* run(endOpen, context.now, platform, alias, context.now);
	const open = (yield* get(openOn, platform, context.now))?.n ?? 0;
	if (open >= MOST_OPEN) return false;
	const destination = destinationOf(source);
	const row = yield* get(
		insertPairing,
		platform,
		account,
		alias,
		digest,
		JSON.stringify(destination),
		context.now,
		context.now + CODE_LIVES_MS,
		seal({ name: source.userName ?? null }),
	);
	const { n } = row as { n: number };
	yield* addDeliveries(context, noticeLane(destination), null, deliveries);
	if (open < MOST_ASKED)
		for (const question of questions)
			yield* addDeliveries(context, noticeLane(question.destination), null, [
				numbered(question, n, context.now + CODE_LIVES_MS),
			]);
	yield* emit(context, "pairing.requested", { subject: n }, { platform, account });
	return true;
}

function numbered(question: NewDelivery, n: number, until: number): NewDelivery {
	const presses = (question.presses ?? []).map((one) => ({
		...one,
		command: one.command.replace("{n}", String(n)),
		until,
	}));
	return { ...question, presses };
}

/** By its code, as read out by a person, or by its number in a list. */
export type PairingRef =
	| { readonly platform: string; readonly digest: string }
	| { readonly n: number; readonly platform?: string };

export type PairingDecision =
	| { readonly kind: "done"; readonly pairing: Pairing }
	/** No open request has that code. */
	| { readonly kind: "wrong"; readonly left: number }
	| { readonly kind: "locked"; readonly until: number };

type Found =
	| { readonly kind: "found"; readonly row: PairingRow }
	| Exclude<PairingDecision, { kind: "done" }>;

interface DecideArgs {
	readonly which: PairingRef;
	readonly by: string;
	readonly via: AuditVia;
}

/** Lets a person in. Wrong codes are counted: this is a result, because an error would roll back the count. */
export function* approvePairing(
	context: Context,
	args: DecideArgs & {
		readonly role: PersonRole;
		/** The text for the person, without markup. */
		readonly welcome: string;
	},
): Op<PairingDecision> {
	const found = yield* find(context, args.which);
	if (found.kind !== "found") return found;
	const { row } = found;
	if (row.state !== "open" || row.expires_at <= context.now) throw over(row);
	const principal = (yield* ensurePrincipal(context, row.platform, [row.alias])) as string;
	for (const one of yield* samePrincipals(principal))
		yield* run(supersede, context.now, args.by, row.platform, one);
	yield* run(letIn, args.role, principal, context.now, args.by, row.n);
	yield* audit(context, {
		kind: "paired",
		who: args.by,
		via: args.via,
		facts: { platform: row.platform, id: row.alias, role: args.role },
	});
	yield* emit(
		context,
		"pairing.approved",
		{ subject: row.n },
		{ platform: row.platform, role: args.role, principal },
	);
	const destination = JSON.parse(row.destination) as Destination;
	const body = { text: args.welcome, plain: args.welcome };
	yield* addDeliveries(context, noticeLane(destination), null, [
		{ id: `${pairingNoticeId(row.digest)}:welcome`, kind: "notice", destination, body },
	]);
	return { kind: "done", pairing: toPairing((yield* get(byNumber, row.n)) as PairingRow) };
}

/** Refuses an open request, or revokes an approved one. */
export function* denyPairing(context: Context, args: DecideArgs): Op<PairingDecision> {
	const found = yield* find(context, args.which);
	if (found.kind !== "found") return found;
	const { row } = found;
	if (row.state !== "open" && row.state !== "approved") throw over(row);
	const state = row.state === "open" ? "denied" : "revoked";
	yield* run(endPairing, state, context.now, args.by, row.n);
	yield* audit(context, {
		kind: "unpaired",
		who: args.by,
		via: args.via,
		facts: { platform: row.platform, id: row.alias, was: row.state },
	});
	yield* emit(context, `pairing.${state}`, { subject: row.n }, { platform: row.platform });
	return { kind: "done", pairing: toPairing((yield* get(byNumber, row.n)) as PairingRow) };
}

/** The same as one decision, for a command. */
export function* decidePairing(
	context: Context,
	{ decision, ...args }: { readonly decision: "approve" | "deny" } & Parameters<typeof approvePairing>[1],
): Op<PairingDecision> {
	return decision === "approve" ? yield* approvePairing(context, args) : yield* denyPairing(context, args);
}

function over({ n, state }: PairingRow): KeryxError {
	const now = state === "open" ? "expired" : state;
	return new KeryxError("pairing.over", `the request ${n} is ${now}`, { field: "n" });
}

function* find(context: Context, which: PairingRef): Op<Found> {
	if ("n" in which) {
		const row = yield* get(byNumber, which.n);
		if (!row || (which.platform ?? row.platform) !== row.platform)
			throw new KeryxError("store.not_found", `no pairing ${which.n}`, { field: "n" });
		return { kind: "found", row };
	}
	const { platform, digest } = which;
	const before = yield* get(guesses, platform);
	if (before?.locked_until && before.locked_until > context.now)
		return { kind: "locked", until: before.locked_until };
	const row = yield* get(byCode, platform, digest, context.now);
	if (row) {
		if (before) yield* run(setGuesses, platform, 0, null);
		return { kind: "found", row };
	}
	// An expired lock starts again.
	const wrong = (before?.locked_until ? 0 : (before?.wrong ?? 0)) + 1;
	const until = wrong >= WRONG_GUESSES ? context.now + LOCK_MS : null;
	yield* run(setGuesses, platform, wrong, until);
	if (until !== null) yield* emit(context, "pairing.locked", { subject: platform }, { platform, until });
	return until === null ? { kind: "wrong", left: WRONG_GUESSES - wrong } : { kind: "locked", until };
}

const MOST_LISTED = 1000;

/** Open requests and admitted people, newest first. */
export function* pairings(args: {
	readonly scope: OperatorScope;
	readonly now: number;
}): Op<readonly Pairing[]> {
	return (yield* all(everyPairing, args.now, MOST_LISTED)).map(toPairing);
}

/** The role someone was given on a platform; null: none. */
export function* pairedRoleOf(platform: string, principal: string): Op<PersonRole | null> {
	for (const one of yield* samePrincipals(principal)) {
		const row = yield* get(roleOfPrincipal, platform, one);
		if (row) return row.role;
	}
	return null;
}

/** Deletes requests that failed a week ago or longer, and their messages. */
export function* prunePairings(context: Context, limit: number): Op<void> {
	for (const { n, digest } of yield* all(oldOnes, context.now - KEPT_MS, context.now, limit)) {
		yield* run(forget, n);
		// ";" follows ":".
		yield* run(forgetNotices, `${pairingNoticeId(digest)}:`, `${pairingNoticeId(digest)};`);
	}
}

function toPairing(row: PairingRow): Pairing {
	const { name } = unseal<{ name: string | null }>(row.body, row.body_key);
	return {
		n: row.n,
		platform: row.platform,
		account: row.account,
		id: row.alias,
		name,
		state: row.state,
		role: row.role,
		principal: row.principal,
		destination: JSON.parse(row.destination) as Destination,
		askedAt: row.asked_at,
		expiresAt: row.expires_at,
		decidedAt: row.decided_at,
		decidedBy: row.decided_by,
	};
}
