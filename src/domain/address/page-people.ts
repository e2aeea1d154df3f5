// People who log in to the page with their own name. Their ids and chats start with it, so that no name or chat sent by a browser leads
// to another person's conversation, including the operator's.
import type { PersonRole } from "../rights.ts";
import type { WireSource } from "./source.ts";

const PERSON = "person:";

/** A person's id on the page. */
export function pageUser(name: string): string {
	return `${PERSON}${name}`;
}

/** A person's source: their own name, in their own chat. An owner may write in any chat of the page. */
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
