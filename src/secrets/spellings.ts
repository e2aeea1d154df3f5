// The forms in which a value may be written. The search handles case, line breaks and backslashes; this lists one spelling per encoding.

/** Shorter values would hide ordinary words all over the place. */
export const SHORTEST_HIDDEN = 6;

/** Every spelling of a value, each once. White space around it is no part of a secret. */
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
			// Bytes that were read as another alphabet.
			bytes.toString("latin1"),
			...base64Forms(bytes),
		]),
	];
}

/** As writers of JSON escape it. However often it is escaped again, that adds backslashes only, which do not count. */
function jsonForms(text: string): string[] {
	return [json, asciiJson, htmlJson].map((write) => write(text));
}

function json(text: string): string {
	return JSON.stringify(text).slice(1, -1);
}

/** Many writers escape everything beyond ASCII. */
function asciiJson(text: string): string {
	return json(text).replace(/[^\u0020-\u007e]/g, unicodeEscape);
}

/** Others escape what would matter inside a page. */
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
		// As a path is left where only what would change its meaning stays encoded.
		text.replace(/[;/?:@&=+$,#%]/g, percent),
		component.replace(/[!'()*~]/g, percent),
		// As forms send it.
		new URLSearchParams({ "": text }).toString().slice(1),
		// Every byte of it, and a value that was encoded twice.
		bytes.toString("hex").replace(/../g, "%$&"),
		encodeURIComponent(component),
	];
}

function percent(unit: string): string {
	return `%${unit.charCodeAt(0).toString(16)}`;
}

/**
 * Base64 of any text that holds the value: it may begin at each of three places within a group. Only the characters that the value
 * alone decides are taken, and for the value by itself also the last one and the padding. In both alphabets, and as URLs carry them.
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

/** How many characters hold bits of so many bytes before the value. */
const SHARED_AT_START = [0, 2, 3];
