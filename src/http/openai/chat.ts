// POST /v1/chat/completions: input and output, complete or in chunks.
import { z } from "@hono/zod-openapi";
import type { Answered } from "./answer.ts";
import { said } from "./input.ts";

export const chatRequest = z
	.looseObject({
		model: z.string(),
		messages: z.array(said).min(1),
		user: z.string().max(128).nullish(),
		stream: z.boolean().nullish(),
		stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
		n: z.literal(1, "n: only one answer is given").nullish(),
		response_format: z
			.looseObject({ type: z.literal("text", "response_format: answers are text") })
			.nullish(),
		tool_choice: z.enum(["auto", "none"], "tool_choice: Keryx calls its own tools, not yours").nullish(),
	})
	.openapi("ChatRequest", { description: "OpenAI's format; fields that are not listed are ignored" });

export const chatAnswer = z
	.looseObject({
		id: z.string(),
		object: z.literal("chat.completion"),
		created: z.int(),
		model: z.string(),
		choices: z.array(
			z.looseObject({
				index: z.int(),
				message: z.looseObject({ role: z.literal("assistant"), content: z.string() }),
				finish_reason: z.literal("stop"),
			}),
		),
		usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
	})
	.openapi("ChatAnswer");

/** Of one answer. */
export interface Frame {
	/** The message's number. */
	readonly id: number;
	/** Seconds. */
	readonly created: number;
	readonly model: string;
}

export function chatCompletion(frame: Frame, { text, spent }: Answered): z.output<typeof chatAnswer> {
	return {
		...head(frame),
		object: "chat.completion",
		choices: [
			{
				index: 0,
				message: { role: "assistant", content: text, refusal: null },
				logprobs: null,
				finish_reason: "stop",
			},
		],
		usage: usageOf(spent),
	};
}

export async function* chatChunks(
	frame: Frame,
	pieces: AsyncGenerator<string, Answered>,
	withUsage: boolean,
): AsyncGenerator<string> {
	const chunk = (delta: object, finish: "stop" | null = null): string =>
		JSON.stringify({
			...head(frame),
			object: "chat.completion.chunk",
			choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
			...(withUsage && { usage: null }),
		});
	yield chunk({ role: "assistant", content: "" });
	let next = await pieces.next();
	for (; !next.done; next = await pieces.next()) yield chunk({ content: next.value });
	yield chunk({}, "stop");
	if (withUsage)
		yield JSON.stringify({
			...head(frame),
			object: "chat.completion.chunk",
			choices: [],
			usage: usageOf(next.value.spent),
		});
	yield "[DONE]";
}

function head({ id, created, model }: Frame) {
	return { id: `chatcmpl-${id}`, created, model };
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens }: Answered["spent"]) {
	return {
		prompt_tokens: inputTokens,
		prompt_tokens_details: { cached_tokens: cachedInputTokens },
		completion_tokens: outputTokens,
		total_tokens: inputTokens + outputTokens,
	};
}
