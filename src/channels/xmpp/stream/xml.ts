// XML as XMPP uses it: elements with a namespace, text between them, nothing else.

export interface Element {
	readonly name: string;
	readonly ns: string;
	readonly attrs: Readonly<Record<string, string>>;
	readonly children: readonly (Element | string)[];
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** Attributes that are undefined are left out. */
export function element(
	name: string,
	ns: string,
	attrs: Attributes = {},
	...children: readonly (Element | string)[]
): Element {
	const given = Object.entries(attrs).filter((pair): pair is [string, string] => pair[1] !== undefined);
	return { name, ns, attrs: Object.fromEntries(given), children };
}

/** The first child element with this name and namespace. */
export function child(parent: Element, name: string, ns: string = parent.ns): Element | undefined {
	return elements(parent).find((one) => one.name === name && one.ns === ns);
}

export function elements(parent: Element): Element[] {
	return parent.children.filter((one) => typeof one !== "string");
}

/** The text directly inside; empty without the element. */
export function textOf(parent: Element | undefined): string {
	return (parent?.children ?? []).filter((one) => typeof one === "string").join("");
}

/** `outer`: the namespace that holds where it is written. */
export function serialize({ name, ns, attrs, children }: Element, outer: string): string {
	const own = ns === outer ? "" : ` xmlns="${escaped(ns)}"`;
	const given = Object.entries(attrs).map(([key, value]) => ` ${key}="${escaped(value)}"`);
	const inner = children.map((one) => (typeof one === "string" ? escaped(one) : serialize(one, ns)));
	const open = `<${name}${own}${given.join("")}`;
	return inner.length === 0 ? `${open}/>` : `${open}>${inner.join("")}</${name}>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&apos;",
	// A parser would make these spaces in an attribute.
	"\t": "&#9;",
	"\n": "&#10;",
};

export function escaped(text: string): string {
	return allowed(text).replace(/[&<>"'\t\n]/g, (found) => ENTITIES[found] ?? found);
}

/** Characters that XML cannot carry are shown as their pictures, or as a replacement; a line ends in one way only. */
export function allowed(text: string): string {
	return (
		text
			.toWellFormed()
			.replace(/\r\n?/g, "\n")
			// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
			.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, (found) => String.fromCharCode(0x2400 + found.charCodeAt(0)))
			.replace(/[\ufffe\uffff]/g, "\ufffd")
	);
}
