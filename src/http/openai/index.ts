// Keryx as a model of OpenAI's API: programs that speak it talk to the agent, each token in its own conversations.
// A request is a message like any other.
// Never here: another way into a lane.

import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { KeryxError } from "../../errors.ts";
import { OPERATOR } from "../../store/index.ts";
import type { ApiHost } from "../call.ts";
import type { Visitor } from "../entry/auth.ts";
import { prefixedProfile } from "../entry/profile-prefix.ts";
import type { App, AppEnvironment } from "../environment.ts";
import { toKeryxError } from "../errors.ts";
import type { Feed } from "../events/feed.ts";
import { type Answered, answerTo, type Taken, take } from "./answer.ts";
import { chatAnswer, chatChunks, chatCompletion, chatRequest, type Frame } from "./chat.ts";
import { toOpenAiError } from "./errors.ts";
import { newContent, type said } from "./input.ts";
import { modelNames, profileOf } from "./models.ts";
import { responseEvents, responseObject, responsesAnswer, responsesRequest } from "./responses.ts";

export { isOpenAiPath, toOpenAiError } from "./errors.ts";

const HEARTBEAT_MS = 15_000;
const LONGEST_ID = 200;

export interface OpenAiOptions {
	readonly host: ApiHost;
	readonly feed: Feed;
	readonly closing: AbortSignal;
	/** Before a body is read: its allowed form. */
	readonly checked: (path: string) => void;
}

type Env = Context<AppEnvironment>;

export function addOpenAi(app: App, options: OpenAiOptions): void {
	const { host } = options;
	app.openapi(modelsRoute, (c) =>
		c.json(
			{
				object: "list" as const,
				data: modelNames(host).map((id) => ({
					id,
					object: "model" as const,
					created: Math.floor(host.startedAt / 1000),
					owned_by: "keryx",
				})),
			},
			200,
		),
	);
	const chat = postRoute("chatCompletions", "/v1/chat/completions", chatRequest, chatAnswer);
	options.checked(chat.path);
	app.openapi(chat, async (c) => {
		const request = c.req.valid("json");
		const { taken, frame } = await takeFrom(c, options, { ...request, said: request.messages }, "messages");
		if (!request.stream) return c.json(chatCompletion(frame, await whole(c, options, taken)), 200) as never;
		const withUsage = request.stream_options?.include_usage ?? false;
		return streamed(c, options, taken, async (stream, pieces) => {
			for await (const data of chatChunks(frame, pieces, withUsage)) await stream.writeSSE({ data });
		}) as never;
	});
	const responses = postRoute("responses", "/v1/responses", responsesRequest, responsesAnswer);
	options.checked(responses.path);
	app.openapi(responses, async (c) => {
		const request = c.req.valid("json");
		const { input, previous_response_id: previous = null } = request;
		const messages = typeof input === "string" ? [{ role: "user", content: input }] : input;
		const { taken, frame } = await takeFrom(
			c,
			options,
			{ ...request, said: messages, after: await conversationOf(previous, host) },
			"input",
		);
		if (!request.stream)
			return c.json(responseObject(frame, previous, await whole(c, options, taken)), 200) as never;
		return streamed(c, options, taken, async (stream, pieces) => {
			for await (const event of responseEvents(frame, previous, pieces)) await stream.writeSSE(event);
		}) as never;
	});
}

const modelsRoute = createRoute({
	operationId: "models",
	method: "get",
	path: "/v1/models",
	summary: "Keryx and its profiles, as models of OpenAI's API",
	responses: {
		200: {
			description: "the names you can use as model",
			content: {
				"application/json": {
					schema: z.object({
						object: z.literal("list"),
						data: z.array(
							z.object({
								id: z.string(),
								object: z.literal("model"),
								created: z.int(),
								owned_by: z.string(),
							}),
						),
					}),
				},
			},
		},
	},
});

function postRoute<Path extends string, Body extends z.ZodType, Answer extends z.ZodType>(
	operationId: string,
	path: Path,
	body: Body,
	answer: Answer,
) {
	return createRoute({
		operationId,
		method: "post",
		path,
		summary: "talk to the agent in OpenAI's format; new messages are those after the last answer",
		request: {
			headers: z.object({
				"x-keryx-conversation": z.string().max(1000).optional().openapi({
					description:
						"the id or key of one of the caller's conversations; left out: that of its token and user",
				}),
				"x-keryx-message-id": z.string().min(1).max(LONGEST_ID).optional().openapi({
					description: "the same value again returns the result of the first; or Idempotency-Key",
				}),
			}),
			body: { content: { "application/json": { schema: body } }, required: true },
		},
		responses: {
			200: {
				description: "the answer; with stream, server-sent events",
				content: { "application/json": { schema: answer } },
			},
		},
	});
}

async function takeFrom(
	c: Env,
	{ host, feed }: OpenAiOptions,
	request: {
		readonly model: string;
		readonly user?: string | null | undefined;
		readonly said: readonly z.output<typeof said>[];
		readonly after?: string | undefined;
	},
	field: "messages" | "input",
): Promise<{ readonly taken: Taken; readonly frame: Frame }> {
	const profile = chosenProfile(profileOf(request.model, host), prefixedProfile(c, host));
	const taken = await take(
		{
			visitor: c.get("visitor") as Visitor,
			...(await newContent(request.said, field, host.store)),
			conversation: c.req.header("x-keryx-conversation") ?? request.after,
			user: request.user ?? undefined,
			profile,
			messageId: messageId(c),
		},
		host,
		feed,
	);
	c.header("x-keryx-conversation", taken.conversation);
	c.header("x-keryx-message", String(taken.id));
	return { taken, frame: { id: taken.id, created: Math.floor(host.now() / 1000), model: request.model } };
}

/** A path and a model must not name different profiles. */
function chosenProfile(byModel: string | null, byPath: string | null): string | null {
	if (byModel !== null && byPath !== null && byModel !== byPath)
		throw new KeryxError("argument.invalid", `model: the path names the profile ${byPath}`, {
			field: "model",
			hint: "use keryx as the model, or remove /p/<profile> from the path",
		});
	return byPath ?? byModel;
}

function messageId(c: Context): string | undefined {
	const given = c.req.header("x-keryx-message-id") ?? c.req.header("idempotency-key");
	if (given === undefined || (given !== "" && given.length <= LONGEST_ID)) return given;
	throw new KeryxError("argument.invalid", `a message's id must have 1 to ${LONGEST_ID} characters`, {
		field: "X-Keryx-Message-Id",
	});
}

/** Its ownership is checked like one named by the header. */
async function conversationOf(previous: string | null, { store }: ApiHost): Promise<string | undefined> {
	if (previous === null) return undefined;
	const id = Number(previous.slice("resp_".length));
	const item = await store.inboxItem({ scope: OPERATOR, id }).catch((error: unknown) => {
		if (error instanceof KeryxError && error.code === "store.not_found") return null;
		throw error;
	});
	return item?.conversation ?? "";
}

async function whole(c: Env, options: OpenAiOptions, taken: Taken): Promise<Answered> {
	const pieces = answerTo(taken, following(c, options, c.req.raw.signal));
	for (;;) {
		const next = await pieces.next();
		if (next.done) return next.value;
	}
}

/** Comments keep the connection alive while the agent is silent. */
function streamed(
	c: Env,
	options: OpenAiOptions,
	taken: Taken,
	write: (stream: SSEStreamingApi, pieces: AsyncGenerator<string, Answered>) => Promise<void>,
): Response {
	return streamSSE(c, async (stream) => {
		const left = new AbortController();
		stream.onAbort(() => left.abort());
		const beat = setInterval(() => void stream.write(": working\n\n"), HEARTBEAT_MS);
		try {
			await write(stream, answerTo(taken, following(c, options, left.signal)));
		} catch (cause) {
			const error = toOpenAiError(toKeryxError(cause));
			await stream.writeSSE({ data: JSON.stringify({ ...error, type: "error", error }) });
		} finally {
			clearInterval(beat);
		}
	});
}

function following(c: Env, { host, feed, closing }: OpenAiOptions, left: AbortSignal) {
	const { stay, role } = c.get("visitor") as Visitor;
	const signal = AbortSignal.any([left, closing, stay]);
	return { store: host.store, feed, signal, nameless: role !== "operator" };
}
