// Commands that act at once, beside a running turn: stop it, say what to do while one runs, explain, help.
import { KeryxError } from "../../errors.ts";
import { tellStory } from "../why.ts";
import type { Command } from "./types.ts";

/** A turn that has been told to stop writes its end within this; otherwise it is ended for it. */
const STOP_MS = 2000;

export const stop: Command = {
	name: "stop",
	usage: "/stop [all]",
	about: "end the running answer; with all, also drop what waits",
	plan: async ({ store, lanes, inbox, conversationId, args }) => {
		if (args !== "" && args !== "all")
			throw new KeryxError("argument.invalid", `/stop takes nothing or all, not ${JSON.stringify(args)}`, {
				hint: "/stop, or /stop all",
			});
		// Taken out first: the end of the running turn would begin the next one.
		const waiting = args === "all" ? lanes.clear(conversationId, inbox) : [];
		const running = lanes.running(conversationId);
		await lanes.stopAndWait(conversationId, STOP_MS);
		return {
			change: {
				name: "stopTurn",
				args: { conversation: conversationId, ...(running !== null && { turn: running }) },
			},
			answer: async (result) => {
				const { stopped } = result as { stopped: string | null };
				const ended = running !== null || stopped !== null;
				const said = ended ? "Stopped. What was written so far is kept." : "Nothing was running.";
				if (args !== "all") return said;
				const dropped = await store.endItems({
					conversation: conversationId,
					inbox: waiting,
					as: { kind: "dropped_by_user" },
				});
				return `${said} ${dropped.ended.length} waiting ${dropped.ended.length === 1 ? "message was" : "messages were"} dropped.`;
			},
		};
	},
};

export const busy: Command = {
	name: "busy",
	usage: "/busy queue|interrupt|steer",
	about: "what a new message does while an answer is being worked on",
	plan: ({ conversation, conversationId, config, args }) => {
		const now = conversation.busy ?? config.gateway.busy;
		if (args === "")
			return { answer: () => `While an answer is being worked on, a new message: ${MEANING[now]} (${now}).` };
		if (args !== "queue" && args !== "interrupt" && args !== "steer")
			throw new KeryxError(
				"argument.invalid",
				`/busy takes queue, interrupt or steer, not ${JSON.stringify(args)}`,
				{
					hint: "for example: /busy steer",
				},
			);
		return {
			change: { name: "setBusyMode", args: { conversation: conversationId, busy: args } },
			answer: () => `From now on a new message ${MEANING[args]}. /busy ${now} undoes that.`,
		};
	},
};

const MEANING = {
	queue: "waits for its turn",
	interrupt: "ends the running answer and is answered instead",
	steer: "joins the running answer at its next step",
} as const;

export const why: Command = {
	name: "why",
	usage: "/why [message]",
	about: "what became of a message, step by step",
	roles: ["owner", "member", "guest"],
	plan: ({ store, conversationId, conversation, args }) => ({
		answer: async () => {
			const scope = {
				kind: "principal",
				principal: conversation.principal ?? "",
				profile: conversation.profile,
				conversation: conversationId,
			} as const;
			if (args !== "" && !/^\d+$/.test(args))
				throw new KeryxError(
					"argument.invalid",
					`/why takes a message's number, not ${JSON.stringify(args)}`,
					{ hint: "for example: /why 12" },
				);
			const id =
				args === "" ? await store.lastInbound({ scope, conversation: conversationId }) : Number(args);
			if (id === null) return "No message of this conversation has been answered yet.";
			return tellStory(await store.story({ scope, id }));
		},
	}),
};

export const help: Command = {
	name: "help",
	usage: "/help",
	about: "this list",
	roles: ["owner", "member", "guest"],
	plan: ({ commands, role }) => ({
		answer: () =>
			commands
				.filter((command) => mayUse(command, role))
				.map((command) => `\`${command.usage}\`: ${command.about}`)
				.join("\n"),
	}),
};

export function mayUse(command: Command, role: "owner" | "member" | "guest"): boolean {
	return (command.roles ?? ["owner", "member"]).includes(role);
}
