// People who log in to the page with a name of their own. Their ids and chats begin with it, so that nobody's name or chat, whatever a
// browser sends, leads to somebody else's conversation, the operator's included.
import type { PersonRole } from "../rights.ts";
import type { WireSource } from "./source.ts";

const PERSON = "person:";

/** The id that somebody has on the page. */
export function pageUser(name: string): string {
	return `${PERSON}${name}`;
}

/** A source as this person may have it: their own name, in a chat of their own. An owner may write in any chat of the page. */
export function pageSource(
	{ name, role }: { readonly name: string; readonly role: PersonRole },
	asked: Readonly<Record<string, unknown>>,
): WireSource {
	const { chat_id: given, chat_name: chatName, profile } = asked;
	const chat = typeof given === "string" ? given : "";
	const own = `${pageUser(name)}/`;
	return {
		platform: "web",
		chat_type: "dm",
		chat_id: role === "owner" || chat.startsWith(own) ? chat : `${own}${chat}`,
		user_id: pageUser(name),
		user_name: name,
		...(typeof chatName === "string" && { chat_name: chatName }),
		...(typeof profile === "string" && { profile }),
	};
}
