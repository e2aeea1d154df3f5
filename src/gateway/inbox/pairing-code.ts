// The code that a stranger reads out to whoever runs Keryx. Only its digest is kept.
import { createHash } from "node:crypto";
import type { Source } from "../../domain/index.ts";
import { destinationOf, pairingNoticeId } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { pairingSentence } from "../sentences.ts";

/** Without letters and digits that look alike. */
const ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const LENGTH = 8;
/** The largest multiple of the alphabet's length within a byte: what is drawn beyond is drawn again, so that no letter is likelier. */
const EVEN = Math.floor(256 / ALPHABET.length) * ALPHABET.length;

/** A new code for a stranger, and the message that tells it. */
export function pairingFor(
	source: Source,
	{ randomBytes, outlet }: { readonly randomBytes: (length: number) => Uint8Array; readonly outlet: Outlet },
) {
	const code = newCode(randomBytes);
	const digest = codeDigest(source.platform, code);
	const destination = destinationOf(source);
	return {
		digest,
		deliveries: toDeliveries(
			pairingSentence(source.platform, code),
			{ id: pairingNoticeId(digest), kind: "notice", class: "answer", destination },
			outlet,
		),
	};
}

function newCode(randomBytes: (length: number) => Uint8Array): string {
	let code = "";
	while (code.length < LENGTH)
		for (const byte of randomBytes(LENGTH))
			if (byte < EVEN && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length];
	return code;
}

/** However it was written: small, or with dashes and spaces. */
export function codeDigest(platform: string, code: string): string {
	const plain = code.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
	return createHash("sha256").update(`${platform}\n${plain}`).digest("hex");
}
