// What people with their own login, other than owners, may call. Everything else is closed to them. Allowed calls answer within their
// scope: another person's conversation is not found, whatever id they send.
import type { Endpoint } from "../endpoint.ts";
import { type EndpointName, endpoints } from "../endpoints.ts";
import type { Visitor } from "./auth.ts";

/** Talking and reading: what a guest may do in a chat. */
const GUEST: readonly EndpointName[] = [
	"me",
	"health",
	"setup",
	"profiles",
	"conversations",
	"findConversation",
	"conversation",
	"sessions",
	"partial",
	"limit",
	"conversationDeliveries",
	"session",
	"messages",
	"transcript",
	"search",
	"send",
	"inbound",
	"why",
	"turn",
	"delivery",
	"eventsAfter",
	"commands",
];

/** What a member may do in a private chat. */
const MEMBER: readonly EndpointName[] = [
	...GUEST,
	"newSession",
	"continueSession",
	"switchSession",
	"branchSession",
	"extendSession",
	"undo",
	"redo",
	"retry",
	"compress",
	"setModel",
	"setBusy",
	"stop",
	"stopTurn",
	"setTitle",
	"renameConversation",
	"pinConversation",
	"setConversationState",
	"modelChoices",
	"checkpoints",
	"takeCheckpoint",
	"checkpointDiff",
	"checkpointPlan",
	"restoreCheckpoint",
	"processes",
	"process",
	"processLog",
	"killProcess",
	"processInput",
	"schedules",
	"schedule",
	"scheduleRuns",
	"pauseSchedule",
	"resumeSchedule",
	"runSchedule",
	"deleteSchedule",
];

/** Calls that are not in the table of endpoints. */
const OTHER_CALLS: Readonly<Record<"member" | "guest", readonly string[]>> = {
	guest: [
		"GET /events",
		"POST /api/attachments",
		"GET /api/conversations/{conversation}/attachments/{digest}",
	],
	member: ["GET /api/export", "GET /api/processes/{id}/terminal"],
};

const ALLOWED: Readonly<Record<"member" | "guest", readonly RegExp[]>> = {
	guest: patterns(GUEST, OTHER_CALLS.guest),
	member: patterns(MEMBER, [...OTHER_CALLS.guest, ...OTHER_CALLS.member]),
};

/** Whether a person of this role may make a call; not whether they find anything. */
export function mayPersonCall(
	{ role }: { readonly role: "member" | "guest" },
	method: string,
	path: string,
): boolean {
	const asked = `${method === "HEAD" ? "GET" : method} ${path}`;
	return ALLOWED[role].some((pattern) => pattern.test(asked));
}

export function isPerson(visitor: Visitor): visitor is Visitor & { readonly role: "member" | "guest" } {
	return visitor.role === "member" || visitor.role === "guest";
}

function patterns(names: readonly EndpointName[], others: readonly string[]): RegExp[] {
	const table = names.map((name) => {
		const { method, path }: Endpoint = endpoints[name];
		return `${method.toUpperCase()} ${path}`;
	});
	return [...table, ...others].map(
		(call) => new RegExp(`^${call.replace(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}$`),
	);
}
