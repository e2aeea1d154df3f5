// What a turn may do and see (I18): the least of what the people it speaks for may do now, and what all of them may see.
import { authRules, type Config } from "../../config/index.ts";
import {
	isOwnPlatform,
	leastStanding,
	lesser,
	type Speaker,
	type Standing,
	soleSpeaker,
} from "../../domain/index.ts";
import { type Conversation, OPERATOR, type Scope, type SpeakerFacts, type Store } from "../../store/index.ts";
import { authorise } from "../inbox/authorise.ts";

export interface Rights {
	readonly standing: Standing;
	/** What search, sessions and memory reach. */
	readonly scope: Scope;
}

/** Rows from before speakers were kept have none: then their person counts, as they are now. */
export async function rightsOf(
	speakers: readonly Speaker[],
	conversation: Conversation,
	{ store, config, now }: { readonly store: Store; readonly config: Config; readonly now: number },
): Promise<Rights> {
	const known: readonly Speaker[] =
		speakers.length > 0
			? speakers
			: [{ principal: conversation.principal, role: "owner", platform: conversation.platform }];
	const { facts, chats } = await store.speakerFacts({
		scope: OPERATOR,
		conversation: conversation.id,
		speakers: known.map(({ principal, platform }) => ({ principal, platform })),
		now,
	});
	const standings = known.map((speaker, index) =>
		standingNow(speaker, facts[index] as SpeakerFacts, conversation, chats, config),
	);
	const isTheirs = facts.every(({ isOwn }) => isOwn);
	return {
		standing: leastStanding(standings),
		scope: reach(conversation, isTheirs ? soleSpeaker(known) : null),
	};
}

/** Never more than they were let in as, and never more than they would be let in as now. */
function standingNow(
	{ principal, role, platform, platformRole }: Speaker,
	{ ids, token, paired, page }: SpeakerFacts,
	{ source }: Conversation,
	chats: readonly string[],
	config: Config,
): Standing {
	// Authenticated by Keryx itself: what they were let in as stands, as long as their token or login does.
	if (isOwnPlatform(platform) || platform === "webhook") {
		if (page !== null) return page === "none" ? "none" : lesser(role, page);
		if (token === null) return role;
		return token === "live" ? lesser(role, "member") : "none";
	}
	if (principal === null && platformRole === undefined && source.chatType === "dm") return "none";
	const [userId] = ids;
	const { userId: _, userIdAlt: __, ...chat } = source;
	const writer = { ...chat, platform, ...(userId !== undefined && { userId }) };
	const transport = platformRole === undefined ? {} : { roles: [platformRole] };
	const now = authorise({ source: writer, transport, ids, chats, paired }, authRules(config, platform));
	return now.kind === "allowed" ? lesser(role, now.role) : "none";
}

/**
 * In a chat between one person and the agent, everything that is that person's; anywhere else the conversation alone, because
 * others read the answer: in a shared conversation, in a group where everybody has a conversation of their own, and in a
 * conversation that somebody else has joined.
 */
export function reach(conversation: Conversation, principal: string | null): Scope {
	const isPrivate = !conversation.shared && conversation.chatType === "dm";
	return {
		kind: "principal",
		principal: isPrivate ? (principal ?? "") : "",
		profile: conversation.profile,
		conversation: conversation.id,
	};
}
