// Confirmations: list pending ones, answer them with a token that may, and ask and wait for an answer.
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import { type AnyTool, type Caller, given, tool } from "./tool.ts";

const MOST_OPEN = 200;
const LONGEST_WAIT_S = 60;

const decision = z
	.enum(["allow-once", "allow-session", "allow-always", "deny"])
	.describe("allow-session and allow-always also allow what is asked like this later");
/** What the person fills in. */
const ANSWERED = z.object({ decision });
const MOST_DETAILS = 4000;

export const confirmationTools: readonly AnyTool[] = [
	tool(
		"permissions_list_open",
		"reads",
		"Questions that wait for a human. With the token of an agent: those that it asked.",
		{},
		async (_input, caller) => confirm(caller, "GET", `/confirm?status=pending&limit=${MOST_OPEN}`),
	),
	tool(
		"permissions_respond",
		"decides",
		"Answers such a question. Only with the token of an approver or an operator: a program must not decide what a human was asked. Without a decision, the person at your program is asked for one (elicitation).",
		{
			id: z.string().min(1).max(64),
			decision: decision.optional(),
			reason: z.string().max(2000).optional(),
		},
		async ({ id, decision: decided, reason }, caller, _signal, reply) => {
			const path = `/confirm/${encodeURIComponent(id)}`;
			if (decided !== undefined) return respond(caller, path, decided, reason);
			if (reply === null) return { ask: { message: await question(caller, path), form: ANSWERED } };
			const answer = ANSWERED.safeParse(reply.accepted);
			if (answer.success) return respond(caller, path, answer.data.decision, reason);
			return { value: { id, decided: false, what_happened: "the person did not decide" } };
		},
	),
	tool(
		"confirm_request",
		"changes",
		"Asks a human before something is done. The answer has an id: wait for it with confirm_wait, and do nothing before it is approved.",
		{
			action: z.string().min(1).max(200).describe("what kind of thing, such as deploy.production"),
			description: z.string().min(1).max(4000).describe("for the human who decides"),
			details: z.record(z.string(), z.unknown()).optional().describe("exactly what would be done"),
			timeout_seconds: z.int().min(1).optional(),
			idempotency_key: z
				.string()
				.min(1)
				.max(200)
				.optional()
				.describe("the same again is answered with the same question"),
		},
		async (input, caller) => confirm(caller, "POST", "/confirm", given(input)),
	),
	tool(
		"confirm_wait",
		"reads",
		"What became of a question; waits while nobody has answered it.",
		{
			id: z.string().min(1).max(64),
			seconds: z.int().min(0).max(LONGEST_WAIT_S).optional().describe("how long to wait, 30 unless said"),
		},
		async ({ id, seconds = 30 }, caller, signal) =>
			confirm(caller, "GET", `/confirm/${encodeURIComponent(id)}?wait=${seconds}`, undefined, signal),
	),
	tool(
		"confirm_consume",
		"changes",
		"Uses an approval, once, right before the thing is done, for exactly what was approved.",
		{
			id: z.string().min(1).max(64),
			digest: z.string().min(1).max(200).describe("as confirm_wait tells it"),
		},
		async ({ id, digest }, caller) =>
			confirm(caller, "POST", `/confirm/${encodeURIComponent(id)}/consume`, { digest }),
	),
];

async function respond(
	caller: Caller,
	path: string,
	decided: z.output<typeof decision>,
	reason: string | undefined,
): Promise<object> {
	if (decided === "deny") return confirm(caller, "POST", `${path}/deny`, given({ reason }));
	const scope = decided === "allow-once" ? undefined : decided.slice("allow-".length);
	return confirm(caller, "POST", `${path}/approve`, given({ reason, grant: scope && { scope } }));
}

/** Exactly what would be done: the other program's user sees the same as on the page. */
async function question(caller: Caller, path: string): Promise<string> {
	const asked = (await confirm(caller, "GET", path)) as Readonly<Record<string, unknown>>;
	if (asked.status !== "pending")
		throw new KeryxError("argument.invalid", `this question is already ${String(asked.status)}`, {
			field: "id",
		});
	const details = JSON.stringify(asked.details, null, 1);
	if (details.length > MOST_DETAILS)
		throw new KeryxError(
			"argument.invalid",
			"its details are too long to show here: answer it on Keryx's page",
			{
				field: "id",
			},
		);
	return `${String(asked.action)}: ${String(asked.description)}\n\n${details}`;
}

async function confirm(
	{ client }: Caller,
	method: "GET" | "POST",
	path: string,
	body?: unknown,
	signal?: AbortSignal,
): Promise<object> {
	const answer = await client.confirm(method, path, body, signal);
	if (answer.status < 400) return answer.body;
	const code =
		answer.status === 404 ? "store.not_found" : answer.status === 403 ? "http.forbidden" : "argument.invalid";
	throw new KeryxError(code, String(answer.body.error ?? `Keryx answered ${answer.status}`));
}
