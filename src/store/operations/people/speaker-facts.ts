// What decides the current rights of a turn's people: their ids, tokens, pairings and logins.
import { type ConversationId, parseSource } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { OperatorScope, PersonRole, Speaker } from "../../types.ts";
import { chatIds } from "../chats/known.ts";
import { pageRoleOf } from "./logins.ts";
import { pairedRoleOf } from "./pairings.ts";
import { findPrincipal, idsOf, samePrincipals } from "./principals.ts";

export interface SpeakerFacts {
	/** All their ids on the platform they wrote from. */
	readonly ids: readonly string[];
	/** Whether the conversation is only theirs. */
	readonly isOwn: boolean;
	/** For a program on the API: whether its token is still valid; null: not a program. */
	readonly token: "live" | "ended" | null;
	/** The role given by pairing. */
	readonly paired: PersonRole | null;
	/** For someone with a login to the page: their role, or none once revoked; null: no login. */
	readonly page: PersonRole | "none" | null;
}

export interface SpeakersFound {
	readonly facts: readonly SpeakerFacts[];
	/** The ids the conversation's chat has had, its current one first. */
	readonly chats: readonly string[];
}

/** Facts about a turn's people, needed to decide their current rights. */
export function* speakerFacts(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
	readonly speakers: readonly Pick<Speaker, "principal" | "platform">[];
	readonly now: number;
}): Op<SpeakersFound> {
	const found = yield* get(ownerOf, args.conversation);
	const owner = found?.principal ?? null;
	const chats = found ? yield* chatIds(parseSource(unseal(found.source_body, found.body_key))) : [];
	const owners = owner === null ? [] : yield* samePrincipals(owner);
	const facts: SpeakerFacts[] = [];
	for (const { principal, platform } of args.speakers) {
		if (principal === null) {
			facts.push({ ids: [], isOwn: false, token: null, paired: null, page: null });
			continue;
		}
		const ids = yield* idsOf(platform, principal);
		facts.push({
			ids,
			isOwn: owners.includes(principal),
			token: platform === "api_server" ? yield* tokenOf(principal, ids, args.now) : null,
			paired: yield* pairedRoleOf(platform, principal),
			page: platform === "web" ? yield* pageRoleOf(principal) : null,
		});
	}
	return { facts, chats };
}
const ownerOf = sql<{ principal: string | null; source_body: string; body_key: number | null }>(
	"SELECT principal, source_body, body_key FROM conversations WHERE id = ?",
);

interface Validity {
	readonly revoked_at: number | null;
	readonly expires_at: number | null;
}
const tokensOf = sql<Validity>("SELECT revoked_at, expires_at FROM tokens WHERE principal = ?");
const tokenNamed = sql<Validity>("SELECT revoked_at, expires_at FROM tokens WHERE name = ?");
/** A program, or one of the people that it named: `token:<name>/<user>`. Names of tokens have no slash. */
const OF_TOKEN = /^token:([^/]*)/;

function* tokenOf(principal: string, ids: readonly string[], now: number): Op<"live" | "ended" | null> {
	const names = ids.flatMap((id) => OF_TOKEN.exec(id)?.[1] ?? []);
	const tokens = yield* all(tokensOf, principal);
	for (const name of names) tokens.push(...(yield* all(tokenNamed, name)));
	if (tokens.length === 0 && names.length === 0) return null;
	const isLive = ({ revoked_at, expires_at }: Validity) =>
		revoked_at === null && (expires_at === null || expires_at > now);
	return tokens.some(isLive) ? "live" : "ended";
}

/** All ids of a person known by one of these, for allow-lists. */
export function* knownIds(args: {
	readonly scope: OperatorScope;
	readonly platform: string;
	readonly ids: readonly string[];
}): Op<readonly string[]> {
	const principal = yield* findPrincipal(args.platform, args.ids);
	return principal === undefined ? [] : yield* idsOf(args.platform, principal);
}
