// The pairing code that a stranger reads out to the owner. Only its digest is stored.

import { createHash } from "node:crypto";
import type { Source } from "../../domain/index.ts";
import { type Destination, destinationOf, pairingNoticeId } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { withButtons } from "../outbox/question.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { pairingQuestion, pairingSentence } from "../sentences.ts";
import { texts } from "../texts.ts";

/** Without letters and digits that look alike. */
const ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const LENGTH = 8;
/** The largest multiple of the alphabet's length within a byte: larger values are redrawn, so that no letter is more likely. */
const EVEN = Math.floor(256 / ALPHABET.length) * ALPHABET.length;

export interface PairingOptions {
	readonly randomBytes: (length: number) => Uint8Array;
	readonly outlet: Outlet;
	/** Where the owner is asked. */
	readonly homes: () => readonly Destination[];
	/** Whether only an owner reads a chat. */
	readonly isOwners: (destination: Destination) => boolean;
}

/** A new code for a stranger, the message that contains it, and the question to the owner. */
export function pairingFor(source: Source, { randomBytes, outlet, homes, isOwners }: PairingOptions) {
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
		questions: homes().flatMap((home, n) =>
			questionAt(home, `${pairingNoticeId(digest)}:home${n}`, source, isOwners(home) ? code : null, outlet),
		),
	};
}

/**
 * With the code, so that the owner approves the person who can read it out, not anyone with a familiar name. Only in a chat that nobody
 * else reads, or anyone there could read it out.
 */
function questionAt(
	destination: Destination,
	id: string,
	source: Source,
	code: string | null,
	outlet: Outlet,
) {
	const { platform, userIdAlt, userId, chatId, userName } = source;
	const text = pairingQuestion({ platform, id: userIdAlt ?? userId ?? chatId, name: userName ?? null, code });
	// Only for owners; expires with the code.
	const press = { principal: null, owner: true, until: 0 };
	const choices = [
		{ label: texts.pair.buttons.approve, style: "primary", command: "/pair approve {n}", ...press },
		{ label: texts.pair.buttons.guest, command: "/pair approve {n} guest", ...press },
		{ label: texts.pair.buttons.deny, style: "danger", command: "/pair deny {n}", ...press },
	] as const;
	const deliveries = toDeliveries(text, { id, kind: "notice", class: "question", destination }, outlet);
	return withButtons(deliveries, [choices], outlet);
}

function newCode(randomBytes: (length: number) => Uint8Array): string {
	let code = "";
	while (code.length < LENGTH)
		for (const byte of randomBytes(LENGTH))
			if (byte < EVEN && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length];
	return code;
}

/** Accepts lower case, dashes and spaces. */
export function codeDigest(platform: string, code: string): string {
	const plain = code.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
	return createHash("sha256").update(`${platform}\n${plain}`).digest("hex");
}
