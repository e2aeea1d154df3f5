// Pseudonyms for ids in prompts. Keyed, because a plain hash of a phone number is found by trying all numbers.
import { createHmac } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import { builtInPlatforms, type Platforms } from "./platforms.ts";
import { whatsappId } from "./whatsapp.ts";

/** `user_<12 hex>`: the same for one person on one platform, however WhatsApp writes the id. */
export function userPseudonym(key: Uint8Array, platform: string, id: string): string {
	return `user_${keyedDigest(key, platform, id)}`;
}

/** `<12 hex>` for a chat or thread; the prefix `<platform>:` stays if it names a registered platform. */
export function chatPseudonym(
	key: Uint8Array,
	platform: string,
	id: string,
	platforms: Platforms = builtInPlatforms,
): string {
	const colon = id.indexOf(":");
	const prefix = id.slice(0, Math.max(colon, 0));
	if (colon === id.length - 1 || !platforms.has(prefix)) return keyedDigest(key, platform, id);
	return `${prefix}:${keyedDigest(key, prefix, id.slice(colon + 1))}`;
}

/** Whether a name reveals what redaction hides: it is one of the ids, or a phone number. */
export function isIdentifier(name: string, ids: readonly (string | undefined)[]): boolean {
	const text = name.trim();
	if (text === "") return false;
	return ids.some((id) => id?.trim() === text) || isPhoneNumber(text);
}

/** Seven digits or more and nothing else but what people write between them; also with a server, `123@lid`. */
function isPhoneNumber(text: string): boolean {
	const [number = ""] = text.normalize("NFKC").split("@", 1);
	return /^\p{Nd}{7,}$/u.test(number.replace(/[\s+().:/\p{Pd}\p{Cf}]/gu, ""));
}

function keyedDigest(key: Uint8Array, platform: string, id: string): string {
	if (key.length === 0) {
		throw new KeryxError("argument.invalid", "pseudonymKey must be the installation's key, not empty", {
			field: "pseudonymKey",
		});
	}
	const person = platform === "whatsapp" ? whatsappId(id) : id;
	return createHmac("sha256", key).update(`${platform}\0${person}`).digest("hex").slice(0, 12);
}
