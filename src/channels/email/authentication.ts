// Whether a From is proven: by the Authentication-Results header (RFC 8601) that the receiving server itself has written. Anybody can put
// such a header into a mail, so only the topmost one with that server's name counts. Pure.
import { domainOf } from "./address.ts";

export type Proof = { readonly isProven: true } | { readonly isProven: false; readonly reason: string };

interface Result {
	readonly method: string;
	readonly result: string;
	/** By `ptype.property`. */
	readonly properties: ReadonlyMap<string, string>;
}

/** `headers`: the values of the Authentication-Results headers, topmost first. */
export function proofOf(from: string, headers: readonly string[], authservId: string | undefined): Proof {
	if (authservId === undefined)
		return unproven("email.authserv_id does not name the server whose checks count");
	const own = headers.map(parse).find((one) => one.server === authservId.toLowerCase());
	if (!own) return unproven(`${authservId} has not said whether ${from} wrote it`);
	const domain = domainOf(from);
	const dmarc = own.results.filter(({ method }) => method === "dmarc");
	if (dmarc.some((one) => one.result === "pass" && isSame(one.properties.get("header.from"), domain)))
		return PROVEN;
	const failed = dmarc.find(({ result }) => result !== "none");
	if (failed) return unproven(`${authservId} says dmarc=${failed.result} about ${from}`);
	const isSigned = own.results.some(
		({ method, result, properties }) =>
			method === "dkim" &&
			result === "pass" &&
			(covers(properties.get("header.d"), domain) || covers(properties.get("header.i"), domain)),
	);
	const isSent = own.results.some(
		({ method, result, properties }) =>
			method === "spf" && result === "pass" && covers(properties.get("smtp.mailfrom"), domain),
	);
	if (isSigned || isSent) return PROVEN;
	return unproven(`${authservId} confirms no signature and no server of ${domain}`);
}

const PROVEN: Proof = { isProven: true };

function unproven(reason: string): Proof {
	return { isProven: false, reason };
}

/** Left out, it is about the From by definition. */
function isSame(stated: string | undefined, domain: string): boolean {
	return stated === undefined || domainOf(stated.toLowerCase()) === domain;
}

/** The same domain, or a parent of it: a signature for the parent covers its subdomains, not the other way round. */
function covers(stated: string | undefined, domain: string): boolean {
	const given = domainOf((stated ?? "").toLowerCase());
	return given.includes(".") && (given === domain || domain.endsWith(`.${given}`));
}

function parse(header: string): { readonly server: string; readonly results: readonly Result[] } {
	const [first = "", ...rest] = split(withoutComments(header).replace(/\s+/g, " "));
	const [server = ""] = words(first);
	return { server: unquoted(server).toLowerCase(), results: rest.flatMap(resultOf) };
}

function resultOf(text: string): Result[] {
	const [first = "", ...rest] = words(text.replace(/ ?= ?/g, "="));
	const stated = /^([A-Za-z0-9_-]+)(?:\/\d+)?=([A-Za-z0-9_-]+)$/.exec(first);
	if (!stated) return [];
	const properties = new Map<string, string>();
	for (const word of rest) {
		const pair = /^([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)=(.+)$/s.exec(word);
		if (pair) properties.set((pair[1] as string).toLowerCase(), unquoted(pair[2] as string));
	}
	return [
		{ method: (stated[1] as string).toLowerCase(), result: (stated[2] as string).toLowerCase(), properties },
	];
}

/** Comments nest; brackets in quotes do not count. */
function withoutComments(text: string): string {
	let depth = 0;
	let isQuoted = false;
	let shown = "";
	for (let at = 0; at < text.length; at++) {
		const char = text[at] as string;
		if (char === "\\" && (isQuoted || depth > 0)) {
			if (depth === 0) shown += char + (text[at + 1] ?? "");
			at++;
			continue;
		}
		if (char === '"' && depth === 0) isQuoted = !isQuoted;
		if (!isQuoted && char === "(") depth++;
		else if (!isQuoted && char === ")" && depth > 0) depth--;
		else if (depth === 0) shown += char;
	}
	return shown;
}

function split(text: string): string[] {
	return pieces(text, ";");
}

function words(text: string): string[] {
	return pieces(text, " ").filter((word) => word !== "");
}

/** Between separators outside quotes. Read once: whoever sends a mail can make this as long as they like. */
function pieces(text: string, separator: string): string[] {
	const found: string[] = [];
	let from = 0;
	let isQuoted = false;
	for (let at = 0; at < text.length; at++) {
		const char = text[at];
		if (char === "\\" && isQuoted) at++;
		else if (char === '"') isQuoted = !isQuoted;
		else if (char === separator && !isQuoted) {
			found.push(text.slice(from, at).trim());
			from = at + 1;
		}
	}
	return [...found, text.slice(from).trim()];
}

function unquoted(text: string): string {
	return /^".*"$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text;
}
