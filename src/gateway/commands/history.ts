// Commands that take back, bring back and ask again.
import type { RestoreSummary } from "../../checkpoints/index.ts";
import type { Undone } from "../../store/index.ts";
import { withFiles } from "../files/conversation-files.ts";
import { planRewind } from "../files/rewind.ts";
import { restoredSentences } from "./checkpoints.ts";
import { wholeNumber } from "./parse.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing } from "./types.ts";
import { counted, quoted } from "./words.ts";

const QUOTE = 80;

export const undo: Changing<"undo"> = {
	name: "undo",
	usage: "/undo [n] [--files]",
	about: "take back the last n turns (1)",
	group: "Answers",
	change: "undo",
	plan: ({ conversationId, args }) => ({
		args: { conversation: conversationId, turns: readUndo(args).turns },
	}),
	answer: ({ messages, turns, text, stopped }, { args }) => {
		if (turns === 0) return `${stoppedFirst(stopped)}There is nothing to undo.`;
		const files = readUndo(args).files ? " No file was changed in it, so none was touched." : "";
		return `${stoppedFirst(stopped)}${takenBack({ messages, turns })} /redo brings that back, until you write again.${files}${hadWritten(text)}`;
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
					? "The messages stay, because the conversation went on before the files were back."
					: `${takenBack(undone)} /redo brings the messages back, until you write again.${hadWritten(undone.text)}`;
			return [chat, ...restoredSentences(report as RestoreSummary)].join("\n");
		},
	},
};

function readUndo(args: string): { readonly turns: number; readonly files: boolean } {
	const words = args.split(/\s+/).filter(Boolean);
	const files = words.includes("--files");
	const rest = words.filter((word) => word !== "--files").join(" ");
	return {
		// The last turn is the least that can be undone: 0 means it, too.
		turns: Math.max(
			1,
			wholeNumber(rest, { command: "/undo", of: "turns", least: 0, most: 10_000, otherwise: 1 }),
		),
		files,
	};
}

function takenBack({ messages, turns }: Pick<Undone, "messages" | "turns">): string {
	return `Taken back: your last ${turns === 1 ? "turn" : `${turns} turns`}, ${counted(messages, "message")} with the answers.`;
}

function hadWritten(text: string | null): string {
	return text === null || text === "" ? "" : ` You had written: ${quoted(text, QUOTE)}`;
}

export const redo: Changing<"redo"> = {
	name: "redo",
	usage: "/redo",
	about: "undo the last /undo",
	group: "Answers",
	change: "redo",
	plan: ({ conversationId }) => ({ args: { conversation: conversationId } }),
	answer: ({ rows, messages, stopped }) =>
		rows === 0
			? "There is nothing to bring back: /redo follows /undo, before anything else is said."
			: `${stoppedFirst(stopped)}Brought back: ${counted(messages, "message")}. /undo takes that back again.`,
};

export const retry: Changing<"retry"> = {
	name: "retry",
	usage: "/retry",
	about: "answer my last message again",
	group: "Answers",
	change: "retry",
	plan: ({ conversationId, speaker, deadlineAt }) => ({
		args: { conversation: conversationId, by: speaker, deadlineAt },
	}),
	answer: (result) =>
		result.kind === "nothing"
			? `${stoppedFirst(result.stopped)}There is no message to answer again.`
			: `${stoppedFirst(result.stopped)}Answering again${result.hidden > 0 ? "; the answer before no longer counts" : ""}.`,
};
