// Tokens of programs and people that call over the network. Only digests are stored: reading the store reveals none.
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, OperatorScope, Token, TokenRole } from "../../types.ts";
import { audit } from "../confirmations/audit.ts";
import { emit } from "../events.ts";

interface TokenRow {
	readonly name: string;
	readonly role: TokenRole;
	readonly principal: string;
	readonly session_key: string | null;
	readonly channel: string | null;
	readonly created_at: number;
	readonly created_by: string;
	readonly expires_at: number | null;
	readonly revoked_at: number | null;
}

const COLUMNS = "name, role, principal, session_key, channel, created_at, created_by, expires_at, revoked_at";
const byDigest = sql<TokenRow>(`SELECT ${COLUMNS} FROM tokens WHERE digest = ?`);
const byName = sql<TokenRow>(`SELECT ${COLUMNS} FROM tokens WHERE name = ?`);
const everyToken = sql<TokenRow>(`SELECT ${COLUMNS} FROM tokens ORDER BY created_at, name`);
const insertToken = sql(
	`INSERT INTO tokens (name, digest, role, principal, session_key, channel, created_at, created_by, expires_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const revoke = sql("UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL");
const findPrincipal = sql<{ id: string }>("SELECT id FROM principals WHERE id = ?");
/** Messages sent with the token belong to its principal, whoever had that name before. */
const addAlias = sql(
	`INSERT INTO aliases (platform, alias, principal, created_at) VALUES ('api_server', ?, ?, ?)
	ON CONFLICT (platform, alias) DO UPDATE SET principal = excluded.principal`,
);
const addPrincipal = sql("INSERT INTO principals (id, created_at) VALUES (?, ?)");

export interface CreateTokenArgs {
	/** Unique forever: the audit names callers by it. */
	readonly name: string;
	/** SHA-256 of the token, in hex. */
	readonly digest: string;
	readonly role: TokenRole;
	/** Its principal; default: a new one. */
	readonly principal?: string;
	/** The only conversation its holder may name. */
	readonly sessionKey?: string;
	/** Only with the role channel: the channel its holder speaks for. */
	readonly channel?: string;
	readonly expiresAt?: number;
	readonly by: string;
	readonly via: AuditVia;
}

export function* createToken(context: Context, args: CreateTokenArgs): Op<Token> {
	if (yield* get(byName, args.name))
		throw new KeryxError("token.taken", `there is or was a token named ${args.name}`, { field: "name" });
	const principal = args.principal ?? context.uuid();
	if (args.principal === undefined) yield* run(addPrincipal, principal, context.now);
	else if (!(yield* get(findPrincipal, principal)))
		throw new KeryxError("store.not_found", `no principal ${principal}`, { field: "principal" });
	const { name, role, sessionKey = null, channel = null, expiresAt = null, by, via } = args;
	if ((role === "channel") !== (channel !== null))
		throw new KeryxError("argument.invalid", "a token names a channel if, and only if, its role is channel", {
			field: "channel",
		});
	yield* run(
		insertToken,
		name,
		args.digest,
		role,
		principal,
		sessionKey,
		channel,
		context.now,
		by,
		expiresAt,
	);
	yield* run(addAlias, `token:${name}`, principal, context.now);
	yield* audit(context, {
		kind: "token_created",
		who: by,
		via,
		facts: {
			token: name,
			role,
			...(sessionKey !== null && { session_key: sessionKey }),
			...(channel !== null && { channel }),
		},
	});
	yield* emit(context, "token.created", { subject: name }, { role });
	return toToken((yield* get(byName, name)) as TokenRow);
}

/** Returns false if it was already revoked. */
export function* revokeToken(
	context: Context,
	args: { readonly name: string; readonly by: string; readonly via: AuditVia },
): Op<boolean> {
	if (!(yield* get(byName, args.name)))
		throw new KeryxError("store.not_found", `no token ${args.name}`, { field: "name" });
	if ((yield* run(revoke, context.now, args.name)) === 0) return false;
	yield* audit(context, { kind: "token_revoked", who: args.by, via: args.via, facts: { token: args.name } });
	yield* emit(context, "token.revoked", { subject: args.name });
	return true;
}

/** Its owner; null for none, a revoked or expired one. */
export function* tokenByDigest(args: {
	readonly scope: OperatorScope;
	readonly digest: string;
	readonly now: number;
}): Op<Token | null> {
	const row = yield* get(byDigest, args.digest);
	if (!row || row.revoked_at !== null) return null;
	if (row.expires_at !== null && row.expires_at <= args.now) return null;
	return toToken(row);
}

export function* tokens(_: { readonly scope: OperatorScope }): Op<readonly Token[]> {
	return (yield* all(everyToken)).map(toToken);
}

function toToken(row: TokenRow): Token {
	return {
		name: row.name,
		role: row.role,
		principal: row.principal,
		sessionKey: row.session_key,
		channel: row.channel,
		createdAt: row.created_at,
		createdBy: row.created_by,
		expiresAt: row.expires_at,
		revokedAt: row.revoked_at,
	};
}
