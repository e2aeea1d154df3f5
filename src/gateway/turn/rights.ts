// A turn's rights (I18): the lowest current role of the people it speaks for, and what all of them may see.
import { authRules, type Config } from "../../config/index.ts";
import {
	isKnownByKeryx,
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

export async function rightsOf(
	speakers: readonly Speaker[],
	conversation: Conversation,
	{ store, config, now }: { readonly store: Store; readonly config: Config; readonly now: number },
): Promise<Rights> {
	const found = await store.speakerFacts(askedAbout(speakers, conversation, now));
	return rightsFrom(found, speakers, conversation, config);
}

/** What the store is asked about the people of a turn. */
export function askedAbout(speakers: readonly Speaker[], conversation: Conversation, now: number) {
	return {
		scope: OPERATOR,
		conversation: conversation.id,
		speakers: knownSpeakers(speakers, conversation).map(({ principal, platform }) => ({
			principal,
			platform,
		})),
		now,
	};
}

export function rightsFrom(
	{ facts, chats }: Awaited<ReturnType<Store["speakerFacts"]>>,
	speakers: readonly Speaker[],
	conversation: Conversation,
	config: Config,
): Rights {
	const known = knownSpeakers(speakers, conversation);
	const standings = known.map((speaker, index) => {
		const about = facts[index] as SpeakerFacts;
		const standing = standingNow(speaker, about, conversation, chats, config);
		return known === speakers || isKnownOtherwise(speaker, about) ? standing : lesser(standing, "member");
	});
	const isTheirs = facts.every(({ isOwn }) => isOwn);
	return {
		standing: leastStanding(standings),
		scope: reach(conversation, isTheirs ? soleSpeaker(known) : null),
	};
}

/** Imported and copied rows have none: then the conversation's person counts, with their current role. */
function knownSpeakers(
	speakers: readonly Speaker[],
	{ principal, platform }: Conversation,
): readonly Speaker[] {
	return speakers.length > 0 ? speakers : [{ principal, role: "owner", platform }];
}

/** Whether a person's current role does not come from that row alone. */
function isKnownOtherwise({ platform }: Speaker, { ids, page }: SpeakerFacts): boolean {
	if (!isKnownByKeryx(platform) || platform === "local") return true;
	return page !== null || ids.includes("operator");
}

/** Never more than the role they were admitted with, and never more than their current role. */
function standingNow(
	{ principal, role, platform, platformRole }: Speaker,
	{ ids, token, paired, page }: SpeakerFacts,
	{ source }: Conversation,
	chats: readonly string[],
	config: Config,
): Standing {
	// Authenticated by Keryx itself: their role is valid as long as their token or login.
	if (isKnownByKeryx(platform)) {
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
 * In a private chat with the agent, everything of that person. Elsewhere only the conversation, because others read the answer: in a
 * shared conversation, in a group with separate conversations, and in a turn that speaks for someone else, too.
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
