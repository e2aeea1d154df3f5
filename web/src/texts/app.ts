// All texts of the page's frame, its components and its connection to Keryx, grouped by the file that shows them.

import type { Shown } from "./shown.ts";

export const texts = {
	error: {
		keryxCannotBeReached: "Keryx cannot be reached",
		isItRunningStartIt: "Is it running? Start it with `npm start`.",
		keryxAnsweredWithStatusAnd: (status: Shown) => `Keryx answered with status ${status} and gave no reason`,
	},
	upload: {
		theConnectionWasLost: "the connection was lost",
		theFileWasRemoved: "The file was removed",
	},
	connectionState: {
		connecting: "Connecting",
		connectingToKeryx: "Connecting to Keryx",
		live: "Live",
		updatesAppearAsTheyHappen: "Updates appear as they happen",
		reconnecting: "Reconnecting",
		theConnectionDroppedNothingIs: "The connection dropped. Nothing is lost.",
		offline: "Offline",
		keryxDoesNotAnswerWhat: "Keryx does not answer. What you see may be out of date. The page keeps trying.",
		connection: (name: Shown) => `Connection: ${name}`,
	},
	loggedOut: {
		youAreNotLoggedIn: "You are not logged in",
		thisBrowserIsNotLogged:
			"This browser is not logged in, or its login has expired. Run this command on the machine that runs Keryx, then open the link it prints in this browser. The link works once, within ten minutes. The login lasts 30 days.",
		yourConversationsAreSafe: "Your conversations are safe.",
	},
	notifyQuestion: {
		showNotificationsWhileYouAre: "Show notifications while you are elsewhere?",
		yes: "Yes",
		no: "No",
	},
	notify: {
		needsYourDecision: "needs your decision",
		hasAnswered: "has answered",
		openItToDecide: "Open it to decide.",
	},
	palette: {
		goAnywhere: "Go anywhere",
		searchFor: "Search for",
		viewConversationCommandOrSetting: "View, conversation, command or setting",
		results: "Results",
		newChat: "New chat",
		aSeparateEmptyConversation: "a separate, empty conversation",
		inTheOpenConversation: (about: Shown) => `${about}, in the open conversation`,
		searchAllMessagesFor: (wanted: Shown) => `Search all messages for “${wanted}”`,
		theme: (name: Shown) => `Theme: ${name}`,
		settings: (name: Shown) => `Settings: ${name}`,
		setting: (key: Shown) => `setting ${key}`,
		settingWith: (value: Shown) => `setting, ${value}`,
	},
	views: {
		conversations: "Conversations",
		confirmations: "Confirmations",
		processes: "Processes",
		schedules: "Schedules",
		checkpoints: "Checkpoints",
		insights: "Insights",
		channels: "Channels",
		search: "Search",
		settings: "Settings",
	},
	router: {
		pageNotFound: "Page not found",
		goToConversations: "Go to conversations",
		noPageHasThisAddress: "No page has this address.",
		couldNotBeShown: "This page could not be shown",
	},
	shell: {
		goAnywhereViewsConversationsCommands: "Go anywhere: views, conversations, commands, settings",
		showTheseShortcuts: "Show these shortcuts",
		skipToContent: "Skip to content",
		main: "Main",
		keryx: "Keryx",
		goAnywhere: "Go anywhere",
		keyboardShortcuts: "Keyboard shortcuts",
		keryx2: (news: Shown) => `(${news}) Keryx`,
		goTo: (name: Shown) => `Go to ${name}`,
		searchEverything: "Search everything",
		waiting: " waiting",
		more: "More",
	},
	shortcutSheet: {
		keyboardShortcuts: "Keyboard shortcuts",
	},
	themeMenu: {
		system: "System",
		light: "Light",
		dark: "Dark",
		theme: "Theme",
	},
	time: {
		today: "Today",
		yesterday: "Yesterday",
	},
	main: {
		thePageHasNoRoot: "the page has no root element",
	},
	code: {
		copy: "Copy",
		copied: "Copied",
		code: "Code",
		copyCode: "Copy code",
		copyCommand: "Copy command",
	},
	dialog: {
		close: "Close",
	},
	states: {
		thisCouldNotBeLoaded: "This could not be loaded",
		tryAgain: "Try again",
		loading: "Loading",
	},
};
