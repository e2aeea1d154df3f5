// Conversations: list and read them, write in them, and start, continue and branch their sessions.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import {
	type AnyTool,
	type Caller,
	given,
	namedConversation,
	pageSize,
	theConversation,
	tool,
	whichConversation,
} from "./tool.ts";

const LONGEST_WAIT_MS = 300_000;
const USUAL_WAIT_MS = 120_000;
const LONGEST_NAME = 60;

const text = z.string().min(1).max(1_000_000);
const messageId = z
	.string()
	.min(1)
	.max(200)
	.optional()
	.describe("yours for this message: sent again with it, it is not said twice");

export const conversationTools: readonly AnyTool[] = [
	tool(
		"conversations_list",
		"reads",
		"Conversations of all platforms, newest first.",
		{
			limit: pageSize,
			after: z.string().max(200).optional().describe("next of the page before"),
			platform: z.string().max(64).optional().describe("such as telegram, slack or web"),
			profile: z.string().max(64).optional(),
			list: z.enum(["open", "archived", "pinned", "waiting"]).optional().describe("open unless said"),
		},
		async (input, { client }) => client.conversations(given(input)),
	),
	tool("conversation_get", "reads", "One conversation.", whichConversation, async (named, caller) =>
		caller.client.conversation({ conversation: await theConversation(caller, named) }),
	),
	tool(
		"conversation_create",
		"changes",
		"Begins a conversation with its first message, without waiting for the answer.",
		{ text, client_message_id: messageId, name: z.string().min(1).max(200).optional() },
		async ({ text: said, client_message_id: id = randomUUID(), name }, { client }) =>
			client.send({
				text: said,
				client_message_id: id,
				// Created again with the same id, it is the same conversation.
				source: {
					...OPERATOR_ON_MCP,
					chat_id: `mcp/${id}`,
					chat_name: name ?? said.slice(0, LONGEST_NAME).toWellFormed(),
				},
			}),
	),
	tool(
		"messages_read",
		"reads",
		"The newest messages that a conversation shows, those of its earlier sessions among them where it goes on from them.",
		{
			...whichConversation,
			session: z.string().min(1).max(64).optional().describe("another session than the live one"),
			limit: pageSize,
		},
		async ({ session, limit, ...named }, caller) => {
			const id = session ?? (await liveSession(caller, await theConversation(caller, named)));
			return id === null
				? { messages: [], more: false }
				: caller.client.transcript(given({ session: id, limit }));
		},
	),
	tool(
		"messages_send",
		"changes",
		"Says something in a conversation and does not wait: what becomes of it is told by events, or by why.",
		{ ...whichConversation, text, client_message_id: messageId },
		async ({ text: said, client_message_id: id = randomUUID(), ...named }, caller) => {
			const conversation = await theConversation(caller, named);
			const source = { ...OPERATOR_ON_MCP, chat_id: `conversation ${conversation}` };
			return caller.client.send({ text: said, client_message_id: id, source, conversation });
		},
	),
	tool(
		"chat",
		"changes",
		"Says something to the agent and waits for its answer, in your own conversation or a named one. An answer that takes longer than the wait is not lost: call again with the same client_message_id.",
		{
			...whichConversation,
			text,
			client_message_id: messageId,
			user: z.string().min(1).max(128).optional().describe("keeps several conversations of yours apart"),
			timeout_ms: z.int().min(1000).max(LONGEST_WAIT_MS).optional(),
		},
		chat,
	),
	tool(
		"attachments_fetch",
		"reads",
		"The bytes of a file or picture that a message of the conversation names.",
		{
			...whichConversation,
			digest: z.string().regex(/^[0-9a-f]{64}$/),
			media_type: z.string().max(200).optional(),
		},
		async ({ digest, media_type: mimeType = "application/octet-stream", ...named }, caller) => {
			const conversation = await theConversation(caller, named);
			const path = `/api/conversations/${encodeURIComponent(conversation)}/attachments/${digest}`;
			const { status, body } = await caller.transport({ method: "GET", path, headers: {} });
			const bytes = await bytesOf(body);
			if (status !== 200) throw errorIn(bytes, status);
			const uri = `keryx://conversation/${conversation}/attachments/${digest}`;
			return {
				content: [{ type: "resource" as const, resource: { uri, mimeType, blob: bytes.toString("base64") } }],
			};
		},
	),
	tool(
		"search",
		"reads",
		"Full-text search over messages and titles, best first. Words, prefixes with *, phrases in quotes.",
		{
			query: z.string().min(1).max(1000),
			...whichConversation,
			platform: z.string().max(64).optional(),
			role: z.enum(["user", "assistant", "tool", "title"]).optional(),
			limit: z.int().min(1).max(100).optional(),
			cursor: z.string().max(1000).optional().describe("next of the page before"),
		},
		async ({ query, conversation, session_key, ...rest }, caller) =>
			caller.client.search(
				given({
					q: query,
					...rest,
					conversation: await namedConversation(caller, { conversation, session_key }),
				}),
			),
	),
	tool(
		"sessions_list",
		"reads",
		"The sessions of a conversation, newest first.",
		{ ...whichConversation, limit: pageSize },
		async ({ limit, ...named }, caller) =>
			caller.client.sessions(given({ conversation: await theConversation(caller, named), limit })),
	),
	tool(
		"sessions_new",
		"changes",
		"Begins a new session in a conversation; nothing is carried over, and the one before stays readable.",
		whichConversation,
		async (named, caller) => caller.client.newSession({ conversation: await theConversation(caller, named) }),
	),
	tool(
		"sessions_continue",
		"changes",
		"Goes on with the session before, or with the one that is named.",
		{ ...whichConversation, session: z.string().min(1).max(64).optional() },
		async ({ session, ...named }, caller) => {
			const conversation = await theConversation(caller, named);
			return session === undefined
				? caller.client.continueSession({ conversation })
				: caller.client.switchSession({ conversation, target: session });
		},
	),
	tool(
		"sessions_branch",
		"changes",
		"A new session that goes on from an earlier point; what came after it stays in its own session.",
		{
			...whichConversation,
			before_message: z.int().min(1).optional().describe("the id of a message; left out: from the end"),
		},
		async ({ before_message: message, ...named }, caller) =>
			caller.client.branchSession({
				conversation: await theConversation(caller, named),
				...(message !== undefined && { from: { where: "before" as const, message } }),
			}),
	),
];

const OPERATOR_ON_MCP = {
	platform: "api_server",
	chat_type: "dm",
	user_id: "operator",
	user_name: "Operator",
} as const;

/** OpenAI's API form is the only way for a token to speak in its own conversations. */
async function chat(
	{
		text: said,
		client_message_id: id = randomUUID(),
		user,
		timeout_ms = USUAL_WAIT_MS,
		conversation,
		session_key,
	}: {
		readonly text: string;
		readonly client_message_id?: string | undefined;
		readonly user?: string | undefined;
		readonly timeout_ms?: number | undefined;
		readonly conversation?: string | undefined;
		readonly session_key?: string | undefined;
	},
	{ transport }: Caller,
	signal: AbortSignal,
): Promise<object> {
	const named = conversation ?? session_key;
	const time = AbortSignal.timeout(timeout_ms);
	try {
		const { status, body } = await transport({
			method: "POST",
			path: "/v1/chat/completions",
			headers: {
				"content-type": "application/json",
				"x-keryx-message-id": id,
				...(named !== undefined && { "x-keryx-conversation": named }),
			},
			body: JSON.stringify(given({ model: "keryx", messages: [{ role: "user", content: said }], user })),
			signal: AbortSignal.any([signal, time]),
		});
		const bytes = await bytesOf(body);
		if (status !== 200) throw errorIn(bytes, status);
		const answer = JSON.parse(bytes.toString("utf8")) as {
			id: string;
			choices: { message: { content: string } }[];
		};
		return {
			answered: true,
			answer: answer.choices[0]?.message.content ?? "",
			message: Number(answer.id.replace("chatcmpl-", "")),
			client_message_id: id,
		};
	} catch (error) {
		if (!time.aborted || error instanceof KeryxError) throw error;
		return {
			answered: false,
			client_message_id: id,
			what_to_do: "the agent is still at work: call chat again with the same text and client_message_id",
		};
	}
}

/** For the resource: what the page would show. */
export async function readConversation(caller: Caller, id: string): Promise<string> {
	const { name } = await caller.client.conversation({ conversation: id });
	const session = await liveSession(caller, id);
	const lines = [`# ${name}`];
	const shown = session === null ? [] : (await caller.client.transcript({ session, limit: 200 })).messages;
	for (const { role, author, content } of shown) {
		if (role !== "user" && role !== "assistant") continue;
		const said = typeof content === "string" ? content : content.map(partText).join("\n");
		lines.push(`**${role === "user" ? (author?.name ?? "Person") : "Agent"}**`, said);
	}
	return lines.join("\n\n");
}

function partText(part: Readonly<Record<string, unknown>>): string {
	return part.type === "text"
		? String(part.text)
		: `[${String(part.type)}: ${String(part.name ?? "unnamed")}]`;
}

async function liveSession({ client }: Caller, conversation: string): Promise<string | null> {
	return (await client.conversation({ conversation })).live_session;
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of body) chunks.push(chunk);
	return Buffer.concat(chunks);
}

function errorIn(bytes: Buffer, status: number): KeryxError {
	const code = status === 404 ? "store.not_found" : status === 403 ? "http.forbidden" : "argument.invalid";
	try {
		const { error } = JSON.parse(bytes.toString("utf8")) as { error: { message: string } };
		return new KeryxError(code, error.message);
	} catch (cause) {
		return new KeryxError("internal", `Keryx answered ${status} without saying why`, { cause });
	}
}
