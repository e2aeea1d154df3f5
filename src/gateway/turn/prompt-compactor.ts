// Keeps a turn's prompt within the model's window: if it is too long, a summary replaces older rows, written by the same agent in a
// separate step. Whatever happens, the rows stay unchanged, and the turn continues.
import { type Agent, type AgentFailure, CUT, type StepAgent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import {
	type Cover,
	compactionRecord,
	contentText,
	lastMeasure,
	type Measure,
	type Message,
	promptSize,
	promptSizeAtMost,
	rowsToCover,
	SUMMARY_SYSTEM,
	summaryContent,
} from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { Aborted, type Clock } from "../../time/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import {
	COMPACTS_ITSELF,
	compressedSentence,
	maxAnswerOf,
	NO_SUMMARISER,
	type NotCompacted,
	notCompressedSentence,
	uncompactedSentence,
} from "../sentences.ts";
import type { ModelCalls } from "./model-calls.ts";
import { modelStep } from "./model-step.ts";
import type { TurnStart } from "./start.ts";

/** Fractions of the context window: how much the summariser reads at once, and how much a prompt grows before the next attempt. */
const READ_AT_ONCE = 0.85;
const GROWTH = 0.1;
/** How often one attempt asks the summariser at most: for text it cannot read at once, and if it can read less than expected. */
const MOST_STEPS = 8;

export interface PromptCompactorOptions {
	readonly store: Store;
	readonly agent: StepAgent;
	readonly clock: Clock;
	readonly config: Config;
	readonly outlet: Outlet;
	readonly start: TurnStart;
	readonly calls: ModelCalls;
	/** Tokens outside the rows: the system text, the tools. */
	readonly overheadTokens: () => number;
	readonly signal: AbortSignal;
}

type Compacted = { readonly kind: "covered"; readonly rows: readonly Message[] } | NotCompacted;

/** One sentence; null if it can. */
export function whyNotSummarising(agent: Agent): string | null {
	if (agent.kind === "loop") return COMPACTS_ITSELF;
	return agent.name === "offline" ? NO_SUMMARISER : null;
}

export class PromptCompactor {
	readonly #options: PromptCompactorOptions;
	/** Undefined: not looked up yet. */
	#known: Measure | null | undefined;
	#after: number | null;

	constructor(options: PromptCompactorOptions) {
		this.#options = options;
		this.#after = options.start.compactAfter;
	}

	/** The model has counted the prompt of these rows. */
	counted(tokens: number, rows: number): void {
		this.#known = tokens > 0 ? { tokens, rows } : null;
	}

	/** Before a step: summarises if the prompt is too long. Returns the added rows. */
	async compactIfLong(rows: readonly Message[]): Promise<readonly Message[]> {
		const { config } = this.#options;
		const limit = config.compaction.threshold * config.agent.context_window;
		if (!this.#isOn() || this.#isFarBelow(limit, rows)) return [];
		const size = this.#size(rows);
		if (size < limit || this.#isPutOff(size)) return [];
		return this.#attempt(rows, size, true);
	}

	/** The provider refused the prompt as too long. Summarises regardless of the estimate, and reports it. */
	async compactAfterRefusal(rows: readonly Message[]): Promise<readonly Message[]> {
		if (!this.#isOn()) return [];
		const size = this.#size(rows);
		return this.#isPutOff(size) ? [] : this.#attempt(rows, size, false);
	}

	/** `/compress`, and its answer. After an interruption it may already have been done. */
	async compress(rows: readonly Message[]): Promise<string> {
		const { start, config } = this.#options;
		const done = rows.findLast((row) => row.kind === "summary" && row.turn === start.turn);
		if (done) return compressedSentence(done, rows);
		const compacted = await this.#compact(rows);
		if (compacted.kind !== "covered") return notCompressedSentence(compacted, config.compaction.keep_last);
		const all = [...rows, ...compacted.rows];
		return compressedSentence(all.at(-1) as Message, all);
	}

	/** Covers everything except the last rows. Throws Aborted. */
	async #compact(rows: readonly Message[]): Promise<Compacted> {
		const { store, config, start } = this.#options;
		const { shared } = start.conversationInfo;
		const added: Message[] = [];
		let room = config.agent.context_window * READ_AT_ONCE;
		const end = (otherwise: Compacted): Compacted =>
			added.length > 0 ? { kind: "covered", rows: added } : otherwise;
		for (let steps = 0; steps < MOST_STEPS; steps++) {
			const all = [...rows, ...added];
			const cover = rowsToCover({
				rows: all,
				shared,
				keepLast: config.compaction.keep_last,
				turn: start.turn,
				room,
			});
			if (!cover) return end({ kind: "nothing" });
			const said = await this.#summarise(cover);
			if ("failure" in said) {
				if (said.failure.kind !== "context_too_large") return end({ kind: "failed", ...said });
				room /= 2;
				continue;
			}
			const summary = summaryContent(said.text);
			const size = (of: readonly Message[]) =>
				promptSize({ rows: of, shared, overheadTokens: this.#options.overheadTokens(), known: null });
			const after = size([...all, asRow(summary, cover, start)]);
			if (after >= size(all)) return end({ kind: "longer" });
			this.#after = after + this.#growth();
			const row = await store.cover({
				session: start.session,
				ranges: cover.ranges,
				summary,
				turn: { id: start.turn, token: start.token },
				compactAfter: Math.ceil(this.#after),
			});
			added.push(row);
			this.#known = null;
		}
		return end({
			kind: "failed",
			failure: { kind: "context_too_large", detail: "the summariser cannot read it" },
		});
	}

	async #attempt(rows: readonly Message[], size: number, tell: boolean): Promise<readonly Message[]> {
		const { store, start, outlet } = this.#options;
		const compacted = await this.#compact(rows);
		if (compacted.kind === "covered") return compacted.rows;
		const { turn, token, session, destination } = start;
		this.#after = Math.ceil(size + this.#growth());
		const notice = uncompactedSentence(compacted);
		await store.putOffCompaction({
			turn,
			token,
			compactAfter: this.#after,
			deliveries: tell
				? toDeliveries(
						notice,
						{ id: `${session}:uncompacted`, kind: "notice", class: "warning", destination },
						outlet,
					)
				: [],
		});
		return [];
	}

	async #summarise({ rows }: Cover): Promise<{ readonly text: string } | { readonly failure: AgentFailure }> {
		const { store, agent, clock, config, start, calls, signal } = this.#options;
		const { conversation, session, turn, conversationInfo } = start;
		const outcome = await modelStep(
			agent,
			{
				conversation,
				session,
				turn,
				system: SUMMARY_SYSTEM,
				history: [
					{
						role: "user",
						kind: "person",
						content: compactionRecord(rows, { shared: conversationInfo.shared }),
					},
				],
				notes: [],
				tools: [],
				standing: "none",
				override: conversationInfo.modelOverride,
				signal,
				maxAnswer: maxAnswerOf(config),
			},
			{
				clock,
				limits: {
					firstTokenMs: config.turn.first_token_seconds * 1000,
					totalMs: config.turn.model_seconds * 1000,
				},
				secrets: store.secrets,
				onText: () => {},
			},
		);
		if (outcome.kind === "aborted") throw new Aborted();
		if (outcome.kind === "failed") {
			calls.recordFailure(agent.name, { aside: true });
			return outcome;
		}
		calls.record(outcome.usage, "ok", { aside: true });
		const text = contentText(outcome.message.content);
		const { finishReason } = outcome.message;
		if (finishReason === "length" || finishReason === CUT) return malformed("the summary was cut off");
		return text.trim() === "" ? malformed("the summary was empty") : { text };
	}

	#isOn(): boolean {
		const { config, agent } = this.#options;
		return config.compaction.enabled && whyNotSummarising(agent) === null;
	}

	#isPutOff(size: number): boolean {
		return this.#after !== null && size < this.#after;
	}

	#growth(): number {
		return this.#options.config.agent.context_window * GROWTH;
	}

	/** As nearly all prompts are: found without reading them. */
	#isFarBelow(limit: number, rows: readonly Message[]): boolean {
		return this.#measureOf(rows) === null && promptSizeAtMost(this.#sizing(rows)) < limit;
	}

	#size(rows: readonly Message[]): number {
		return promptSize({ ...this.#sizing(rows), known: this.#measureOf(rows) });
	}

	#sizing(rows: readonly Message[]) {
		const { start, overheadTokens } = this.#options;
		return {
			rows,
			shared: start.conversationInfo.shared,
			overheadTokens: this.#measureOf(rows) ? 0 : overheadTokens(),
		};
	}

	#measureOf(rows: readonly Message[]): Measure | null {
		const { session, promptTokens } = this.#options.start;
		if (this.#known === undefined) this.#known = lastMeasure(rows, { session, tokens: promptTokens });
		return this.#known;
	}
}

/** As it would stand in the transcript. */
function asRow(content: string, { ranges }: Cover, { session }: TurnStart): Message {
	const seq = Number.MAX_SAFE_INTEGER;
	const row = { id: seq, session, seq, turn: null, createdAt: 0, hidden: false };
	return { ...row, role: "meta", kind: "summary", content, covers: ranges };
}

function malformed(detail: string): { readonly failure: AgentFailure } {
	return { failure: { kind: "malformed", detail } };
}
