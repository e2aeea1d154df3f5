// The spellings of a value. The search handles case, line breaks and backslashes; this lists one spelling per encoding.

/** Shorter values would hide ordinary words everywhere. */
export const SHORTEST_HIDDEN = 6;

/** Every spelling of a value, without duplicates. Surrounding white space is not part of a secret. */
export function spellings(value: string): readonly string[] {
	const text = value.trim().toWellFormed();
	const bytes = Buffer.from(text);
	return [
		...new Set([
			text,
			text.toUpperCase(),
			text.toLowerCase(),
			...jsonForms(text),
			...urlForms(text, bytes),
			bytes.toString("hex"),
			// Bytes decoded with another character set.
			bytes.toString("latin1"),
			...base64Forms(bytes),
		]),
	];
}

/** As JSON writers escape it. Repeated escaping only adds backslashes, which do not count. */
function jsonForms(text: string): string[] {
	return [json, asciiJson, htmlJson].map((write) => write(text));
}

function json(text: string): string {
	return JSON.stringify(text).slice(1, -1);
}

/** Many writers escape all non-ASCII characters. */
function asciiJson(text: string): string {
	return json(text).replace(/[^\u0020-\u007e]/g, unicodeEscape);
}

/** Others escape characters with a meaning in HTML. */
function htmlJson(text: string): string {
	return json(text).replace(/[<>&'\u2028\u2029]/g, unicodeEscape);
}

function unicodeEscape(unit: string): string {
	return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function urlForms(text: string, bytes: Buffer): string[] {
	const component = encodeURIComponent(text);
	return [
		component,
		encodeURI(text),
		// As in a path, where only characters that would change its meaning stay encoded.
		text.replace(/[;/?:@&=+$,#%]/g, percent),
		component.replace(/[!'()*~]/g, percent),
		// As forms send it.
		new URLSearchParams({ "": text }).toString().slice(1),
		// Every byte encoded, and a value encoded twice.
		bytes.toString("hex").replace(/../g, "%$&"),
		encodeURIComponent(component),
	];
}

function percent(unit: string): string {
	return `%${unit.charCodeAt(0).toString(16)}`;
}

/**
 * Base64 of any text that contains the value, which may start at each of three positions within a group. Only characters determined by
 * the value alone are taken; for the value by itself also the last one and the padding. In both alphabets, and as in URLs.
 */
function base64Forms(bytes: Buffer): string[] {
	const plain = bytes.toString("base64");
	const forms = [plain, plain.replace(/=+$/, "")];
	for (const before of [0, 1, 2]) {
		const encoded = Buffer.concat([Buffer.alloc(before), bytes])
			.toString("base64")
			.replace(/=+$/, "");
		const isEndShared = (before + bytes.length) % 3 !== 0;
		forms.push(encoded.slice(SHARED_AT_START[before], isEndShared ? -1 : undefined));
	}
	return forms.flatMap((form) => [
		form,
		form.replaceAll("+", "-").replaceAll("/", "_"),
		encodeURIComponent(form),
	]);
}

/** How many characters contain bits of the bytes before the value. */
const SHARED_AT_START = [0, 2, 3];
