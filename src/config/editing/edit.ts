// Edits config.yaml like a person: only changed keys are touched; comments, order and formatting stay.
import { renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, parseDocument } from "yaml";
import { KERYX } from "../../called.ts";
import { KeryxError } from "../../errors.ts";

/** Dotted keys and their new values; undefined removes a key. The text must be valid YAML, or empty. */
export function editConfig(text: string, changes: Readonly<Record<string, unknown>>): string {
	const isWindows = text.includes("\r\n");
	let edited = isWindows ? text.replaceAll("\r\n", "\n") : text;
	// One after another: each touches one place, and the lines around it can be kept as they are.
	for (const [key, value] of Object.entries(changes)) edited = editKey(edited, key, value);
	return isWindows ? edited.replaceAll("\n", "\r\n") : edited;
}

/** The value at a dotted key; undefined if it is not set. */
export function writtenValue(text: string, key: string): unknown {
	let held: unknown = readable(text).toJS();
	for (const name of key.split(".")) {
		if (typeof held !== "object" || held === null || !Object.hasOwn(held, name)) return undefined;
		held = (held as Readonly<Record<string, unknown>>)[name];
	}
	return held ?? undefined;
}

function editKey(text: string, key: string, value: unknown): string {
	const document = readable(text);
	const usual = printed(document);
	const path = key.split(".");
	try {
		if (value !== undefined) {
			for (let depth = 0; depth < path.length; depth++) openMap(document, path.slice(0, depth));
			document.setIn(path, value);
		} else if (document.hasIn(path)) takeOut(document, path);
	} catch (cause) {
		throw new KeryxError("config.syntax", `${key} is written in a way that cannot be changed here`, {
			field: key,
			hint: "change it in config.yaml by hand",
			cause,
		});
	}
	const after = printed(document);
	return after === usual ? text : keepForm(text, usual, after);
}

/** An empty section counts as not set. */
function openMap(document: Document, path: readonly string[]): void {
	const held = path.length === 0 ? document.contents : document.getIn(path, true);
	if (isScalar(held) && held.value === null) document.setIn(path, document.createNode({}));
	if (isMap(held) && held.items.length === 0) held.flow = false;
}

/** Also removes sections that become empty, unless they have comments. */
function takeOut(document: Document, path: readonly string[]): void {
	document.deleteIn(path);
	for (let depth = path.length - 1; depth > 0; depth--) {
		const above = path.slice(0, depth);
		const held = document.getIn(above, true);
		const parent = depth === 1 ? document.contents : document.getIn(above.slice(0, -1), true);
		if (!isMap(held) || held.items.length > 0 || !isMap(parent)) return;
		const key = parent.items.find(
			(pair) => isScalar(pair.key) && String(pair.key.value) === above.at(-1),
		)?.key;
		if (held.comment || held.commentBefore || (isScalar(key) && (key.comment || key.commentBefore))) return;
		document.deleteIn(above);
	}
}

function readable(text: string): Document {
	const document: Document = parseDocument(text);
	document.contents ??= document.createNode({});
	if (document.errors.length === 0 && isMap(document.contents)) return document;
	throw new KeryxError("config.syntax", "config.yaml is not valid YAML, so it was not changed", {
		hint: `run \`${KERYX} config check\`, correct it, then try again`,
	});
}

function printed(document: Document): string {
	return document.toString({ lineWidth: 0 });
}

/**
 * Keeps unchanged lines as written. `usual` and `after` are in the library's format, before and after; it merges blank lines, so the
 * others are counted. If the result would have another meaning, `after` is used as it is.
 */
function keepForm(text: string, usual: string, after: string): string {
	const [written = [], before = [], now = []] = [text, usual, after].map((one) => one.split("\n"));
	if (written.filter(isFilled).length !== before.filter(isFilled).length) return after;
	let start = 0;
	while (start < before.length && start < now.length && before[start] === now[start]) start++;
	let end = 0;
	while (
		end < Math.min(before.length, now.length) - start &&
		before[before.length - 1 - end] === now[now.length - 1 - end]
	)
		end++;
	const kept = [
		...firstLines(written, before.slice(0, start)),
		...now.slice(start, now.length - end),
		...firstLines(written.toReversed(), before.slice(before.length - end).toReversed()).toReversed(),
	].join("\n");
	const { errors, contents } = parseDocument(kept);
	const isSame = isDeepStrictEqual(contents?.toJSON(), parseDocument(after).contents?.toJSON());
	return errors.length === 0 && isSame ? kept : after;
}

/** As many non-blank lines as in `like`, with the blank ones after them if it ends in one. */
function firstLines(lines: readonly string[], like: readonly string[]): readonly string[] {
	const wanted = like.filter(isFilled).length;
	let end = 0;
	for (let filled = 0; filled < wanted; end++) if (isFilled(lines[end] ?? "")) filled++;
	if (like.length > 0 && !isFilled(like.at(-1) ?? ""))
		while (end < lines.length && !isFilled(lines[end] ?? "")) end++;
	return lines.slice(0, end);
}

function isFilled(line: string): boolean {
	return line.trim() !== "";
}

/** Written to a temporary file and renamed: a crash leaves the old or the new one, and a running Keryx takes it at once. */
export function writeConfig(file: string, text: string): void {
	const replacement = `${file}.new`;
	writeFileSync(replacement, text, { mode: 0o600 });
	renameSync(replacement, file);
}
