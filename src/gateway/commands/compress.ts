// /compress: asks the model to summarise older messages.

import { rowsToCover } from "../../domain/index.ts";
import { destinationOf } from "../../store/index.ts";
import { nothingToCompress } from "../sentences.ts";
import { texts } from "../texts.ts";
import { whyNotSummarising } from "../turn/prompt-compactor.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing, CommandContext } from "./types.ts";

export const compress: Changing<"compress"> = {
	name: "compress",
	usage: "/compress",
	about: texts.compress.about,
	group: "Answers",
	change: "compress",
	plan: async (context) => {
		const { agent, conversationId, source, speaker, deadlineAt } = context;
		const whyNot = whyNotSummarising(agent);
		if (whyNot !== null) return whyNot;
		// Check before stopping anything.
		if (!(await hasRowsToCover(context))) return nothingToCompress(context.config.compaction.keep_last);
		return {
			args: { conversation: conversationId, by: speaker, destination: destinationOf(source), deadlineAt },
		};
	},
	answer: ({ kind, stopped }, { config }) =>
		kind === "nothing"
			? `${stoppedFirst(stopped)}${nothingToCompress(config.compaction.keep_last)}`
			: texts.compress.begun(stoppedFirst(stopped)),
};

async function hasRowsToCover({ store, scope, conversation, config }: CommandContext): Promise<boolean> {
	const session = conversation.liveSession;
	if (session === null) return false;
	const rows = await store.transcript({ scope, session });
	const { shared } = conversation;
	const input = { rows, shared, keepLast: config.compaction.keep_last, turn: null, room: 0 };
	return rowsToCover(input) !== null;
}
