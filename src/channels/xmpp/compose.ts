// Messages of Keryx as stanzas. Their ids are made of the delivery's id, so that a message can be found again and no second one is made.
import { createHash } from "node:crypto";
import { NS } from "./stream/namespaces.ts";
import { type Element, element } from "./stream/xml.ts";

export interface Composed {
	readonly to: string;
	readonly type: "chat" | "groupchat";
	readonly id: string;
	readonly text: string;
	/** Addresses of files. */
	readonly files?: readonly string[];
	/** The message that this one replaces. */
	readonly replaces?: string;
	/** The room's id of the message that this one answers. */
	readonly answers?: string | undefined;
}

/** Prefix of an account's message ids, so that two installations in one room do not mistake each other's for their own. */
export function idPrefix(own: string): string {
	return `keryx-${createHash("sha256").update(own).digest("hex").slice(0, 8)}-`;
}

export function compose({ to, type, id, text, files = [], replaces, answers }: Composed): Element {
	const body = [...(text === "" ? [] : [text]), ...files].join("\n");
	return element(
		"message",
		NS.client,
		{ to, type, id },
		element("body", NS.client, {}, body),
		element("origin-id", NS.ids, { id }),
		...files.map((url) => element("x", NS.outOfBand, {}, element("url", NS.outOfBand, {}, url))),
		...(replaces === undefined ? [] : [element("replace", NS.correct, { id: replaces })]),
		...(answers === undefined ? [] : [element("reply", NS.reply, { id: answers, to })]),
		// The text means what it says: a star is a star.
		element("unstyled", NS.styling),
		element("active", NS.states),
		element("store", NS.hints),
	);
}

export function typing(to: string, type: "chat" | "groupchat"): Element {
	return element(
		"message",
		NS.client,
		{ to, type },
		element("composing", NS.states),
		element("no-store", NS.hints),
	);
}
