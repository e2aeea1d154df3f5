// One question to one model, streamed. The result is always a value; only a failed read of our own store throws.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Clock } from "../../time/index.ts";
import {
	type AssistantMessage,
	CUT,
	NO_USAGE,
	type StepEvent,
	type StepInput,
	type ToolSpec,
	type Usage,
} from "../types.ts";
import { Answer } from "./answer.ts";
import type { ReadBlob } from "./attachments.ts";
import { type Verdict, verdict, verdictOn } from "./failures.ts";
import { costOf } from "./prices.ts";
import { buildPrompt } from "./prompt.ts";
import { needsKey, openModel, PROVIDER_OPTIONS } from "./providers.ts";
import { keptReasoning } from "./reasoning.ts";
import type { ModelSettings, Target } from "./targets.ts";

export type Shown = Extract<StepEvent, { type: "text" | "thinking" }>;

export type Attempt =
	| { readonly kind: "done"; readonly message: AssistantMessage; readonly usage: Usage }
	| { readonly kind: "failed"; readonly verdict: Verdict; readonly target: Target }
	| { readonly kind: "aborted" };

export interface AttemptOptions {
	readonly settings: ModelSettings;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** A key file's content; a string says why it cannot be used. */
	readonly keyFile: (path: string) => { readonly key: string } | string;
	readonly clock: Pick<Clock, "now">;
	readonly readBlob: ReadBlob;
	/** Hides secrets in what a provider says, before it is cut (I12). */
	readonly hide: (text: string) => string;
}

export async function* attempt(
	target: Target,
	input: StepInput,
	{ settings, env, keyFile, clock, readBlob, hide }: AttemptOptions,
): AsyncGenerator<Shown, Attempt> {
	const { signal } = input;
	const key = readKey(target, { env, keyFile });
	if (typeof key === "object" && key !== null) return { kind: "failed", verdict: key, target };
	const { messages, attachments } = await buildPrompt(input, target, readBlob);
	const answer = new Answer(input);
	const { maxAnswer = Number.POSITIVE_INFINITY } = input;
	let size = 0;
	try {
		const model = await openModel(target, key);
		if (signal.aborted) return { kind: "aborted" };
		const { stream } = await model.doStream({
			prompt: messages,
			abortSignal: signal,
			providerOptions: PROVIDER_OPTIONS,
			...callSettings(settings, input.tools),
		});
		for await (const part of stream) {
			if (signal.aborted) return { kind: "aborted" };
			if (part.type === "error") throw part.error;
			size += sizeOf(part);
			if (size > maxAnswer) return cutOff(answer, target);
			const shown = answer.take(part);
			if (shown) yield shown;
			if (signal.aborted) return { kind: "aborted" };
		}
	} catch (error) {
		if (signal.aborted) return { kind: "aborted" };
		return {
			kind: "failed",
			verdict: verdictOn(error, { attachments, key, hide, now: clock.now() }),
			target,
		};
	}
	if (signal.aborted) return { kind: "aborted" };
	return ending(answer, target, settings);
}

/** Read each time, and held only for the request. */
function readKey(
	target: Target,
	{ env, keyFile }: Pick<AttemptOptions, "env" | "keyFile">,
): string | null | Verdict {
	const { provider, baseUrl, key: source } = target;
	if (source === null)
		return needsKey(target)
			? verdict("key_missing", `no API key is configured for ${provider} at ${baseUrl}`)
			: null;
	const name = "variable" in source ? source.variable : source.file;
	const found = "variable" in source ? { key: env[source.variable] ?? "" } : keyFile(source.file);
	if (typeof found === "string") return verdict("key_missing", found);
	const key = found.key.trim();
	if (key === "")
		return verdict(
			"key_missing",
			"variable" in source ? `the environment variable ${name} is not set` : `${name} is empty`,
		);
	// An invalid header value would put the key into the error.
	return /^[\x21-\x7e]+$/.test(key) ? key : verdict("key_missing", `${name} does not contain an API key`);
}

type CallSettings = Partial<
	Pick<LanguageModelV4CallOptions, "tools" | "temperature" | "maxOutputTokens" | "reasoning">
>;

function callSettings(
	{ temperature, max_output_tokens, reasoning }: ModelSettings,
	tools: readonly ToolSpec[],
): CallSettings {
	return {
		...(tools.length > 0 && { tools: tools.map(toolOf) }),
		...(temperature !== undefined && { temperature }),
		...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
		...(reasoning !== undefined && { reasoning }),
	};
}

/** Some providers refuse an object without properties. */
function toolOf({ name, description, input }: ToolSpec): NonNullable<CallSettings["tools"]>[number] {
	return { type: "function", name, description, inputSchema: { properties: {}, ...input } };
}

/** How much a part adds to the held answer, shown or not. */
function sizeOf(part: LanguageModelV4StreamPart): number {
	return "delta" in part ? part.delta.length : 0;
}

/** An incomplete answer makes no calls. Its cost is unknown: the provider reports it at the end. */
function cutOff({ text }: Answer, { provider, model }: Target): Attempt {
	return {
		kind: "done",
		message: { content: text, toolCalls: [], finishReason: CUT },
		usage: { ...NO_USAGE, provider, model, costMicros: null },
	};
}

function ending(answer: Answer, target: Target, settings: ModelSettings): Attempt {
	const { finish } = answer;
	if (!finish || finish.reason.unified === "interrupted" || finish.reason.unified === "error")
		return { kind: "failed", verdict: verdict("provider_down", "the answer was cut off"), target };
	if (finish.reason.unified === "content-filter")
		return {
			kind: "failed",
			verdict: verdict("refused", "the provider's content filter stopped the answer"),
			target,
		};
	// Not every provider says so.
	const calling = answer.toolCalls.length > 0 && finish.reason.unified !== "length";
	const reasoning = keptReasoning(target, answer.items());
	const { inputTokens, outputTokens } = finish.usage;
	return {
		kind: "done",
		message: {
			content: answer.text,
			toolCalls: answer.toolCalls,
			finishReason: calling ? "tool_calls" : finish.reason.unified.replace("-", "_"),
			...(reasoning !== undefined && { reasoning }),
		},
		usage: {
			provider: target.provider,
			model: target.model,
			inputTokens: inputTokens.total ?? 0,
			outputTokens: outputTokens.total ?? 0,
			...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
			...costOf(target, finish.usage, settings.prices),
		},
	};
}
