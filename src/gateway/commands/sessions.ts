// Commands about sessions: begin anew, go on with the last one, give this one more room.
import { describeDuration, limitInfo } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Session } from "../../store/index.ts";
import type { Command, CommandContext } from "./types.ts";

export const newSession: Command = {
	name: "new",
	aliases: ["reset"],
	usage: "/new [title]",
	about: "start a new session; nothing is carried over",
	plan: ({ conversationId, policy, context, args, lanes }) => ({
		change: {
			name: "newSession",
			args: { conversation: conversationId, policy, context, ...(args && { title: args }) },
		},
		after: () => void lanes.stop(conversationId, "lost"),
		answer: (result) => {
			const { ended, stopped } = result as { ended: string | null; stopped: string | null };
			const begun = `${stopped ? "The running answer was ended. " : ""}A new session has begun.`;
			return ended ? `${begun} The one before is kept: /continue goes back to it.` : begun;
		},
	}),
};

export const continueSession: Command = {
	name: "continue",
	usage: "/continue",
	about: "go on with the session before this one",
	plan: ({ conversationId, policy, context, lanes }) => ({
		change: { name: "continueSession", args: { conversation: conversationId, policy, context } },
		after: () => void lanes.stop(conversationId, "lost"),
		answer: (result) => {
			const { continued } = result as { continued: string };
			return `This session now goes on from ${continued}: everything said there counts again. /new undoes that.`;
		},
	}),
};

const EXTEND_BY = 100;

export const extendSession: Command = {
	name: "extend",
	usage: "/extend [messages]",
	about: "let this session have more messages before it is rotated",
	plan: ({ conversationId, args }) => {
		const by = args === "" ? EXTEND_BY : Number(args);
		if (!Number.isInteger(by) || by < 1)
			throw new KeryxError(
				"argument.invalid",
				`/extend takes a whole number of messages, not ${JSON.stringify(args)}`,
				{
					hint: "for example: /extend 50",
				},
			);
		return {
			change: { name: "extendSession", args: { conversation: conversationId, by } },
			answer: (result) => {
				const { cap, messages } = result as { cap: number; messages: number };
				return cap === 0
					? "This session has no limit, so there is nothing to extend."
					: `This session may now have ${cap} messages; ${messages} are used. It cannot be lowered again; /new starts fresh.`;
			},
		};
	},
};

export const status: Command = {
	name: "status",
	usage: "/status",
	about: "what this conversation is doing and how full it is",
	roles: ["owner", "member", "guest"],
	plan: (context) => ({ answer: () => describe(context) }),
};

async function describe({
	store,
	lanes,
	conversation,
	conversationId,
	policy,
	now,
}: CommandContext): Promise<string> {
	const scope = { kind: "operator" } as const;
	const live =
		conversation.liveSession === null ? null : await store.session({ scope, id: conversation.liveSession });
	const running = lanes.running(conversationId);
	const waiting = lanes.waiting(conversationId);
	return [
		`Conversation ${conversation.key}`,
		live ? sessionLine(live, now) : "No session is open; your next message opens one.",
		...(live ? [limitLine(live)] : []),
		running ? "An answer is being worked on; /stop ends it." : "Nothing is being worked on.",
		...(waiting > 0 ? [`${waiting} waiting.`] : []),
		`Starts fresh: ${resetLine(policy)}.`,
	].join("\n");
}

function sessionLine(session: Session, now: number): string {
	const title = session.title === null ? "" : ` ${JSON.stringify(session.title)}`;
	const base = session.base === null ? "" : `, going on from ${session.base.session}`;
	const suspended = session.suspendedAt === null ? "" : ", suspended";
	return `Session ${session.id}${title}${base}${suspended}, last active ${describeDuration(Math.max(0, now - session.lastActivityAt))} ago`;
}

function limitLine(session: Session): string {
	const { messageCount, maxMessages, remaining, nearLimit } = limitInfo(session.messages, session.cap);
	if (maxMessages === 0) return `${messageCount} messages, no limit.`;
	return `${messageCount} of ${maxMessages} messages, ${remaining} left${nearLimit ? "; near the limit: /extend gives it more" : ""}.`;
}

function resetLine({ mode, idleMinutes, atHour, timezone }: CommandContext["policy"]): string {
	const idle = `after ${describeDuration(idleMinutes * 60_000)} without a message`;
	const daily = `daily at ${String(atHour).padStart(2, "0")}:00 (${timezone})`;
	if (mode === "none") return "never by itself";
	return mode === "idle" ? idle : mode === "daily" ? daily : `${idle}, and ${daily}`;
}
