// All texts of the Search view, grouped by the file that shows them.

import type { Shown } from "./shown.ts";

export const texts = {
	filters: {
		messagesFromPeople: "Messages from people",
		messagesFromTheAgent: "Messages from the agent",
		toolResults: "Tool results",
		sessionTitles: "Session titles",
		filters: "Filters",
		filters2: (used: Shown) => `Filters (${used})`,
		platform: "Platform",
		all: "All",
		where: "Where",
		everywhere: "Everywhere",
		conversation: "Conversation",
		from: "From",
		to: "To",
		clear: "Clear",
	},
	hit: {
		person: "Person",
		agent: "Agent",
		tool: "Tool",
		title: "Title",
		context: "Context: ",
	},
	view: {
		search: "Search",
		allMessagesAndSessionTitles: "all messages and session titles",
		searchFor: "Search for",
		wordsAPhraseOrThe: "Words, “a phrase” or the start of a word*",
		noResults: "No results",
		allWordsMustBeIn:
			"All words must be in the same message. Try fewer words, the start of a word with a star, or fewer filters.",
		jKMoveEnterOpens: "[[j k]] move, [[Enter]] opens",
		searching: "Searching…",
		showMore: "Show more",
		searchAllMessages: "Search all messages",
		aResultContainsAllThe:
			"A result contains all the words. Put a phrase in quotes: `“disk is full”`. A star stands for the rest of a word: `deploy*`.",
		searching2: "Searching",
		atLeastResultsBestOf: (number: Shown) => `At least ${number} results, the best of the newest first`,
		n1Result: "1 result",
		resultsBestFirst: (number: Shown) => `${number} results, best first`,
	},
	useHitKeys: {
		nextResult: "Next result",
		previousResult: "Previous result",
	},
};
