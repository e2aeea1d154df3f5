// The model steps of one turn. A step is asked again if the provider refuses its prompt for something that can be made smaller (older rows
// are compacted) or left out (attachments). It appends no answer: the turn does that.
import type { AgentFailure, StepAgent, StepInput } from "../../agents/index.ts";
import { type NewMessage, textTokens } from "../../domain/index.ts";
import { describeAttachment, leftOutRow } from "./attachments/left-out.ts";
import { AttachmentSearch, holdsNew } from "./attachments/search.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { asRow } from "./end.ts";
import type { ModelCalls } from "./model-calls.ts";
import { modelStep, type StepOutcome } from "./model-step.ts";
import { PromptCompactor } from "./prompt-compactor.ts";
import type { TurnRows } from "./rows.ts";
import type { TurnStart } from "./start.ts";

export interface StepsOptions
	extends Pick<TurnDependencies, "store" | "clock" | "config" | "tools" | "outlet"> {
	readonly agent: StepAgent;
	readonly start: TurnStart;
	readonly rows: TurnRows;
	readonly calls: ModelCalls;
	/** The prompt of the next step, without some attachments. */
	readonly inputWithout: (attachments: ReadonlySet<string>) => StepInput;
	/** A step begins: nothing of its answer is written yet. */
	readonly onBegin: () => void;
	readonly onText: (delta: string) => void;
	readonly signal: AbortSignal;
}

/** A step that is over. A failure was recorded as a model call already. */
export type Step =
	| Exclude<StepOutcome, { kind: "done" }>
	| (Extract<StepOutcome, { kind: "done" }> & {
			/** The answer, then a row about attachments that the provider refused. */
			readonly rows: readonly NewMessage[];
	  });

export class Steps {
	readonly #with: StepsOptions;
	readonly #compactor: PromptCompactor;
	#unshown: readonly string[] = [];

	constructor(options: StepsOptions) {
		this.#with = options;
		const { start, tools } = options;
		this.#compactor = new PromptCompactor({
			...options,
			overheadTokens: () => textTokens(start.context) + textTokens(JSON.stringify(tools.specs)),
		});
	}

	/** Attachments that the last step left out and the next one does not. */
	get unshown(): readonly string[] {
		return this.#unshown;
	}

	/** What `/compress` does. Answers what to say about it. */
	compress(): Promise<string> {
		return this.#compactor.compress(this.#with.rows.all);
	}

	async next(): Promise<Step> {
		const { agent, rows, calls } = this.#with;
		rows.add(await this.#compactor.compactIfLong(rows.all));
		this.#unshown = [];
		let search = new AttachmentSearch();
		let refusal: AgentFailure | null = null;
		const compact = async () => {
			// Succeeds once at most: after a compaction, the next one waits until the prompt has grown.
			const summaries = await this.#compactor.compactAfterRefusal(rows.all);
			rows.add(summaries);
			if (summaries.length > 0) [search, refusal] = [new AttachmentSearch(), null];
			return summaries.length > 0;
		};
		for (;;) {
			const outcome = await this.#ask(search.without);
			if (outcome.kind === "aborted") return outcome;
			if (outcome.kind === "done") {
				this.#compactor.counted(outcome.usage.inputTokens, rows.all.length);
				calls.record(outcome.usage, "ok");
				// After the answer, which was shown under its index already.
				const leftOut = refusal ? [this.#leaveOut(search, refusal)] : [];
				return { ...outcome, rows: [asRow(outcome.message), ...leftOut] };
			}
			const { failure } = outcome;
			calls.recordFailure(agent.name);
			const isTooLarge = failure.kind === "context_too_large";
			if (isTooLarge && !holdsNew(failure, rows.all) && (await compact())) continue;
			if (search.refused(failure)) refusal ??= failure;
			else if (!isTooLarge || !(await compact())) return outcome;
		}
	}

	#ask(without: ReadonlySet<string>): Promise<StepOutcome> {
		const { agent, clock, config, store, inputWithout, onBegin, onText } = this.#with;
		onBegin();
		return modelStep(agent, inputWithout(without), {
			clock,
			limits: {
				firstTokenMs: config.turn.first_token_seconds * 1000,
				totalMs: config.turn.model_seconds * 1000,
			},
			secrets: store.secrets,
			onText,
		});
	}

	/** Attachments that the provider refuses stay out of every later prompt. Others that were left out during the search come back. */
	#leaveOut(search: AttachmentSearch, refusal: AgentFailure): NewMessage {
		const { all } = this.#with.rows;
		const culprits = search.culprits();
		this.#unshown = [...search.without]
			.filter((digest) => !culprits.includes(digest))
			.map((digest) => describeAttachment(digest, all));
		return leftOutRow(culprits, refusal, all);
	}
}
