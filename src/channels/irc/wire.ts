// IRC on the wire: lines to messages and back. An outgoing line has one command and cannot carry a second one: characters that would end
// it are shown as pictures.

/** Of one line, including its end, as every server accepts. Tags have separate space. */
export const LINE_BYTES = 512;

export interface Message {
	readonly tags: ReadonlyMap<string, string>;
	/** The sender: `nick!user@host` of a person, or a server's name. */
	readonly prefix: string;
	/** The prefix up to the `!`. */
	readonly nick: string;
	/** In capitals, or three digits. */
	readonly command: string;
	readonly params: readonly string[];
}

const LINE = /^(?:@([^ ]*) +)?(?::([^ ]*) +)?([A-Za-z]+|\d{3})((?: .*)?)$/s;

/** Null if it is not a message. */
export function parseLine(line: string): Message | null {
	const [, tags = "", prefix = "", command, rest = ""] = LINE.exec(line) ?? [];
	if (command === undefined) return null;
	return {
		tags: readTags(tags),
		prefix,
		nick: prefix.split("!", 1)[0] as string,
		command: command.toUpperCase(),
		params: readParams(rest),
	};
}

function readParams(text: string): string[] {
	const params: string[] = [];
	for (let rest = text; ; ) {
		rest = rest.replace(/^ +/, "");
		if (rest === "") return params;
		if (rest.startsWith(":")) return [...params, rest.slice(1)];
		const [word = ""] = rest.split(" ", 1);
		params.push(word);
		rest = rest.slice(word.length);
	}
}

const TAG_ESCAPES: Readonly<Record<string, string>> = { ":": ";", s: " ", "\\": "\\", r: "\r", n: "\n" };

function readTags(text: string): Map<string, string> {
	const tags = new Map<string, string>();
	if (text === "") return tags;
	for (const tag of text.split(";")) {
		const at = tag.indexOf("=");
		const [name, value] = at < 0 ? [tag, ""] : [tag.slice(0, at), tag.slice(at + 1)];
		tags.set(
			name,
			value.replace(/\\(.?)/gs, (_, char: string) => TAG_ESCAPES[char] ?? char),
		);
	}
	return tags;
}

/** Whether it can be a parameter between spaces. */
export function isWord(text: string): boolean {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
	return /^[^:\s\x00-\x20\x7f,][^\s\x00-\x20\x7f,]*$/.test(text);
}

/** One line without its end. Only the last parameter may be anything; the others must be words. */
export function formatLine(command: string, params: readonly string[] = []): string {
	const last = params.length - 1;
	const written = params.map((param, n) => {
		if (n < last && !isWord(param)) throw new Error(`IRC cannot carry ${JSON.stringify(param)} there`);
		if (n < last) return param;
		const text = pictured(param.toWellFormed());
		return isWord(text) && text === param ? text : `:${text}`;
	});
	return [command, ...written].join(" ");
}

/** Characters that end a line or make it a CTCP request are shown as pictures. */
export function pictured(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
	return text.replace(/[\x00\x01\x0a\x0d]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)));
}

/** A line's length for its readers: the server puts our name before it. */
export function shownBytes(prefix: string, line: string): number {
	return Buffer.byteLength(`:${prefix} ${line}\r\n`);
}

/** One spelling for names that a server considers the same. Servers differ only over brackets; those are left alone. */
export function folded(name: string): string {
	return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Colours, bold and so on: formatting bytes, not words. */
export function withoutFormats(text: string): string {
	return (
		text
			// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of formats
			.replace(/\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[\da-f]{6}(?:,[\da-f]{6})?)?/gi, "")
			// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of formats
			.replace(/[\x02\x0f\x11\x16\x1d\x1e\x1f]/g, "")
	);
}

/** UTF-8, or else the encoding of old clients. */
export function decoded(bytes: Uint8Array): string {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return Buffer.from(bytes).toString("latin1");
	}
}
