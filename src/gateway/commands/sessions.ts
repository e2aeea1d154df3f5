// Commands about the session one is in: begin anew, go on with the last one, branch off, name it, give it more room.
import { KeryxError } from "../../errors.ts";
import { wholeNumber } from "./parse.ts";
import type { Changing } from "./types.ts";
import { counted, quoted } from "./words.ts";

const TITLE = 100;

export const newSession: Changing<"newSession"> = {
	name: "new",
	aliases: ["reset"],
	usage: "/new [title]",
	about: "start fresh",
	group: "Conversation",
	change: "newSession",
	plan: ({ conversationId, policy, context, args }) => ({
		args: { conversation: conversationId, policy, context, ...(args && { title: args }) },
	}),
	answer: ({ ended, stopped }) => {
		const begun = `${stoppedFirst(stopped)}A new session has begun.`;
		return ended ? `${begun} The one before is kept: /continue goes back to it.` : begun;
	},
};

export const continueSession: Changing<"continueSession"> = {
	name: "continue",
	usage: "/continue",
	about: "go on with the session before",
	group: "Conversation",
	change: "continueSession",
	plan: ({ conversationId, policy, context }) => ({
		args: { conversation: conversationId, policy, context },
	}),
	answer: ({ continued, stopped }) =>
		`${stoppedFirst(stopped)}This session now goes on from ${continued}: everything said there counts again. /new undoes that.`,
};

export const branchSession: Changing<"branchSession"> = {
	name: "branch",
	usage: "/branch [title]",
	about: "try another way from here",
	group: "Conversation",
	change: "branchSession",
	plan: ({ conversationId, policy, context, args }) => ({
		args: { conversation: conversationId, policy, context, ...(args && { title: args }) },
	}),
	answer: ({ ended, stopped }) =>
		`${stoppedFirst(stopped)}You are on a branch now: it knows everything said so far. The session before stays as it is: /resume ${ended} goes back to it.`,
};

export const setTitle: Changing<"setTitle"> = {
	name: "title",
	usage: "/title [text]",
	about: "name this session",
	group: "Conversation",
	asksForProof: true,
	setting: true,
	change: "setTitle",
	plan: async ({ store, scope, conversation, args }) => {
		const id = conversation.liveSession;
		if (id === null) throw new KeryxError("session.none", "there is no session to name yet");
		if (args !== "") return { args: { session: id, title: args, source: "user" } };
		const { title } = await store.session({ scope, id });
		return title === null
			? "This session has no name yet. /title and a few words give it one."
			: `This session is called ${quoted(title, TITLE)}. /title and other words rename it.`;
	},
	answer: ({ title, before }) =>
		`This session is now called ${quoted(title, TITLE)}.${before === null ? "" : ` It was ${quoted(before, TITLE)}: /title and that name undo this.`}`,
};

export const extendSession: Changing<"extendSession"> = {
	name: "extend",
	usage: "/extend [n]",
	about: "allow n more messages (100)",
	group: "Conversation",
	setting: true,
	change: "extendSession",
	plan: ({ conversationId, args }) => ({
		args: {
			conversation: conversationId,
			by: wholeNumber(args, {
				command: "/extend",
				of: "messages",
				least: 1,
				most: 1_000_000,
				otherwise: 100,
				example: 50,
			}),
		},
	}),
	answer: ({ cap, messages }) =>
		cap === 0
			? "This session has no limit, so there is nothing to extend."
			: `This session may now have ${counted(cap, "message")}; ${messages} are used. It cannot be lowered again; /new starts fresh.`,
};

/** Said first by whatever had to end a running turn. */
export function stoppedFirst(stopped: string | null): string {
	return stopped === null ? "" : "The running answer was ended. ";
}
