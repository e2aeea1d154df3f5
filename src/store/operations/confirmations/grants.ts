// Grants: a human's standing approval of an action. Each records who gave it, when, until when and to whom: one from an answer is only
// for the person who asked (I18). None covers actions that always need approval; this is checked again at every use.
import { coversArguments, type PersonRole } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, Grant, GrantScope, OperatorScope } from "../../types.ts";
import { emit } from "../events.ts";
import { findPrincipal } from "../people/principals.ts";
import { audit } from "./audit.ts";

interface GrantRow {
	readonly id: string;
	readonly scope: GrantScope;
	readonly action: string;
	readonly pattern_body: string | null;
	readonly body_key: number | null;
	readonly asked_by: string | null;
	readonly principal: string | null;
	readonly session_key: string | null;
	readonly session: string | null;
	readonly until: number | null;
	readonly created_at: number;
	readonly created_by: string;
	readonly revoked_at: number | null;
	readonly revoked_by: string | null;
}

const COLUMNS =
	"id, scope, action, pattern_body, body_key, asked_by, principal, session_key, session, until, created_at, created_by, revoked_at, revoked_by";
const grantById = sql<GrantRow>(`SELECT ${COLUMNS} FROM grants WHERE id = ?`);
const everyGrant = sql<GrantRow>(`SELECT ${COLUMNS} FROM grants ORDER BY created_at DESC, id LIMIT ?`);
const liveGrants = sql<GrantRow>(
	`SELECT ${COLUMNS} FROM grants WHERE action = ? AND revoked_at IS NULL AND (until IS NULL OR until > ?) ORDER BY created_at, id`,
);
const insertGrant = sql(
	`INSERT INTO grants (id, scope, action, pattern_body, asked_by, principal, session_key, session, until, created_at, created_by)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const revoke = sql("UPDATE grants SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL");
const liveSession = sql<{ id: string }>(
	"SELECT s.id FROM sessions s JOIN conversations c ON c.id = s.conversation WHERE c.key = ? AND s.ended_at IS NULL",
);

export interface NewGrant {
	readonly scope: GrantScope;
	readonly action: string;
	/** The arguments as JSON, with * for anything inside one value; absent: any arguments. */
	readonly pattern?: string;
	/** Whose requests it covers. Only scope always may leave it out, and then covers everyone's. */
	readonly askedBy?: string;
	/** The one person whose turns it covers; absent: everyone's except guests'. */
	readonly principal?: string;
	readonly sessionKey?: string;
	/** Default: 30 days. */
	readonly until?: number;
}

/** People forget what they allowed long ago. */
const HOLDS_MS = 30 * 86_400_000;

export function* addGrant(
	context: Context,
	args: NewGrant & { readonly by: string; readonly via: AuditVia },
): Op<Grant> {
	return yield* grant(context, args, args.by, args.via);
}

/** The same within another operation. */
export function* grant(context: Context, args: NewGrant, by: string, via: AuditVia): Op<Grant> {
	const { scope, action, pattern, askedBy = null, principal = null, sessionKey = null } = args;
	const until = args.until ?? context.now + HOLDS_MS;
	const session =
		scope === "session" && sessionKey ? ((yield* get(liveSession, sessionKey))?.id ?? null) : null;
	const id = context.uuid();
	yield* run(
		insertGrant,
		id,
		scope,
		action,
		pattern === undefined ? null : seal(pattern),
		askedBy,
		principal,
		sessionKey,
		session,
		until,
		context.now,
		by,
	);
	yield* audit(context, {
		kind: "granted",
		who: by,
		via,
		facts: {
			grant: id,
			scope,
			action,
			asked_by: askedBy,
			principal,
			session_key: sessionKey,
			until,
			pattern: pattern ?? null,
		},
	});
	yield* emit(context, "grant.added", { subject: id }, { scope, action });
	return toGrant((yield* get(grantById, id)) as GrantRow);
}

/** Returns false if it was already revoked. */
export function* revokeGrant(
	context: Context,
	args: { readonly id: string; readonly by: string; readonly via: AuditVia },
): Op<boolean> {
	if (!(yield* get(grantById, args.id)))
		throw new KeryxError("store.not_found", `no grant ${args.id}`, { field: "id" });
	if ((yield* run(revoke, context.now, args.by, args.id)) === 0) return false;
	yield* audit(context, { kind: "grant_revoked", who: args.by, via: args.via, facts: { grant: args.id } });
	yield* emit(context, "grant.revoked", { subject: args.id });
	return true;
}

/** Newest first, including expired and revoked ones. */
export function* grants(args: {
	readonly scope: OperatorScope;
	readonly limit: number;
}): Op<readonly Grant[]> {
	return (yield* all(everyGrant, args.limit)).map(toGrant);
}

/** The oldest grant that covers a request, or undefined. */
export function* coveringGrant(
	context: Context,
	asked: {
		readonly action: string;
		readonly askedBy: string;
		readonly sessionKey: string;
		readonly details: Readonly<Record<string, unknown>>;
		/** The person the asking turn speaks for, with all their ids; null: another program asks. */
		readonly asker: Asker | null;
	},
): Op<string | undefined> {
	for (const row of yield* all(liveGrants, asked.action, context.now)) {
		if (row.asked_by !== null && row.asked_by !== asked.askedBy) continue;
		if (asked.asker ? !serves(row, asked.asker) : row.principal !== null) continue;
		if (asked.asker && (yield* isOutgrown(row, asked.asker))) continue;
		if (row.scope !== "always" && row.session_key !== asked.sessionKey) continue;
		if (row.session !== null && (yield* get(liveSession, asked.sessionKey))?.id !== row.session) continue;
		const { pattern } = toGrant(row);
		if (pattern === null || coversArguments(pattern, asked.details)) return row.id;
	}
	return undefined;
}

/** The people an asking turn speaks for. */
export interface Asker {
	/** All ids of the one person; empty: several people, or someone unknown. */
	readonly persons: readonly string[];
	/** The lowest of their roles. */
	readonly role: PersonRole;
}

/** A guest's requests go to the owner, whatever others were granted. */
function serves({ principal }: GrantRow, { persons, role }: Asker): boolean {
	return principal === null ? role !== "guest" : persons.includes(principal);
}

/** Given by people to themselves who are guests now and could no longer give it. */
function* isOutgrown({ created_by }: GrantRow, { persons, role }: Asker): Op<boolean> {
	if (role !== "guest") return false;
	const [platform = "", ...id] = created_by.split(":");
	const giver = yield* findPrincipal(platform, [id.join(":")]);
	return giver !== undefined && persons.includes(giver);
}

const dated = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'grants_dated'");
const forgetDated = sql("DELETE FROM settings WHERE name = 'grants_dated'");

/** How many older grants got an end date at the upgrade; reported once. */
export function* takeGrantsDated(context: Context): Op<number> {
	const count = Number((yield* get(dated))?.value ?? 0);
	if (count === 0) return 0;
	yield* run(forgetDated);
	yield* emit(context, "grant.dated", {}, { count });
	return count;
}

function toGrant(row: GrantRow): Grant {
	return {
		id: row.id,
		scope: row.scope,
		action: row.action,
		pattern: row.pattern_body === null ? null : unseal<string>(row.pattern_body, row.body_key),
		askedBy: row.asked_by,
		principal: row.principal,
		sessionKey: row.session_key,
		session: row.session,
		until: row.until,
		createdAt: row.created_at,
		createdBy: row.created_by,
		revokedAt: row.revoked_at,
		revokedBy: row.revoked_by,
	};
}
