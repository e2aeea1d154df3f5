// File names as bytes, as git and the system have them. Inside this folder a path is a string of one character per byte, relative to the
// workspace, with / between its parts. People see text. Guards outside input: an id is hexadecimal, a path stays inside.
import { KeryxError } from "../errors.ts";

declare const rawPath: unique symbol;
/** One character per byte. */
export type RawPath = string & { readonly [rawPath]: true };

export const SHORTEST_ID = 7;
const ID_LENGTH = 40;

export function rawOf(bytes: Buffer): RawPath {
	return bytes.toString("latin1") as RawPath;
}

export function bytesOf(path: string): Buffer {
	return Buffer.from(path, "latin1");
}

/** The bytes of a path below a folder, for a system call. */
export function fullPath(root: string, path: string): Buffer {
	if (root !== lastRoot.text) lastRoot = { text: root, raw: Buffer.from(root, "utf8").toString("latin1") };
	return Buffer.from(`${lastRoot.raw}/${path}`, "latin1");
}

/** As text if every byte is ASCII: system calls are faster with text than with bytes. */
export function callPath(root: string, path: string): string | Buffer {
	return NOT_ASCII.test(path) || NOT_ASCII.test(root) ? fullPath(root, path) : `${root}/${path}`;
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Tens of thousands of paths are converted in a row, all below the same folder. */
let lastRoot = { text: "", raw: "" };

/** The folder that contains it; '' for the workspace. */
export function parentOf(path: string): string {
	return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The name within that folder. */
export function nameOf(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** As text. A name that is not UTF-8, or looks like the quoted form, is quoted as git does. */
export function shown(path: RawPath): string {
	const bytes = bytesOf(path);
	const text = bytes.toString("utf8");
	return text.startsWith('"') || !Buffer.from(text, "utf8").equals(bytes) ? quoted(path) : text;
}

/** In double quotes, with unusual bytes as octal numbers: the form that git reads and writes. */
export function quoted(path: string): string {
	return `"${path.replace(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`)}"`;
}

/** Throws argument.invalid unless it is a relative path that stays inside. */
export function readPath(given: string, field = "file"): RawPath {
	const path = unquoted(given);
	const parts = path.split("/");
	const reason =
		path === ""
			? "it is empty"
			: path.includes("\0")
				? "it contains a NUL"
				: path.startsWith("/")
					? "it is absolute"
					: parts.some((part) => part === "..")
						? "it points outside the workspace"
						: parts.some((part) => part === "" || part === ".")
							? "it is not in its simplest form"
							: parts.some(isGit)
								? "it belongs to git"
								: undefined;
	if (reason)
		throw new KeryxError("argument.invalid", `${field} must be a path inside the workspace: ${reason}`, {
			field,
			hint: "write it as in the list of changes, relative to the workspace",
		});
	return path as RawPath;
}

/** git accepts no such name, in upper or lower case. */
export function isGit(name: string): boolean {
	return name.length === 4 && name.toLowerCase() === ".git";
}

function unquoted(given: string): string {
	if (!/^".*"$/s.test(given)) return Buffer.from(given, "utf8").toString("latin1");
	return Buffer.from(given.slice(1, -1), "utf8")
		.toString("latin1")
		.replace(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Throws argument.invalid unless it is an id or the start of one. */
export function readId(given: string, field = "id"): string {
	if (/^[0-9a-f]+$/.test(given) && given.length >= SHORTEST_ID && given.length <= ID_LENGTH) return given;
	throw new KeryxError(
		"argument.invalid",
		`${field} must be a checkpoint's id, or at least its first ${SHORTEST_ID} digits`,
		{ field, hint: "the list of checkpoints shows the ids" },
	);
}
