// Text as Telegram takes it: cleaned first, then its markup read. Errors have Telegram's own words, because bots tell them apart by these.
import type { MessageEntity } from "grammy/types";
import { ApiError } from "./errors.ts";

export interface Formatted {
	readonly text: string;
	readonly entities: readonly MessageEntity[];
}

export function readText(text: string, parseMode: string | undefined): Formatted {
	const cleaned = clean(text);
	const formatted = parseMode?.toLowerCase() === "html" ? readHtml(cleaned) : { text: cleaned, entities: [] };
	return trim(formatted);
}

/** Control characters become spaces, carriage returns and the characters that reorder lines vanish. */
export function clean(text: string): string {
	return (
		text
			.toWellFormed()
			.replace(/\r|[\u2028-\u202e]/g, "")
			// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are replaced
			.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ")
	);
}

/** What Telegram finds by itself in what people write. */
export function foundEntities(text: string): MessageEntity[] {
	const found: MessageEntity[] = [];
	for (const [type, pattern] of [
		["bot_command", /(?<![\w/])\/[a-zA-Z0-9_]{1,32}(?:@\w{3,32})?/g],
		["mention", /(?<![\w/])@\w{3,32}/g],
	] as const)
		for (const match of text.matchAll(pattern))
			found.push({ type, offset: match.index, length: match[0].length });
	return found;
}

const NAMES: Readonly<Record<string, MessageEntity["type"]>> = {
	b: "bold",
	strong: "bold",
	i: "italic",
	em: "italic",
	u: "underline",
	ins: "underline",
	s: "strikethrough",
	strike: "strikethrough",
	del: "strikethrough",
	code: "code",
	pre: "pre",
	blockquote: "blockquote",
	"tg-spoiler": "spoiler",
	span: "spoiler",
	a: "text_link",
};
const CHARACTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

interface Open {
	readonly name: string;
	readonly attributes: string;
	readonly offset: number;
}

function readHtml(html: string): Formatted {
	let text = "";
	const entities: MessageEntity[] = [];
	const open: Open[] = [];
	for (let at = 0; at < html.length; ) {
		const rest = html.slice(at);
		const character = /^&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));/.exec(rest);
		if (character) {
			text += decoded(character);
			at += character[0].length;
		} else if (rest.startsWith("<")) {
			const offset = Buffer.byteLength(html.slice(0, at));
			const tag = /^<(\/?)([a-zA-Z0-9-]*)((?:\s+[^<>]*)?)>/.exec(rest);
			if (!tag) throw unparsed(`Unclosed start tag at byte offset ${offset}`);
			const [whole, slash, given = "", attributes = ""] = tag;
			const name = given.toLowerCase();
			if (slash) {
				const last = open.pop();
				if (!last) throw unparsed(`Unexpected end tag at byte offset ${offset}`);
				if (name !== "" && last.name !== name)
					throw unparsed(
						`Unmatched end tag at byte offset ${offset}, expected "</${last.name}>", found "</${name}>"`,
					);
				close(last, text, entities);
			} else {
				if (!Object.hasOwn(NAMES, name))
					throw unparsed(`Unsupported start tag "${name}" at byte offset ${offset}`);
				open.push({ name, attributes, offset: text.length });
			}
			at += whole.length;
		} else {
			text += html[at];
			at++;
		}
	}
	const left = open.at(-1);
	if (left) throw unparsed(`Can't find end tag corresponding to start tag "${left.name}"`);
	return { text, entities };
}

function decoded([whole, decimal, hex, name]: RegExpExecArray): string {
	if (name !== undefined) return CHARACTERS[name] ?? whole;
	const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
	return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

function close({ name, attributes, offset }: Open, text: string, entities: MessageEntity[]): void {
	const length = text.length - offset;
	const type = NAMES[name];
	if (length === 0 || type === undefined) return;
	if (name === "a") {
		const url = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(attributes);
		if (url) entities.push({ type: "text_link", offset, length, url: url[1] ?? url[2] ?? "" });
		return;
	}
	entities.push({ type, offset, length } as MessageEntity);
}

function trim({ text, entities }: Formatted): Formatted {
	const start = text.length - text.trimStart().length;
	const trimmed = text.trim();
	const end = start + trimmed.length;
	const moved = entities
		.map((entity) => {
			const from = Math.max(entity.offset, start);
			return {
				...entity,
				offset: from - start,
				length: Math.min(entity.offset + entity.length, end) - from,
			};
		})
		.filter(({ length }) => length > 0)
		.sort((a, b) => a.offset - b.offset || b.length - a.length);
	return { text: trimmed, entities: moved };
}

function unparsed(why: string): ApiError {
	return new ApiError(400, `Bad Request: can't parse entities: ${why}`);
}
