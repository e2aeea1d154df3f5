// Commands about the current session: start a new one, continue the last one, branch, name, extend.

import { KeryxError } from "../../errors.ts";
import { texts } from "../texts.ts";
import { wholeNumber } from "./parse.ts";
import type { Changing } from "./types.ts";
import { counted, quoted } from "./words.ts";

const TITLE = 100;

export const newSession: Changing<"newSession"> = {
	name: "new",
	aliases: ["reset"],
	usage: "/new [title]",
	about: texts.new.about,
	group: "Conversation",
	change: "newSession",
	plan: ({ conversationId, policy, context, args }) => ({
		args: { conversation: conversationId, policy, context, ...(args && { title: args }) },
	}),
	answer: ({ ended, stopped }) => {
		const begun = texts.new.done(stoppedFirst(stopped));
		return ended ? texts.new.kept(begun) : begun;
	},
};

export const continueSession: Changing<"continueSession"> = {
	name: "continue",
	usage: "/continue",
	about: texts.continue.about,
	group: "Conversation",
	change: "continueSession",
	plan: ({ conversationId, policy, context }) => ({
		args: { conversation: conversationId, policy, context },
	}),
	answer: ({ continued, stopped }) => texts.continue.done(stoppedFirst(stopped), continued),
};

export const branchSession: Changing<"branchSession"> = {
	name: "branch",
	usage: "/branch [title]",
	about: texts.branch.about,
	group: "Conversation",
	change: "branchSession",
	plan: ({ conversationId, policy, context, args }) => ({
		args: { conversation: conversationId, policy, context, ...(args && { title: args }) },
	}),
	answer: ({ ended, stopped }) => texts.branch.done(stoppedFirst(stopped), ended),
};

export const setTitle: Changing<"setTitle"> = {
	name: "title",
	usage: "/title [text]",
	about: texts.title.about,
	group: "Conversation",
	asksForProof: true,
	setting: true,
	change: "setTitle",
	plan: async ({ store, scope, conversation, args }) => {
		const id = conversation.liveSession;
		if (id === null) throw new KeryxError("session.none", texts.title.none);
		if (args !== "") return { args: { session: id, title: args, source: "user" } };
		const { title } = await store.session({ scope, id });
		return title === null ? texts.title.unnamed : texts.title.now(quoted(title, TITLE));
	},
	answer: ({ title, before }) =>
		texts.title.done(quoted(title, TITLE), before === null ? "" : texts.title.before(quoted(before, TITLE))),
};

export const extendSession: Changing<"extendSession"> = {
	name: "extend",
	usage: "/extend [n]",
	about: texts.extend.about,
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
		cap === 0 ? texts.extend.noLimit : texts.extend.done(counted(cap, "message"), messages),
};

/** Prefixed to the answer if a running turn had to be stopped. */
export function stoppedFirst(stopped: string | null): string {
	return stopped === null ? "" : texts.stoppedFirst;
}
