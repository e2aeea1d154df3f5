// A file's bytes as text, and back unchanged. Anything that would not survive is not text.

export type Encoding = "utf-8" | "utf-8 with BOM" | "utf-16le" | "utf-16be" | "latin-1";

export interface FileText {
	readonly text: string;
	readonly encoding: Encoding;
}

const BOM = "\ufeff";
const CHECKED = 8192;

/** Null: not text, or text that would not survive reading and writing. */
export function decodeFile(bytes: Buffer): FileText | null {
	const encoding = encodingOf(bytes);
	if (encoding === null) return null;
	const text = decoded(bytes, encoding);
	return encodeFile({ text, encoding })?.equals(bytes) ? { text, encoding } : null;
}

/** Null: the encoding has no such character. */
export function encodeFile({ text, encoding }: FileText): Buffer | null {
	switch (encoding) {
		case "utf-8":
			return Buffer.from(text);
		case "utf-8 with BOM":
			return Buffer.from(BOM + text);
		case "utf-16le":
			return Buffer.from(BOM + text, "utf16le");
		case "utf-16be":
			return Buffer.from(BOM + text, "utf16le").swap16();
		case "latin-1":
			return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, "latin1") : null;
	}
}

/** From its start; null: binary. */
export function encodingOf(bytes: Buffer): Encoding | null {
	if (bytes.length % 2 === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
	if (bytes.length % 2 === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
	if (bytes.subarray(0, CHECKED).includes(0)) return null;
	const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
	if (isUtf8(bytes)) return hasBom ? "utf-8 with BOM" : "utf-8";
	return isLatin1(bytes) ? "latin-1" : null;
}

export function decoded(bytes: Buffer, encoding: Encoding): string {
	switch (encoding) {
		case "utf-8":
			return bytes.toString();
		case "utf-8 with BOM":
			return bytes.subarray(3).toString();
		case "utf-16le":
			return bytes.subarray(2).toString("utf16le");
		case "utf-16be":
			return Buffer.from(bytes.subarray(2)).swap16().toString("utf16le");
		case "latin-1":
			return bytes.toString("latin1");
	}
}

function isUtf8(bytes: Buffer): boolean {
	try {
		new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		return true;
	} catch {
		return false;
	}
}

/** Control characters that text never contains count against it. */
function isLatin1(bytes: Buffer): boolean {
	return bytes
		.subarray(0, CHECKED)
		.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

/** The kind of binary file, from its first bytes; null: unknown. */
export function kindOfBinary(bytes: Buffer): string | null {
	const start = bytes.subarray(0, 16).toString("latin1");
	return KINDS.find(([magic]) => start.startsWith(magic))?.[1] ?? null;
}

const KINDS: readonly (readonly [magic: string, kind: string])[] = [
	["\x89PNG", "a PNG picture"],
	["\xff\xd8\xff", "a JPEG picture"],
	["GIF8", "a GIF picture"],
	["%PDF", "a PDF document"],
	["PK\x03\x04", "a ZIP archive (or a document in one)"],
	["\x1f\x8b", "a gzip archive"],
	["\x7fELF", "a program"],
	["SQLite format 3", "an SQLite database"],
];
