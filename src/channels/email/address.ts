// Addresses and message ids: read from headers, compared, and checked before they are written into one (I11).
import { createHash } from "node:crypto";

export interface Mailbox {
	/** In lower case. */
	readonly address: string;
	/** Empty if there is none. */
	readonly name: string;
}

/** Longer ids are replaced by their digest. */
const LONGEST_ID = 200;
const ADDRESS = /^[^\s"(),:;<>@[\\\]\p{Cc}]{1,64}@[^\s"(),:;<>@[\\\]\p{Cc}]{1,255}$/u;

/** Whether it can be written into a header or an envelope as it is. */
export function isAddress(text: string): boolean {
	return ADDRESS.test(text);
}

export function domainOf(address: string): string {
	return address.slice(address.lastIndexOf("@") + 1);
}

/** As people are compared: in lower case. */
export function foldedAddress(address: string): string {
	return address.trim().normalize("NFC").toLowerCase();
}

/** One line without control characters: a header cannot be continued or ended by it. */
export function oneLine(text: string, most = 250): string {
	return text
		.toWellFormed()
		.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
		.replace(/ {2,}/g, " ")
		.trim()
		.slice(0, most)
		.toWellFormed();
}

/** The ids in a References, In-Reply-To or Message-ID header, without their brackets. */
export function messageIds(header: string): string[] {
	return [...header.matchAll(/<([^<>\s\p{Cc}]{1,998})>/gu)].map(([, id]) => id as string);
}

/** An id as the store keeps it. */
export function keptId(id: string): string {
	return id.length <= LONGEST_ID && /^[\x21-\x7e]+$/.test(id) ? id : `sha256-${digest(id)}`;
}

/** The id of a mail that has none. */
export function idFor(source: Uint8Array): string {
	return `none-${createHash("sha256").update(source).digest("hex")}`;
}

/** The Message-ID of a delivery: the same at every attempt, so that it can be looked up. */
export function ownId(address: string, delivery: string): string {
	return `keryx.${markOf(address)}.${digest(delivery).slice(0, 40)}@${domainOf(address)}`;
}

export function isOwnId(address: string, id: string): boolean {
	return id.startsWith(`keryx.${markOf(address)}.`) && id.endsWith(`@${domainOf(address)}`);
}

/** Distinguishes several installations of one domain. */
function markOf(address: string): string {
	return digest(address).slice(0, 8);
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
