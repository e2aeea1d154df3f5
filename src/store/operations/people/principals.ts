// Principals and their aliases: which platform ids are one person.
import { personId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import { emit } from "../events.ts";

const findAlias = sql<{ principal: string }>(
	"SELECT principal FROM aliases WHERE platform = ? AND alias = ?",
);
const aliasesOf = sql<{ alias: string }>(
	"SELECT alias FROM aliases WHERE principal = ? AND platform = ? ORDER BY alias",
);
const findMerge = sql<{ merged_into: string | null }>("SELECT merged_into FROM principals WHERE id = ?");
const absorbed = sql<{ id: string }>("SELECT id FROM principals WHERE merged_into = ?");
const addPrincipal = sql("INSERT INTO principals (id, created_at) VALUES (?, ?)");
const addAlias = sql("INSERT INTO aliases (platform, alias, principal, created_at) VALUES (?, ?, ?, ?)");
const moveAliases = sql("UPDATE aliases SET principal = ? WHERE principal = ?");
const moveAbsorbed = sql("UPDATE principals SET merged_into = ? WHERE id = ? OR merged_into = ?");

/** The principal known by any of these ids of a platform, or undefined. */
export function* findPrincipal(platform: string, ids: readonly string[]): Op<string | undefined> {
	for (const id of ids) {
		const row = yield* get(findAlias, platform, aliasOf(platform, id));
		if (row) return row.principal;
	}
	return undefined;
}

/** An id in its one stored form, however it was written. */
function aliasOf(platform: string, id: string): string {
	return personId(platform, id, []);
}

/** All ids of one person on a platform. */
export function* idsOf(platform: string, principal: string): Op<string[]> {
	return (yield* all(aliasesOf, principal, platform)).map((row) => row.alias);
}

/** The principal of a sender, created if none of its ids is known; new ids are added to it. */
export function* ensurePrincipal(
	context: Context,
	platform: string,
	ids: readonly string[],
): Op<string | null> {
	if (ids.length === 0) return null;
	const known = yield* findPrincipal(platform, ids);
	const principal = known ?? context.uuid();
	if (!known) yield* run(addPrincipal, principal, context.now);
	for (const id of ids) {
		// A second id that already belongs to someone is not taken away: linking two people is a separate operation.
		if (known && ids.length === 1) break;
		const alias = aliasOf(platform, id);
		if (!(yield* get(findAlias, platform, alias)))
			yield* run(addAlias, platform, alias, principal, context.now);
	}
	return principal;
}

/** All principal ids of this person: their own and those merged into it. */
export function* samePrincipals(principal: string): Op<string[]> {
	const row = yield* get(findMerge, principal);
	const root = row?.merged_into ?? principal;
	return [root, ...(yield* all(absorbed, root)).map((other) => other.id)];
}

export interface LinkArgs {
	readonly a: { readonly platform: string; readonly id: string };
	readonly b: { readonly platform: string; readonly id: string };
}

/** Links two ids to one person. Conversations and their keys stay; that person can read both. */
export function* link(context: Context, { a, b }: LinkArgs): Op<{ principal: string; joined: boolean }> {
	for (const [field, { id }] of Object.entries({ "a.id": a, "b.id": b }))
		if (id === "") throw new KeryxError("argument.invalid", `${field} must not be empty`, { field });
	const first = (yield* ensurePrincipal(context, a.platform, [a.id])) as string;
	const second = yield* findPrincipal(b.platform, [b.id]);
	if (second === first) return { principal: first, joined: false };
	if (!second) {
		yield* run(addAlias, b.platform, aliasOf(b.platform, b.id), first, context.now);
	} else {
		yield* run(moveAliases, first, second);
		yield* run(moveAbsorbed, first, second, second);
	}
	yield* emit(context, "principal.linked", { subject: first }, second ? { merged: second } : {});
	return { principal: first, joined: true };
}
