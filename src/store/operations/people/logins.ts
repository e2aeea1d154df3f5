// People who log in to the page, each with a name, a role and their own logins. A login link is signed, not stored. It contains the
// person's round, which grows when the person is revoked: so unused links end, too.
import { pageUser } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, LiveLogin, LoginEntry, OperatorScope, PersonRole } from "../../types.ts";
import { audit } from "../confirmations/audit.ts";
import { emit } from "../events.ts";
import { ensurePrincipal, findPrincipal, idsOf } from "./principals.ts";

const PLATFORM = "web";

interface PersonRow {
	readonly name: string;
	readonly role: PersonRole;
	readonly round: number;
	readonly revoked_at: number | null;
}

interface LoginRow {
	readonly id: string;
	readonly person: string;
	readonly role: PersonRole;
	readonly created_at: number;
	readonly expires_at: number;
	readonly revoked_at: number | null;
}

const personNamed = sql<PersonRow>("SELECT name, role, round, revoked_at FROM people WHERE name = ?");
const putPerson = sql(
	`INSERT INTO people (name, role, created_at) VALUES (?, ?, ?)
	ON CONFLICT (name) DO UPDATE SET role = excluded.role, revoked_at = NULL`,
);
const revokePerson = sql("UPDATE people SET revoked_at = ?, round = round + 1 WHERE name = ?");
const COLUMNS = "l.id, l.person, p.role, l.created_at, l.expires_at, l.revoked_at";
const FROM = "FROM logins l JOIN people p ON p.name = l.person";
const insertLogin = sql(
	"INSERT INTO logins (id, digest, person, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
);
const byDigest = sql<LoginRow>(`SELECT ${COLUMNS} ${FROM} WHERE l.digest = ? AND p.revoked_at IS NULL`);
const byId = sql<LoginRow>(`SELECT ${COLUMNS} ${FROM} WHERE l.id = ?`);
const everyLogin = sql<LoginRow>(`SELECT ${COLUMNS} ${FROM} ORDER BY l.created_at DESC, l.id LIMIT ?`);
const openOf = sql<{ id: string }>(
	"SELECT id FROM logins WHERE person = ? AND revoked_at IS NULL ORDER BY id",
);
const revokeOne = sql("UPDATE logins SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL");

/** Creates the person if needed and sets this role, also for existing logins. Returns the round to sign a link for. */
export function* offerLogin(
	context: Context,
	args: {
		readonly name: string;
		readonly role: PersonRole;
		readonly by: string;
		readonly via: AuditVia;
	},
): Op<{ readonly round: number }> {
	const { name, role, by: who, via } = args;
	yield* ensurePrincipal(context, PLATFORM, [pageUser(name)]);
	yield* run(putPerson, name, role, context.now);
	yield* audit(context, { kind: "login_offered", who, via, facts: { person: name, role } });
	const { round } = (yield* get(personNamed, name)) as PersonRow;
	return { round };
}

/** Logs in a browser with a link. Each id is accepted once, so a link works once. */
export function* makeLogin(
	context: Context,
	args: {
		readonly id: string;
		readonly digest: string;
		readonly person: string;
		readonly round: number;
		readonly expiresAt: number;
	},
): Op<LoginEntry> {
	const person = yield* get(personNamed, args.person);
	if (!person || person.revoked_at !== null || args.round !== person.round)
		throw new KeryxError("http.login", "this login link was revoked");
	if (yield* get(byId, args.id)) throw new KeryxError("http.login", "this login link was already used");
	yield* run(insertLogin, args.id, args.digest, person.name, context.now, args.expiresAt);
	const facts = { login: args.id, role: person.role };
	yield* audit(context, { kind: "login_made", who: `person:${person.name}`, via: "page", facts });
	yield* emit(context, "login.made", { subject: args.id }, { role: person.role });
	return toLogin((yield* get(byId, args.id)) as LoginRow);
}

/** Revokes one login, or all of a person's logins and links. Returns the revoked ids. */
export function* revokeLogins(
	context: Context,
	args: ({ readonly id: string } | { readonly person: string }) & {
		readonly by: string;
		readonly via: AuditVia;
	},
): Op<{ readonly person: string; readonly ended: readonly string[] }> {
	const { by: who, via } = args;
	const name = "id" in args ? (yield* get(byId, args.id))?.person : args.person;
	const person = name === undefined ? undefined : yield* get(personNamed, name);
	if (!person)
		throw "id" in args
			? new KeryxError("store.not_found", `no login ${args.id}`, { field: "id" })
			: new KeryxError("store.not_found", `nobody logs in as ${args.person}`, { field: "person" });
	const ids = "id" in args ? [args.id] : (yield* all(openOf, person.name)).map(({ id }) => id);
	if (!("id" in args)) yield* run(revokePerson, context.now, person.name);
	const ended: string[] = [];
	for (const id of ids) if ((yield* run(revokeOne, context.now, id)) > 0) ended.push(id);
	if (ended.length === 0 && ("id" in args || person.revoked_at !== null))
		return { person: person.name, ended };
	const facts = { person: person.name, ...("id" in args ? { login: args.id } : { logins: ended.length }) };
	yield* audit(context, { kind: "login_revoked", who, via, facts });
	for (const id of ended) yield* emit(context, "login.revoked", { subject: id });
	return { person: person.name, ended };
}

/** Null for none, a revoked or expired one, and one of a revoked person. */
export function* loginByDigest(args: {
	readonly scope: OperatorScope;
	readonly digest: string;
	readonly now: number;
}): Op<LiveLogin | null> {
	const row = yield* get(byDigest, args.digest);
	if (!row || row.revoked_at !== null || row.expires_at <= args.now) return null;
	const principal = yield* findPrincipal(PLATFORM, [pageUser(row.person)]);
	return principal === undefined ? null : { ...toLogin(row), principal };
}

/** The newest first. */
export function* logins(args: {
	readonly scope: OperatorScope;
	readonly limit: number;
}): Op<readonly LoginEntry[]> {
	return (yield* all(everyLogin, args.limit)).map(toLogin);
}

/** The role of a person on the page; "none" if revoked, null if there is no such person. */
export function* pageRoleOf(principal: string): Op<PersonRole | "none" | null> {
	let least: PersonRole | "none" | null = null;
	for (const id of yield* idsOf(PLATFORM, principal)) {
		const name = nameOf(id);
		const row = name === null ? undefined : yield* get(personNamed, name);
		if (!row) continue;
		const role: PersonRole | "none" = row.revoked_at === null ? row.role : "none";
		if (least === null || ORDER.indexOf(role) < ORDER.indexOf(least)) least = role;
	}
	return least;
}
const ORDER: readonly (PersonRole | "none")[] = ["none", "guest", "member", "owner"];

function nameOf(user: string): string | null {
	const prefix = pageUser("");
	return user.startsWith(prefix) ? user.slice(prefix.length) : null;
}

function toLogin(row: LoginRow): LoginEntry {
	return {
		id: row.id,
		person: { name: row.person, role: row.role },
		createdAt: row.created_at,
		expiresAt: row.expires_at,
		revokedAt: row.revoked_at,
	};
}
