// Snapshots of the files that the agent works on: take one, look at what changed, go back. Text in files and their names is shown as code
// (I11).
import type { FileDiff, Kept, KeptReason, RestoreSummary, Some } from "../../checkpoints/index.ts";
import { cleanTitle, describeDuration } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type Checkpoint, type CheckpointKind, OPERATOR } from "../../store/index.ts";
import { type ConversationFiles, withFiles } from "../files/conversation-files.ts";
import { wholeNumber, wrongArgument } from "./parse.ts";
import type { CommandContext, Telling } from "./types.ts";
import { asCode, counted, quoted, shortened } from "./words.ts";

const LISTED = 20;
const LABEL = 60;
const PATH = 80;
/** Of an id, as it is shown: enough to tell it from the others. */
const SHOWN_ID = 10;
const DIFF_FILES = 20;
const DIFF_TEXT = 3000;

export const checkpoint: Telling = {
	name: "checkpoint",
	usage: "/checkpoint [label]",
	about: "save the files as they are now",
	group: "Files",
	tell: async (context) => {
		const label = cleanTitle(context.args) || "by hand";
		const mayBeFirst = context.role === "owner";
		const taken = await filesOf(context).take(context.conversation, { label, mayBeFirst });
		if (taken.kind === "failed")
			throw new KeryxError(taken.code as "checkpoint.failed", `no checkpoint was saved: ${taken.reason}`);
		const { id, files, changed, at } = taken.checkpoint;
		if (taken.kind === "unchanged")
			return `No file has changed since checkpoint ${shownId(id)} (${ago(at, context.now)}), so there is no new one.`;
		const first =
			changed === null
				? " From now on one is taken before and after every turn that changes files here."
				: "";
		return `Checkpoint saved: ${shownId(id)}, ${counted(files, "file")}. /rollback ${id.slice(0, SHOWN_ID)} goes back to it.${first}`;
	},
};

export const rollback: Telling = {
	name: "rollback",
	usage: "/rollback [n|id] [file]",
	about: "to an earlier checkpoint",
	group: "Files",
	tell: async (context) => {
		const listed = await filesOf(context).list(context.conversation);
		if (listed.length === 0) return NONE;
		return [
			"Checkpoints, newest first, each with what had changed since the one before:",
			...listed.slice(0, LISTED).map((one, index) => `${index + 1}. ${line(one, context.now)}`),
			...(listed.length > LISTED ? [`and ${counted(listed.length - LISTED, "older one")}`] : []),
			"",
			"/rollback and a number takes the files back to one, /diff and a number shows what has changed since.",
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
	about: "what changed in the files",
	group: "Files",
	tell: async (context) => {
		const { conversation, args, now } = context;
		const files = filesOf(context);
		const listed = await files.list(conversation);
		const [newest] = listed;
		if (!newest) return NONE;
		if (args === "") {
			const turn = await lastTurn(context, files, listed);
			if (turn)
				return tellDiff(`What the last turn that changed files did`, await files.diff(conversation, ...turn));
		}
		const { id, at } = args === "" ? newest : await find(context, args);
		const since = `Since checkpoint ${shownId(id)} (${ago(at, now)})`;
		return tellDiff(since, await files.diff(conversation, id, "now"));
	},
};

const NONE =
	"There is no checkpoint of the files here yet. One is taken before the agent changes any, and /checkpoint takes one now.";

/** What is said of a restore, by /rollback and by /undo. */
export function restoredSentences({
	target,
	before,
	restored,
	removed,
	kept,
	untouched,
}: RestoreSummary): string[] {
	const did = [
		...(restored.count > 0 ? [`${counted(restored.count, "file")} restored`] : []),
		...(removed.count > 0 ? [`${removed.count} removed`] : []),
	];
	const back = before.slice(0, SHOWN_ID);
	return [
		did.length > 0
			? `Files are back at checkpoint ${shownId(target)}: ${did.join(", ")}. /rollback ${back} undoes that.`
			: `No file had to be changed to be back at checkpoint ${shownId(target)}.`,
		...paths("Restored", restored),
		...paths("Removed", removed),
		...keptLines(kept),
		...(kept.first.some(({ reason }) => reason === "changed_since")
			? [`/rollback ${target.slice(0, SHOWN_ID)} --force takes back what somebody else changed, too.`]
			: []),
		...paths("Not touched, or gone for good, because they are not saved", untouched),
	];
}

const WHY_KEPT: Readonly<Record<KeptReason, string>> = {
	changed_since: "changed since by somebody else than the agent",
	changing: "changed while this ran",
	in_the_way: "something that is kept stands in the way",
	refused: "the system did not let it be changed",
	lost: "the checkpoint no longer has its content",
};

function keptLines({ count, first }: Some<Kept>): string[] {
	if (count === 0) return [];
	const shown = first.map(({ path, reason }) => `- ${shownPath(path)}: ${WHY_KEPT[reason]}`);
	return [`Kept as they are: ${counted(count, "file")}`, ...shown, ...more(count - first.length), ""];
}

function paths(what: string, { count, first }: Some<string>): string[] {
	if (count === 0) return [];
	const left = count - first.length;
	return [`${what}: ${first.map(shownPath).join(", ")}${left > 0 ? ` and ${left} more` : ""}`];
}

function more(left: number): string[] {
	return left > 0 ? [`- and ${left} more`] : [];
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
			throw new KeryxError("store.not_found", "there is no checkpoint here yet", {
				hint: "/checkpoint takes one",
			});
		const n = wholeNumber(which, {
			command: "A checkpoint",
			of: "the list",
			least: 1,
			most: listed.length,
			otherwise: 1,
		});
		return listed[n - 1] as Checkpoint;
	}
	if (!/^[0-9a-f]{7,40}$/.test(which))
		throw wrongArgument(
			"a checkpoint is named by its number in /rollback, or by its id",
			args,
			"/rollback 2",
		);
	const [only, ...others] = listed.filter(({ id }) => id.startsWith(which));
	if (!only || others.length > 0)
		throw new KeryxError(
			"store.not_found",
			only ? `${others.length + 1} checkpoints begin with ${which}` : `there is no checkpoint ${which} here`,
			{ hint: "/rollback lists them" },
		);
	return only;
}

/** Its two ends; undefined where no turn of this conversation is known to have changed files. */
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

/** The stretch of a restore has no turn. */
function ifNone(error: unknown): null {
	if (error instanceof KeryxError && error.code === "store.not_found") return null;
	throw error;
}

function tellDiff(what: string, diffs: readonly FileDiff[]): string {
	if (diffs.length === 0) return `${what}: no file has changed.`;
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
		...(isCut ? ["Not all of it is shown."] : []),
	].join("\n");
}

const STATUS: Readonly<Record<FileDiff["status"], string>> = {
	added: "new",
	changed: "changed",
	deleted: "deleted",
};

function lineCounts({ binary, insertions, deletions }: FileDiff): string {
	return binary ? ", not text" : `, +${insertions} -${deletions}`;
}

/** Nothing in it ends the block, or is seen otherwise than it stands there. */
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
	return `${describeDuration(Math.max(0, now - at))} ago`;
}

function filesOf({ files }: CommandContext): ConversationFiles {
	return withFiles(files);
}
