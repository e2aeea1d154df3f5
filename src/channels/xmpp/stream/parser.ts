// Reads a stream piece by piece: its opening tag, then whole elements. Only what XMPP allows: no comments, no instructions, no entities of
// its own. Throws at anything else, and at elements that are too large. Elements nested too deeply are left out: servers pass them on,
// and would do so again on the next connection.
import type { Element } from "./xml.ts";

/** Characters of one stanza. */
const LARGEST = 2_000_000;
const DEEPEST = 100;
const CDATA = "<![CDATA[";

export interface ParserEvents {
	readonly opened: (attrs: Readonly<Record<string, string>>) => void;
	readonly element: (element: Element) => void;
	/** The stream's closing tag. */
	readonly closed: () => void;
}

interface Open {
	/** As written, with its prefix. */
	readonly tag: string;
	readonly name: string;
	readonly ns: string;
	readonly attrs: Readonly<Record<string, string>>;
	readonly children: (Element | string)[];
	/** By prefix; the default one is "". */
	readonly scope: ReadonlyMap<string, string>;
}

export class Parser {
	readonly #events: ParserEvents;
	readonly #open: Open[] = [];
	/** Tags of open elements that are too deep. */
	readonly #tooDeep: string[] = [];
	#rest = "";
	#size = 0;

	constructor(events: ParserEvents) {
		this.#events = events;
	}

	feed(text: string): void {
		this.#rest += text;
		this.#size += text.length;
		while (this.#rest !== "") if (!this.#step()) break;
		if (this.#size > LARGEST) throw new Error("the server sent an element that is too large");
	}

	/** False: more is needed. */
	#step(): boolean {
		if (!this.#rest.startsWith("<")) return this.#text();
		if (this.#rest.startsWith(CDATA)) return this.#cdata();
		// It may become one.
		if (CDATA.startsWith(this.#rest)) return false;
		const end = tagEnd(this.#rest);
		if (end < 0) return false;
		const tag = this.#rest.slice(0, end + 1);
		this.#rest = this.#rest.slice(end + 1);
		this.#tag(tag);
		return true;
	}

	#text(): boolean {
		const end = this.#rest.indexOf("<");
		const known = end < 0 ? this.#rest : this.#rest.slice(0, end);
		// A reference may be cut off.
		const cut = end < 0 ? known.lastIndexOf("&") : -1;
		const isCut = cut >= 0 && !known.includes(";", cut);
		const text = isCut ? known.slice(0, cut) : known;
		this.#rest = this.#rest.slice(text.length);
		this.#add(unescaped(text));
		return !isCut || text !== "";
	}

	#cdata(): boolean {
		const end = this.#rest.indexOf("]]>");
		if (end < 0) return false;
		this.#add(this.#rest.slice(CDATA.length, end));
		this.#rest = this.#rest.slice(end + 3);
		return true;
	}

	#add(text: string): void {
		// Between stanzas there is only white space, to keep the connection alive.
		if (this.#open.length < 2) this.#size = this.#rest.length;
		else if (text !== "" && this.#tooDeep.length === 0) this.#open.at(-1)?.children.push(text);
	}

	#tag(tag: string): void {
		if (/^<\?xml\s[^<]*\?>$/.test(tag) && this.#open.length === 0) return;
		const [, slash, name, attributes = "", empty] = TAG.exec(tag) ?? [];
		if (name === undefined || (slash !== undefined && (attributes !== "" || empty !== undefined)))
			throw new Error("the server sent something that is not XMPP");
		if (slash === undefined) this.#begin(name, attributes);
		if (slash !== undefined || empty !== undefined) this.#end(name);
	}

	#begin(tag: string, attributes: string): void {
		if (this.#open.length === DEEPEST) {
			this.#tooDeep.push(tag);
			return;
		}
		const outer = this.#open.at(-1)?.scope ?? new Map([["xml", "http://www.w3.org/XML/1998/namespace"]]);
		const attrs: Record<string, string> = {};
		const scope = new Map(outer);
		for (const [, key = "", double, single] of attributes.matchAll(ATTRIBUTE)) {
			const value = unescaped(double ?? single ?? "");
			if (key === "xmlns") scope.set("", value);
			else if (key.startsWith("xmlns:")) scope.set(key.slice(6), value);
			else if (Object.hasOwn(attrs, key)) throw new Error("the server sent an attribute twice");
			else Object.defineProperty(attrs, key, { value, enumerable: true });
		}
		const at = tag.indexOf(":");
		const ns = scope.get(at < 0 ? "" : tag.slice(0, at));
		if (at >= 0 && ns === undefined) throw new Error("the server sent a name without its namespace");
		this.#open.push({ tag, name: tag.slice(at + 1), ns: ns ?? "", attrs, children: [], scope });
		if (this.#open.length === 1) this.#events.opened(attrs);
	}

	#end(tag: string): void {
		const left = this.#tooDeep.pop();
		const ended = left === undefined ? this.#open.pop() : undefined;
		if ((left ?? ended?.tag) !== tag) throw new Error("the server sent tags that do not match");
		if (!ended) return;
		const { name, ns, attrs, children } = ended;
		const parent = this.#open.at(-1);
		if (!parent) this.#events.closed();
		else if (this.#open.length > 1) parent.children.push({ name, ns, attrs, children });
		else {
			this.#size = this.#rest.length;
			this.#events.element({ name, ns, attrs, children });
		}
	}
}

const TAG = /^<(\/)?([^\s/>"'=<&]+)((?:\s+[^\s=>/"'<&]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?>$/;
const ATTRIBUTE = /([^\s=>/"'<&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

/** Where the tag at the start ends, with its quotes respected; -1: not yet. */
function tagEnd(text: string): number {
	let quote = "";
	for (let at = 1; at < text.length; at++) {
		const char = text[at] as string;
		if (quote !== "") quote = char === quote ? "" : quote;
		else if (char === '"' || char === "'") quote = char;
		else if (char === ">") return at;
	}
	return -1;
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
	return text.replace(/\r\n?/g, "\n").replace(/&([^;&]*);?/g, (whole, name: string) => {
		if (Object.hasOwn(NAMED, name) && whole.endsWith(";")) return NAMED[name] as string;
		const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name) ?? [];
		const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
		if (!whole.endsWith(";") || !(code <= 0x10ffff)) throw new Error("the server sent an unknown reference");
		return String.fromCodePoint(code);
	});
}
