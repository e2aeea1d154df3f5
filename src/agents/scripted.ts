// Plays a script instead of a model: for tests, demonstrations and programs built on Keryx. It keeps no state: the history decides rule
// and step, so a restart in mid-turn continues where the transcript ends.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Clock } from "../time/index.ts";
import { elapsed } from "./elapsed.ts";
import { callId, type Position, positionIn } from "./history.ts";
import {
	type CheckedRule,
	type CheckedScript,
	type CheckedStep,
	checkScript,
	type Script,
} from "./script.ts";
import {
	type AgentFailure,
	type AssistantMessage,
	type LoopAgent,
	type LoopEvent,
	NO_USAGE,
	type StepAgent,
	type StepEvent,
	type StepInput,
	type Usage,
} from "./types.ts";

export interface ScriptedOptions {
	readonly script: Script;
	readonly clock: Clock;
}

/** Throws script.invalid. An aborted step simply ends at once, unless the script says it is deaf. */
export function createScriptedAgent({ script, clock }: ScriptedOptions): StepAgent {
	const checked = checkScript(script);
	return {
		kind: "step",
		name: "scripted",
		async *step(input): AsyncGenerator<StepEvent> {
			const position = positionIn(input.history);
			const step = stepAt(checked, position, position.step);
			const ending =
				"failure" in step ? step : (notOffered(step, input) ?? (yield* play(step, position, input, clock)));
			if (ending === "aborted") return;
			if ("failure" in ending) yield { type: "failed", failure: ending.failure };
			else yield { type: "done", ...ending };
		},
	};
}

/** The same script as an agent program: it reports each call and its scripted result. */
export function createScriptedLoopAgent({ script, clock }: ScriptedOptions): LoopAgent {
	const checked = checkScript(script);
	return {
		kind: "loop",
		name: "scripted",
		async *run(input): AsyncGenerator<LoopEvent> {
			const position = positionIn(input.history);
			for (let n = position.step; ; n++) {
				const step = stepAt(checked, position, n);
				const ending = "failure" in step ? step : yield* play(step, position, input, clock, n);
				if (ending === "aborted") return;
				if ("failure" in ending) return yield { type: "failed", failure: ending.failure };
				yield { type: "message", ...ending };
				for (const report of reportsOf(step as CheckedStep, ending.message)) {
					if (input.signal.aborted) return;
					yield report;
				}
				if (ending.message.toolCalls.length === 0) return;
				// A script that repeats without a delay would block everything else, including the abort.
				await turnOfTheLoop();
			}
		},
	};
}

/** What follows an agent program's message: the results of its calls, or its end. */
function reportsOf(step: CheckedStep, { toolCalls }: AssistantMessage): LoopEvent[] {
	if (toolCalls.length === 0) return [{ type: "done" }];
	return toolCalls.map(({ id, name }, index) => {
		const { result = "", is_error = false } = step.tools[index] ?? {};
		return { type: "result", toolCallId: id, toolName: name, content: result, isError: is_error };
	});
}

interface Failed {
	readonly failure: AgentFailure;
}

interface Said {
	readonly message: AssistantMessage;
	readonly usage: Usage;
}

/** An empty script is a mistake, and is reported as one. */
function stepAt(script: CheckedScript, { text }: Position, n: number): CheckedStep | Failed {
	const rule = script.rules.find(({ when }) => fits(when, text));
	const steps = rule?.steps ?? script.otherwise;
	if (!steps) return malformed("no rule in the script matches, and it has no otherwise");
	const step = steps[n] ?? (rule?.repeat ? steps.at(-1) : undefined);
	return step ?? malformed(`the script has ${steps.length} steps here, but step ${n + 1} was requested`);
}

function fits(when: CheckedRule["when"], text: string): boolean {
	return typeof when === "string" ? text.includes(when) : new RegExp(when.regex, when.flags).test(text);
}

function notOffered({ tools }: CheckedStep, input: StepInput): Failed | undefined {
	const missing = tools.find(
		({ name, unoffered }) => !unoffered && !input.tools.some((tool) => tool.name === name),
	);
	return missing && malformed(`the script calls ${missing.name}, which is not offered`);
}

function malformed(detail: string): Failed {
	return { failure: { kind: "malformed", detail } };
}

async function* play(
	step: CheckedStep,
	position: Position,
	input: StepInput,
	clock: Clock,
	n = 0,
): AsyncGenerator<{ readonly type: "text"; readonly delta: string }, Said | Failed | "aborted"> {
	const signal = step.deaf ? DEAF : input.signal;
	const chunks = (step.chunks ?? [step.text ?? ""]).map((chunk) => filled(chunk, position));
	if (!(await elapsed(clock, step.delay_ms, signal))) return "aborted";
	for (const [index, delta] of chunks.entries()) {
		if (index > 0 && !(await elapsed(clock, step.chunk_delay_ms, signal))) return "aborted";
		if (delta !== "") yield { type: "text", delta };
		if (signal.aborted) return "aborted";
	}
	if (step.hang) {
		await abortOf(signal);
		return "aborted";
	}
	if (step.throws !== undefined) throw new Error(step.throws);
	if (step.fail) {
		const { kind, detail, retry_after_ms } = step.fail;
		return {
			failure: { kind, detail, ...(retry_after_ms !== undefined && { retryAfterMs: retry_after_ms }) },
		};
	}
	const toolCalls = step.tools.map(({ name, input: args }, index) => ({
		id: callId(input.history, `${n}_${index}`),
		name,
		input: args,
	}));
	return {
		message: {
			content: chunks.join(""),
			toolCalls,
			finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
		},
		usage: {
			...NO_USAGE,
			provider: "scripted",
			model: "scripted",
			inputTokens: step.usage.input_tokens,
			outputTokens: step.usage.output_tokens,
			costMicros: step.usage.cost_micros,
		},
	};
}

/** Never aborted. */
const DEAF = new AbortController().signal;

function filled(text: string, { text: said, count }: Position): string {
	return text.replace(/\{\{(input|count)\}\}/g, (_found, name) => (name === "input" ? said : String(count)));
}

function abortOf(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve();
		else if (signal !== DEAF) signal.addEventListener("abort", () => resolve(), { once: true });
	});
}
