// The differences between two snapshots, file by file, for people.
import { firstOf } from "../domain/index.ts";
import { type RawPath, shown } from "./names.ts";
import { type CountedChange, countedChanges, type Entry, LARGE, patches } from "./repository.ts";
import { isUnder } from "./restore/plan.ts";
import type { FileDiff } from "./types.ts";

const FILE_CHARACTERS = 64 * 1024;
const ALL_BYTES = 8 * 1024 * 1024;

export async function fileDiffs(
	repository: string,
	from: string,
	to: string,
	{
		file,
		hide,
	}: {
		readonly file: RawPath | undefined;
		/** Hides secrets before a text is cut: part of one would remain otherwise. */
		readonly hide: (text: string) => string;
	},
): Promise<readonly FileDiff[]> {
	const changes = await countedChanges(repository, from, to, file);
	if (changes.length === 0) return [];
	const { texts, isCut } = await patches(repository, from, to, ALL_BYTES, file);
	let at = 0;
	const diffs = changes.map((change) => {
		const pieces = texts.slice(at, at + piecesOf(change));
		at += piecesOf(change);
		// The last piece may have been cut at the limit.
		const whole = at < texts.length || !isCut;
		const isAll = pieces.length === piecesOf(change) && whole;
		return { path: change.path, diff: toDiff(change, hide(pieces.join("") || modesOf(change)), isAll) };
	});
	return diffs.filter(({ path }) => file === undefined || isUnder(path, file)).map(({ diff }) => diff);
}

/**
 * git reports a file that became a link, or the reverse, as one removed and one added. It knows nothing about permissions, or files not
 * saved for their size.
 */
function piecesOf({ from, to }: CountedChange): number {
	if (isLarge(from) || isLarge(to)) return Number(isSaved(from)) + Number(isSaved(to));
	if (from && to && from.oid === to.oid && from.mode === to.mode) return 0;
	return from && to && from.mode.slice(0, 3) !== to.mode.slice(0, 3) ? 2 : 1;
}

/** In git's words. */
function modesOf({ path, from, to }: CountedChange): string {
	const [old, now] = [from?.permissions, to?.permissions].map((mode) => mode?.toString(8).padStart(3, "0"));
	if (old === now || old === undefined || now === undefined) return "";
	const name = shown(path);
	return `diff --git a/${name} b/${name}\nold mode 100${old}\nnew mode 100${now}\n`;
}

function isLarge(entry: Entry): boolean {
	return entry?.mode === LARGE;
}

function isSaved(entry: Entry): boolean {
	return entry !== null && !isLarge(entry);
}

function toDiff({ path, from, to, lines }: CountedChange, text: string, whole: boolean): FileDiff {
	return {
		path: shown(path),
		status: from === null ? "added" : to === null ? "deleted" : "changed",
		binary: lines === null,
		insertions: lines?.insertions ?? 0,
		deletions: lines?.deletions ?? 0,
		text: firstOf(text, FILE_CHARACTERS),
		cut: !whole || text.length > FILE_CHARACTERS,
	};
}
