// All texts of the Why view, grouped by the file that shows them.

import type { Shown } from "./shown.ts";

export const texts = {
	facts: {
		related: "Related",
		message: "Message",
		number: "Number",
		cameFrom: "Came from",
		idOnThePlatform: "Id on the platform",
		aPerson: "a person",
		aDecidedConfirmation: "a decided confirmation",
		aProcess: "a process",
		aSchedule: "a schedule",
		conversation: "Conversation",
		turn: "Turn",
		state: "State",
		took: "Took",
		attempts: "Attempts",
		togetherWith: "Together with",
		detail: "Detail",
		id: "Id",
		deliveries: "Deliveries",
		nothingWasSent: "Nothing was sent.",
		needsYourDecision: "Needs your decision",
		more: (others: Shown) => `${others} more`,
	},
	view: {
		why: "Why",
		whatHappenedToMessage: (inbound: Shown) => `what happened to message ${inbound}`,
		copyAsText: "Copy as text",
		whatHappened: "What happened",
		arrived: (accepted: Shown) => `Arrived ${accepted}`,
		finishedLater: (took: Shown) => `, finished ${took} later`,
		in1Step: ", in 1 step.",
		inSteps: (length: Shown) => `, in ${length} steps.`,
		thereIsNoSuchMessage: "There is no such message",
		thisPageShowsWhatHappened:
			"This page shows what happened to a message, from its arrival to its answer. Open it from the menu of a message in a conversation.",
		loading: "Loading",
	},
	timeline: {
		steps: "Steps",
		showMessageInTheConversation: (seq: Shown) => `Show message ${seq} in the conversation`,
	},
};
