// The agent that asks a model: one step per call, over the AI SDK's providers. Retries, pauses and failover happen only here, and only
// before any part of an answer was shown: a user never sees an answer start twice. It keeps no state, and no key (I12).
import type { Clock } from "../../time/index.ts";
import { elapsed } from "../elapsed.ts";
import type { AgentFailure, StepAgent, StepEvent, StepInput } from "../types.ts";
import type { ReadBlob } from "./attachments.ts";
import { type Attempt, type AttemptOptions, attempt, type Shown } from "./attempt.ts";
import { LONGEST_PAUSE_MS, pauseBefore } from "./retry.ts";
import { type ModelSettings, type Target, targetsOf } from "./targets.ts";

export interface ModelAgentOptions {
	readonly settings: ModelSettings;
	/** Where keys are read, at every step. */
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly keyFile?: AttemptOptions["keyFile"];
	readonly clock: Clock;
	readonly readBlob: ReadBlob;
	/** Hides secrets in what a provider says, before it is cut (I12). Left out: only the key is hidden. */
	readonly hide?: (text: string) => string;
	/** From 0 to 1: spreads retries. */
	readonly random?: () => number;
}

export type ModelCheck =
	| { readonly ok: true; readonly provider: string; readonly model: string; readonly ms: number }
	| { readonly ok: false; readonly provider: string; readonly model: string; readonly failure: AgentFailure };

export interface ModelAgent extends StepAgent {
	/** One tiny question to the configured model, without retries and failover. */
	check(signal: AbortSignal): Promise<ModelCheck>;
}

export function createModelAgent({ random = Math.random, ...given }: ModelAgentOptions): ModelAgent {
	const options = {
		keyFile: (path: string) => `${path} cannot be read here`,
		hide: (text: string) => text,
		...given,
	};
	const { settings, clock } = options;
	return {
		kind: "step",
		name: "ai-sdk",
		async *step(input): AsyncGenerator<StepEvent> {
			if (input.signal.aborted) return;
			const targets = targetsOf(settings, input.override);
			if (typeof targets === "string") {
				yield { type: "failed", failure: { kind: "refused", detail: targets } };
				return;
			}
			const ending = yield* ask(targets, input, options, random);
			if (ending.kind === "aborted") return;
			if (ending.kind === "done") yield { type: "done", message: ending.message, usage: ending.usage };
			else yield { type: "failed", failure: ending.failure };
		},
		check: async (signal) => {
			const targets = targetsOf(settings, null);
			const { provider, model } = settings;
			if (typeof targets === "string")
				return { ok: false, provider, model, failure: { kind: "refused", detail: targets } };
			const began = clock.monotonic();
			const outcome = await ended(attempt(targets[0], { ...TINY, signal }, tiny(options)));
			if (outcome.kind === "done")
				return { ok: true, provider, model, ms: Math.round(clock.monotonic() - began) };
			const failure: AgentFailure =
				outcome.kind === "failed"
					? outcome.verdict.failure
					: { kind: "timeout", detail: "no answer in time" };
			return { ok: false, provider, model, failure };
		},
	};
}

type Ending =
	| Exclude<Attempt, { kind: "failed" }>
	| { readonly kind: "failed"; readonly failure: AgentFailure };
type Failed = Extract<Attempt, { kind: "failed" }>;

/** The first target with its retries, then the others once each. */
async function* ask(
	targets: readonly Target[],
	input: StepInput,
	options: AttemptOptions & { readonly clock: Clock },
	random: () => number,
): AsyncGenerator<Shown, Ending> {
	const failed: Failed[] = [];
	let thinking = false;
	for (const [index, target] of targets.entries()) {
		const retries = index === 0 ? options.settings.retries : 0;
		for (let n = 0; ; n++) {
			let said = false;
			const trial = attempt(target, input, options);
			let next = await trial.next();
			for (; !next.done; next = await trial.next()) {
				// One sign of life is enough.
				if (next.value.type === "thinking" && (thinking || said)) continue;
				thinking ||= next.value.type === "thinking";
				said ||= next.value.type === "text";
				yield next.value;
			}
			const outcome = next.value;
			if (outcome.kind !== "failed") return outcome;
			const { retry, failover, failure } = outcome.verdict;
			if (n === 0) failed.push(outcome);
			else failed[failed.length - 1] = outcome;
			if (said) return { kind: "failed", failure: final(combinedFailure([outcome])) };
			const pause = pauseBefore(n, failure.retryAfterMs, random);
			if (retry && n < retries && pause <= LONGEST_PAUSE_MS) {
				if (!(await elapsed(options.clock, pause, input.signal))) return { kind: "aborted" };
				continue;
			}
			if (!failover) return { kind: "failed", failure: combinedFailure(failed) };
			break;
		}
	}
	return { kind: "failed", failure: combinedFailure(failed) };
}

/** The failure of the intended model, with the results of the others. */
function combinedFailure(failed: readonly Failed[]): AgentFailure {
	const [first] = failed as readonly [Failed, ...Failed[]];
	const lines = failed.map(
		({ target, verdict }) =>
			`${target.provider} ${target.model}: ${verdict.failure.kind === first.verdict.failure.kind ? "" : `${verdict.failure.kind}, `}${verdict.failure.detail}`,
	);
	return { ...first.verdict.failure, detail: lines.join("; then ") };
}

/** Part of the answer was shown: no more attempts, with or without attachments. */
function final({ attachments: _attachments, suspects: _suspects, ...failure }: AgentFailure): AgentFailure {
	return failure;
}

const TINY = {
	conversation: "",
	session: "",
	turn: "",
	system: "",
	history: [{ role: "user", kind: "person", content: "Please answer with the word ok." }],
	notes: [],
	tools: [],
	standing: "none",
	override: null,
} as const;

/** Thinking would use up the answer's few tokens, so it is left to the provider, as is the temperature. */
function tiny(options: AttemptOptions): AttemptOptions {
	const { temperature: _temperature, reasoning: _reasoning, ...settings } = options.settings;
	return { ...options, settings: { ...settings, max_output_tokens: 64 } };
}

async function ended(trial: AsyncGenerator<Shown, Attempt>): Promise<Attempt> {
	for (;;) {
		const next = await trial.next();
		if (next.done) return next.value;
	}
}
