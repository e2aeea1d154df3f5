// The readable name of an address. Not unique: `:` occurs in ids, and threads and participants look alike, so two addresses can have the
// same name. The store then adds a suffix.
import type { Address } from "../types.ts";
import { whatsappBare } from "./whatsapp.ts";

export function readableKey(address: Address): string {
	const { platform, chatType, scope, chat, thread, participant } = address;
	let key = `agent:${namespace(address.profile)}:${platform}:${chatType}`;
	if (scope) key += `:${scope}`;
	if (chatType === "dm") {
		const partner = chat || participant;
		if (partner) key += `:${printedPerson(platform, partner)}`;
		return thread ? `${key}:${thread}` : key;
	}
	if (chat) key += `:${chat}`;
	if (thread) key += `:${thread}`;
	return participant ? `${key}:${printedPerson(platform, participant)}` : key;
}

/** `main` in a key means no profile, so a profile of that name is marked; `~` cannot be part of a name. */
function namespace(profile: string): string {
	if (profile === "") return "main";
	return profile === "main" ? "main~" : profile;
}

function printedPerson(platform: string, id: string): string {
	return platform === "whatsapp" ? whatsappBare(id) : id;
}
