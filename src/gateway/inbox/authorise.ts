// Who may speak. By default only the local user and the operator. Pure: facts in, a decision out.
import type { authRules } from "../../config/index.ts";
import { isOwnPlatform, type PersonRole, personId, type Source } from "../../domain/index.ts";
import type { Inbound } from "../channel.ts";

export type Authorisation =
	| {
			readonly kind: "allowed";
			readonly role: PersonRole;
			/** The platform role that admitted them. */
			readonly platformRole?: string;
	  }
	| { readonly kind: "refused"; readonly reason: string };

export interface Caller {
	readonly source: Source;
	readonly transport: NonNullable<Inbound["transport"]>;
	/** All known ids of this person on this platform. */
	readonly ids: readonly string[];
	/** All ids the chat has had; a list may name any of them. */
	readonly chats: readonly string[];
	/** The role given by pairing. */
	readonly paired: PersonRole | null;
}

export function authorise(
	{ source, transport, ids, chats, paired }: Caller,
	rules: ReturnType<typeof authRules>,
): Authorisation {
	if (transport.refused !== undefined) return { kind: "refused", reason: transport.refused };
	if (transport.own) return { kind: "refused", reason: "written by Keryx itself" };
	if (transport.isBot && !rules?.allow_bots) return { kind: "refused", reason: "written by a bot" };
	if (transport.role) return { kind: "allowed", role: transport.role };
	if (isOwnPlatform(source.platform))
		return { kind: "allowed", role: isProgram(source) ? "member" : "owner" };
	if (!rules) return { kind: "refused", reason: NOT_ALLOWED };
	const isListed = rules.groups.some((id) => id === source.chatId || chats.includes(id));
	const groupAllowed = source.chatType === "dm" || rules.groups.length === 0 || isListed;
	if (!groupAllowed) return { kind: "refused", reason: "this group is not on the allow-list" };

	const own = new Set(
		[...ids, source.userId, source.userIdAlt]
			.filter((id) => id !== undefined)
			.map((id) => personId(source.platform, id, [])),
	);
	const entry = rules.allow.map(readEntry).find(({ id }) => own.has(personId(source.platform, id, [])));
	if (entry) return { kind: "allowed", role: entry.role };
	if (paired) return { kind: "allowed", role: paired };
	for (const platformRole of transport.roles ?? []) {
		const role = Object.hasOwn(rules.roles, platformRole) ? rules.roles[platformRole] : undefined;
		if (role) return { kind: "allowed", role, platformRole };
	}
	if (rules.allow_all) return { kind: "allowed", role: "guest" };
	if (source.chatType !== "dm" && isListed) return { kind: "allowed", role: "guest" };
	return { kind: "refused", reason: NOT_ALLOWED };
}

/** Nobody knows the sender yet. */
export const NOT_ALLOWED = "not on the allow-list";

/** A caller with a token through the API; their turns keep this even if nothing else records it. */
export function isProgram({ platform, chatId }: Pick<Source, "platform" | "chatId">): boolean {
	return platform === "api_server" && chatId.startsWith("token:");
}

function readEntry(entry: string | { readonly id: string; readonly role: PersonRole }): {
	id: string;
	role: PersonRole;
} {
	return typeof entry === "string" ? { id: entry, role: "member" } : entry;
}
