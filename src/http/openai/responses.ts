// POST /v1/responses: input and output, complete or as events.
import { z } from "@hono/zod-openapi";
import type { Answered } from "./answer.ts";
import type { Frame } from "./chat.ts";
import { said } from "./input.ts";

export const responsesRequest = z
	.looseObject({
		model: z.string(),
		input: z.union([z.string(), z.array(said)]),
		user: z.string().max(128).nullish(),
		stream: z.boolean().nullish(),
		previous_response_id: z
			.string()
			.regex(/^resp_\d{1,15}$/, "previous_response_id: must be the id of an answer from this Keryx")
			.nullish(),
		conversation: z.null("conversation: name it in the header X-Keryx-Conversation").optional(),
		background: z.literal(false, "background: answers are not given in the background").nullish(),
		text: z
			.looseObject({
				format: z.looseObject({ type: z.literal("text", "text.format: answers are text") }).nullish(),
			})
			.nullish(),
		tool_choice: z.enum(["auto", "none"], "tool_choice: Keryx calls its own tools, not yours").nullish(),
	})
	.openapi("ResponsesRequest", { description: "OpenAI's format; fields that are not listed are ignored" });

export const responsesAnswer = z
	.looseObject({ id: z.string(), object: z.literal("response"), status: z.string(), model: z.string() })
	.openapi("ResponsesAnswer");

type Response = z.output<typeof responsesAnswer>;

export function responseObject(frame: Frame, previous: string | null, answered: Answered): Response {
	return response(frame, previous, "completed", [item(frame, "completed", answered.text)], answered.spent);
}

/** Each with its name, as server-sent events have one. */
export async function* responseEvents(
	frame: Frame,
	previous: string | null,
	pieces: AsyncGenerator<string, Answered>,
): AsyncGenerator<{ readonly event: string; readonly data: string }> {
	let sequence = 0;
	const event = (type: string, facts: object) => ({
		event: type,
		data: JSON.stringify({ type, sequence_number: sequence++, ...facts }),
	});
	const position = { item_id: `msg_${frame.id}`, output_index: 0, content_index: 0 };
	const begun = response(frame, previous, "in_progress", [], null);
	yield event("response.created", { response: begun });
	yield event("response.in_progress", { response: begun });
	yield event("response.output_item.added", { output_index: 0, item: item(frame, "in_progress", null) });
	yield event("response.content_part.added", { ...position, part: outputText("") });
	let all = "";
	let next = await pieces.next();
	for (; !next.done; next = await pieces.next()) {
		all += next.value;
		yield event("response.output_text.delta", { ...position, delta: next.value, logprobs: [] });
	}
	const done = item(frame, "completed", all);
	yield event("response.output_text.done", { ...position, text: all, logprobs: [] });
	yield event("response.content_part.done", { ...position, part: outputText(all) });
	yield event("response.output_item.done", { output_index: 0, item: done });
	yield event("response.completed", {
		response: response(frame, previous, "completed", [done], next.value.spent),
	});
}

function item({ id }: Frame, status: string, text: string | null) {
	const content = text === null ? [] : [outputText(text)];
	return { type: "message", id: `msg_${id}`, status, role: "assistant", content };
}

function outputText(text: string) {
	return { type: "output_text", text, annotations: [], logprobs: [] };
}

function response(
	{ id, created, model }: Frame,
	previous: string | null,
	status: "in_progress" | "completed",
	output: readonly object[],
	spent: Answered["spent"] | null,
): Response {
	return {
		id: `resp_${id}`,
		object: "response",
		created_at: created,
		status,
		error: null,
		incomplete_details: null,
		instructions: null,
		max_output_tokens: null,
		model,
		output,
		parallel_tool_calls: true,
		previous_response_id: previous,
		store: true,
		temperature: null,
		text: { format: { type: "text" } },
		tool_choice: "auto",
		tools: [],
		top_p: null,
		truncation: "disabled",
		usage: spent && {
			input_tokens: spent.inputTokens,
			input_tokens_details: { cached_tokens: spent.cachedInputTokens },
			output_tokens: spent.outputTokens,
			output_tokens_details: { reasoning_tokens: 0 },
			total_tokens: spent.inputTokens + spent.outputTokens,
		},
		metadata: {},
	};
}
