// Checkpoint commands: take one, show what changed, restore. Text in files and their names is shown as code (I11).

import type { FileDiff, Kept, KeptReason, RestoreSummary, Some } from "../../checkpoints/index.ts";
import { cleanTitle, describeDuration } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type Checkpoint, type CheckpointKind, OPERATOR } from "../../store/index.ts";
import { type ConversationFiles, withFiles } from "../files/conversation-files.ts";
import { texts } from "../texts.ts";
import { wholeNumber, wrongArgument } from "./parse.ts";
import type { CommandContext, Telling } from "./types.ts";
import { asCode, counted, quoted, shortened } from "./words.ts";

const LISTED = 20;
const LABEL = 60;
const PATH = 80;
/** How much of an id is shown: enough to tell it from the others. */
const SHOWN_ID = 10;
const DIFF_FILES = 20;
const DIFF_TEXT = 3000;

export const checkpoint: Telling = {
	name: "checkpoint",
	usage: "/checkpoint [label]",
	about: texts.checkpoint.about,
	group: "Files",
	tell: async (context) => {
		const label = cleanTitle(context.args) || "by hand";
		const mayBeFirst = context.role === "owner";
		const taken = await filesOf(context).take(context.conversation, { label, mayBeFirst });
		if (taken.kind === "failed")
			throw new KeryxError(taken.code as "checkpoint.failed", texts.checkpoint.failed(taken.reason));
		const { id, files, changed, at } = taken.checkpoint;
		if (taken.kind === "unchanged") return texts.checkpoint.unchanged(shownId(id), ago(at, context.now));
		const first = changed === null ? texts.checkpoint.first : "";
		return texts.checkpoint.saved(shownId(id), counted(files, "file"), id.slice(0, SHOWN_ID), first);
	},
};

export const rollback: Telling = {
	name: "rollback",
	usage: "/rollback [n|id] [file]",
	about: texts.rollback.about,
	group: "Files",
	tell: async (context) => {
		const listed = await filesOf(context).list(context.conversation);
		if (listed.length === 0) return NONE;
		return [
			texts.rollback.heading,
			...listed.slice(0, LISTED).map((one, index) => `${index + 1}. ${line(one, context.now)}`),
			...(listed.length > LISTED ? [texts.rollback.older(counted(listed.length - LISTED, "older one"))] : []),
			"",
			texts.rollback.howTo,
		].join("\n");
	},
	files: {
		plan: async (context) => {
			if (context.args === "") return null;
			const { which, file, force } = readRollback(context.args);
			const { id } = await find(context, which);
			return { id, force, ...(file !== undefined && { file }) };
		},
		answer: ({ report }) => restoredSentences(report as RestoreSummary).join("\n"),
	},
};

export const diff: Telling = {
	name: "diff",
	usage: "/diff [n]",
	about: texts.diff.about,
	group: "Files",
	tell: async (context) => {
		const { conversation, args, now } = context;
		const files = filesOf(context);
		const listed = await files.list(conversation);
		const [newest] = listed;
		if (!newest) return NONE;
		if (args === "") {
			const turn = await lastTurn(context, files, listed);
			if (turn) return tellDiff(texts.diff.lastTurn, await files.diff(conversation, ...turn));
		}
		const { id, at } = args === "" ? newest : await find(context, args);
		const since = texts.diff.since(shownId(id), ago(at, now));
		return tellDiff(since, await files.diff(conversation, id, "now"));
	},
};

const NONE = texts.checkpoint.none;

/** Describes a restore, for /rollback and /undo. */
export function restoredSentences({
	target,
	before,
	restored,
	removed,
	kept,
	untouched,
}: RestoreSummary): string[] {
	const did = [
		...(restored.count > 0 ? [texts.rollback.restored(counted(restored.count, "file"))] : []),
		...(removed.count > 0 ? [texts.rollback.removed(removed.count)] : []),
	];
	const back = before.slice(0, SHOWN_ID);
	return [
		did.length > 0
			? texts.rollback.done(shownId(target), did.join(", "), back)
			: texts.rollback.nothingToDo(shownId(target)),
		...paths(texts.rollback.restoredList, restored),
		...paths(texts.rollback.removedList, removed),
		...keptLines(kept),
		...(kept.first.some(({ reason }) => reason === "changed_since")
			? [texts.rollback.force(target.slice(0, SHOWN_ID))]
			: []),
		...paths(texts.rollback.untouched, untouched),
	];
}

const WHY_KEPT: Readonly<Record<KeptReason, string>> = {
	changed_since: texts.rollback.keptBecause.changedSince,
	changing: texts.rollback.keptBecause.changing,
	in_the_way: texts.rollback.keptBecause.inTheWay,
	refused: texts.rollback.keptBecause.refused,
	lost: texts.rollback.keptBecause.lost,
};

function keptLines({ count, first }: Some<Kept>): string[] {
	if (count === 0) return [];
	const shown = first.map(({ path, reason }) => `- ${shownPath(path)}: ${WHY_KEPT[reason]}`);
	return [texts.rollback.kept(counted(count, "file")), ...shown, ...more(count - first.length), ""];
}

function paths(what: string, { count, first }: Some<string>): string[] {
	if (count === 0) return [];
	const left = count - first.length;
	return [`${what}: ${first.map(shownPath).join(", ")}${left > 0 ? texts.more(left) : ""}`];
}

function more(left: number): string[] {
	return left > 0 ? [texts.moreLine(left)] : [];
}

function readRollback(args: string) {
	const force = /(^|\s)--force(?=\s|$)/.test(args);
	const [, which = "", file] =
		/^(\S*)(?:\s+([\s\S]+))?$/.exec(args.replace(/(^|\s+)--force(?=\s|$)/, "").trim()) ?? [];
	return { which, file, force };
}

/** By its number in the list, or by its id. */
async function find(context: CommandContext, which: string): Promise<Checkpoint> {
	const listed = await filesOf(context).list(context.conversation);
	const { args } = context;
	if (/^\d{1,5}$/.test(which)) {
		if (listed.length === 0)
			throw new KeryxError("store.not_found", texts.checkpoint.noneYet, {
				hint: texts.checkpoint.takeOne,
			});
		const n = wholeNumber(which, {
			command: texts.checkpoint.aCheckpoint,
			of: texts.checkpoint.theList,
			least: 1,
			most: listed.length,
			otherwise: 1,
		});
		return listed[n - 1] as Checkpoint;
	}
	if (!/^[0-9a-f]{7,40}$/.test(which)) throw wrongArgument(texts.checkpoint.howNamed, args, "/rollback 2");
	const [only, ...others] = listed.filter(({ id }) => id.startsWith(which));
	if (!only || others.length > 0)
		throw new KeryxError(
			"store.not_found",
			only ? texts.checkpoint.ambiguous(others.length + 1, which) : texts.checkpoint.notFound(which),
			{ hint: texts.checkpoint.listHint },
		);
	return only;
}

/** The checkpoints before and after; undefined if no turn of this conversation is known to have changed files. */
async function lastTurn(
	{ store, conversationId }: CommandContext,
	files: ConversationFiles,
	listed: readonly Checkpoint[],
): Promise<readonly [from: string, to: string] | undefined> {
	for (const { owner, from, to } of (await files.windows(listed)).toReversed()) {
		const first = listed.find(({ n }) => n === from);
		const last = listed.find(({ n }) => n === to);
		if (!first || (to !== null && !last) || from === to) continue;
		const turn = await store.turn({ scope: OPERATOR, id: owner }).catch(ifNone);
		if (turn?.conversation === conversationId) return [first.id, last?.id ?? "now"];
	}
	return undefined;
}

/** A restore's range has no turn. */
function ifNone(error: unknown): null {
	if (error instanceof KeryxError && error.code === "store.not_found") return null;
	throw error;
}

function tellDiff(what: string, diffs: readonly FileDiff[]): string {
	if (diffs.length === 0) return texts.diff.nothing(what);
	const lines = diffs
		.slice(0, DIFF_FILES)
		.map((one) => `- ${shownPath(one.path)}: ${STATUS[one.status]}${lineCounts(one)}`);
	const whole = diffs
		.map(({ text }) => text)
		.filter(Boolean)
		.join("\n");
	const text = shortened(plain(whole), DIFF_TEXT);
	const isCut = text !== plain(whole) || diffs.some(({ cut }) => cut);
	return [
		`${what}: ${counted(diffs.length, "file")}`,
		...lines,
		...more(diffs.length - lines.length),
		...(text.trim() === "" ? [] : ["", ...fenced(text)]),
		...(isCut ? [texts.diff.cut] : []),
	].join("\n");
}

const STATUS: Readonly<Record<FileDiff["status"], string>> = {
	added: "new",
	changed: "changed",
	deleted: "deleted",
};

function lineCounts({ binary, insertions, deletions }: FileDiff): string {
	return binary ? texts.diff.binary : `, +${insertions} -${deletions}`;
}

/** Nothing in the text can end the code block or look different from what it is. */
function fenced(text: string): string[] {
	const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
	const fence = "`".repeat(longest + 1);
	return [`${fence}diff`, text.trimEnd(), fence];
}

function plain(text: string): string {
	return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, "\uFFFD");
}

function line({ id, at, kind, label, changed, files }: Checkpoint, now: number): string {
	const what =
		changed === null
			? counted(files, "file")
			: `${counted(changed.files, "file")}, +${changed.insertions} -${changed.deletions}`;
	return `${shownId(id)} ${ago(at, now)}, ${KINDS[kind]}${quoted(label, LABEL)} (${what})`;
}

const KINDS: Readonly<Record<CheckpointKind, string>> = {
	before: "before ",
	after: "after ",
	rotation: "",
	manual: "",
	restore: "",
};

function shownId(id: string): string {
	return asCode(id.slice(0, SHOWN_ID));
}

function shownPath(path: string): string {
	return asCode(shortened(cleanTitle(path), PATH));
}

function ago(at: number, now: number): string {
	return texts.ago(describeDuration(Math.max(0, now - at)));
}

function filesOf({ files }: CommandContext): ConversationFiles {
	return withFiles(files);
}
