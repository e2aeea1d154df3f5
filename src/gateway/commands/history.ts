// Commands that undo, redo and retry.

import type { RestoreSummary } from "../../checkpoints/index.ts";
import type { Undone } from "../../store/index.ts";
import { withFiles } from "../files/conversation-files.ts";
import { planRewind } from "../files/rewind.ts";
import { texts } from "../texts.ts";
import { restoredSentences } from "./checkpoints.ts";
import { wholeNumber } from "./parse.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing } from "./types.ts";
import { cancelledSentences, counted, quoted } from "./words.ts";

const QUOTE = 80;

export const undo: Changing<"undo"> = {
	name: "undo",
	usage: "/undo [n] [--files]",
	about: texts.undo.about,
	group: "Answers",
	change: "undo",
	plan: ({ conversationId, args }) => ({
		args: { conversation: conversationId, turns: readUndo(args).turns },
	}),
	answer: (undone, { args }) => {
		const stopped = stoppedFirst(undone.stopped);
		if (undone.turns === 0) return texts.undo.nothing(stopped);
		const files = readUndo(args).files ? texts.undo.noFiles : "";
		return texts.undo.done(stopped, takenBack(undone), files, hadWritten(undone.text));
	},
	files: {
		plan: (context) => {
			const { turns, files } = readUndo(context.args);
			const { conversation } = context;
			return files ? planRewind(conversation, turns, { ...context, files: withFiles(context.files) }) : null;
		},
		answer: ({ report, undone }) => {
			const chat =
				undone === null
					? texts.undo.messagesStay
					: texts.undo.doneWithFiles(takenBack(undone), hadWritten(undone.text));
			return [chat, ...restoredSentences(report as RestoreSummary)].join("\n");
		},
	},
};

function readUndo(args: string): { readonly turns: number; readonly files: boolean } {
	const words = args.split(/\s+/).filter(Boolean);
	const files = words.includes("--files");
	const rest = words.filter((word) => word !== "--files").join(" ");
	return {
		// At least the last turn is undone, even with 0.
		turns: Math.max(
			1,
			wholeNumber(rest, { command: "/undo", of: "turns", least: 0, most: 10_000, otherwise: 1 }),
		),
		files,
	};
}

function takenBack({ messages, turns, cancelled }: Undone): string {
	const what = turns === 1 ? "turn" : texts.undo.turns(turns);
	return [texts.undo.takenBack(what, counted(messages, "message")), ...cancelledSentences(cancelled)].join(
		" ",
	);
}

function hadWritten(text: string | null): string {
	return text === null || text === "" ? "" : texts.undo.hadWritten(quoted(text, QUOTE));
}

export const redo: Changing<"redo"> = {
	name: "redo",
	usage: "/redo",
	about: texts.redo.about,
	group: "Answers",
	change: "redo",
	plan: ({ conversationId }) => ({ args: { conversation: conversationId } }),
	answer: ({ rows, messages, stopped }) =>
		rows === 0 ? texts.redo.nothing : texts.redo.done(stoppedFirst(stopped), counted(messages, "message")),
};

export const retry: Changing<"retry"> = {
	name: "retry",
	usage: "/retry",
	about: texts.retry.about,
	group: "Answers",
	change: "retry",
	plan: ({ conversationId, speaker, deadlineAt }) => ({
		args: { conversation: conversationId, by: speaker, deadlineAt },
	}),
	answer: (result) =>
		result.kind === "nothing"
			? texts.retry.nothing(stoppedFirst(result.stopped))
			: texts.retry.done(stoppedFirst(result.stopped), result.hidden > 0 ? texts.retry.hidden : ""),
};
