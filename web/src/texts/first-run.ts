// All texts of the first steps, grouped by the file that shows them.

import type { Shown } from "./shown.ts";

export const texts = {
	view: {
		connectAModel: "Connect a model",
		chooseAProviderPasteIts:
			"Choose a provider, paste its key and pick a model. Without one, you get fixed answers.",
		addAChat: "Add a chat",
		talkToYourAgentIn: "Talk to your agent in the chat app you already use. You can also just use this page.",
		sayHello: "Say hello",
		yourFirstMessageStartsA: "Your first message starts a conversation.",
		skipThisStep: "Skip this step",
		welcomeToKeryx: "Welcome to Keryx",
		threeStepsToGetStarted:
			"Three steps to get started. You can skip any of them and do it later. None needs a restart.",
		skipAllOfThis: "Skip all of this",
		youCanDoAllOf: "You can do all of this later under Settings and Channels.",
		done: "Done",
		skipped: "Skipped",
		doThisNow: (title: Shown) => `${title}: do this now`,
		doThisNow2: "Do this now",
		checkingTheToken: "Checking the token…",
		connect: "Connect",
		isConnected: (who: Shown) => `${who} is connected.`,
		sendYourBotAnyMessage:
			"Send your bot any message in the chat. Your request appears here. Press “This is me” to let yourself in as the owner.",
		sayHelloOnThisPage: "Say hello on this page",
	},
};
