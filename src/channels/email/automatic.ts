// Automatic mails: auto-replies, lists, bounces (RFC 3834). Answering one could start an endless loop. Pure.
import { domainOf } from "./address.ts";
import type { Mail } from "./mail.ts";

/** Counts the Keryx installations that a mail's thread has passed without a person between them. */
export const HOP_HEADER = "X-Keryx-Hops";

const ROBOTS =
	/^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?(?:[+-].*)?|listserv|majordomo)@/;
const LIST_HEADERS = ["list-id", "list-unsubscribe", "list-post", "list-help", "feedback-id"];
const BULK = new Set(["bulk", "list", "junk", "auto_reply"]);

/** Why a mail is not answered; null: a person wrote it, or a Keryx. */
export function whyAutomatic(mail: Pick<Mail, "header" | "from">): string | null {
	const { header } = mail;
	const submitted = header("auto-submitted")
		?.replace(/[;(].*$/s, "")
		.trim()
		.toLowerCase();
	if (submitted !== undefined && submitted !== "no")
		return `an automatic mail (Auto-Submitted: ${submitted})`;
	const precedence = header("precedence")?.trim().toLowerCase();
	if (precedence !== undefined && BULK.has(precedence)) return `a mail to many (Precedence: ${precedence})`;
	const list = LIST_HEADERS.find((name) => header(name) !== undefined);
	if (list !== undefined) return `a mail from a list (${list})`;
	if (["x-autoreply", "x-autorespond", "x-auto-response-suppress"].some((name) => header(name) !== undefined))
		return "an automatic answer";
	if (header("return-path")?.replace(/\s/g, "") === "<>") return "a report of a mail server (no return path)";
	if (/^multipart\/report\b/i.test(header("content-type") ?? "")) return "a report of a mail server";
	if (ROBOTS.test(mail.from?.address ?? "")) return `a mail from ${mail.from?.address}, where nobody reads`;
	return null;
}

/** How many answers of Keryx installations came before it. 0: the header is absent or unreadable, as in a mail of a person. */
export function hopsOf({ header }: Pick<Mail, "header">): number {
	const stated = header(HOP_HEADER.toLowerCase())?.trim() ?? "";
	return /^\d{1,6}$/.test(stated) ? Number(stated) : 0;
}

/** Whether the operator wants this sender's automatic mails answered: by address, or as `@domain`. */
export function isWanted(address: string, wanted: readonly string[]): boolean {
	return wanted.some((one) => {
		const name = one.toLowerCase();
		return name.startsWith("@") ? domainOf(address) === name.slice(1) : address === name;
	});
}
