// Commands that take back, bring back and ask again.
import { KeryxError } from "../../errors.ts";
import { counted, quoted } from "../words.ts";
import { wholeNumber } from "./parse.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing } from "./types.ts";

const QUOTE = 80;

export const undo: Changing<"undo"> = {
	name: "undo",
	usage: "/undo [n]",
	about: "take back the last n turns (1)",
	group: "Answers",
	change: "undo",
	plan: ({ conversationId, args }) => {
		const words = args.split(/\s+/);
		if (words.includes("--files"))
			throw new KeryxError(
				"argument.invalid",
				"/undo --files waits for file checkpoints, nothing was changed",
				{
					hint: "/undo alone takes back the messages",
				},
			);
		const turns = wholeNumber(args, { command: "/undo", of: "turns", least: 1, most: 10_000, otherwise: 1 });
		return { args: { conversation: conversationId, turns } };
	},
	answer: ({ rows, turns, text, stopped }) => {
		if (turns === 0) return `${stoppedFirst(stopped)}There is nothing to undo.`;
		const what = `your last ${turns === 1 ? "turn" : `${turns} turns`}, ${counted(rows, "message")} with the answers`;
		const said = text === null || text === "" ? "" : ` You had written: ${quoted(text, QUOTE)}`;
		return `${stoppedFirst(stopped)}Taken back: ${what}. /redo brings that back, until you write again.${said}`;
	},
};

export const redo: Changing<"redo"> = {
	name: "redo",
	usage: "/redo",
	about: "undo the last /undo",
	group: "Answers",
	change: "redo",
	plan: ({ conversationId }) => ({ args: { conversation: conversationId } }),
	answer: ({ rows, stopped }) =>
		rows === 0
			? "There is nothing to bring back: /redo follows /undo, before anything else is said."
			: `${stoppedFirst(stopped)}Brought back: ${counted(rows, "message")}. /undo takes that back again.`,
};

export const retry: Changing<"retry"> = {
	name: "retry",
	usage: "/retry",
	about: "answer my last message again",
	group: "Answers",
	change: "retry",
	plan: ({ conversationId, deadlineAt }) => ({ args: { conversation: conversationId, deadlineAt } }),
	answer: (result) =>
		result.kind === "nothing"
			? `${stoppedFirst(result.stopped)}There is no message to answer again.`
			: `${stoppedFirst(result.stopped)}Answering again${result.hidden > 0 ? "; the answer before no longer counts" : ""}.`,
};
