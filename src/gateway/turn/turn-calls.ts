// The tool calls of one turn: those of a step, in order, and those that a human has approved. Each result is a row under the turn's token
// (I5). Calls that wait for a human become the turn's questions.
import type { Question } from "../../confirmations/index.ts";
import { approvedCallResult, lesser, type NewMessage, type ToolCall } from "../../domain/index.ts";
import type { TurnCheckpoints } from "../files/turn-checkpoints.ts";
import type { Asking } from "./asking.ts";
import type { TurnDependencies } from "./dependencies.ts";
import type { TurnRows } from "./rows.ts";
import type { TurnStart } from "./start.ts";
import { interruptedCall, refuseStopped, revokedCall, runApproved, runCall } from "./tool-calls.ts";

export interface TurnCallsOptions
	extends Pick<TurnDependencies, "store" | "clock" | "config" | "tools" | "rights" | "standingNow"> {
	readonly start: TurnStart;
	readonly rows: TurnRows;
	readonly asking: Asking;
	readonly checkpoints: TurnCheckpoints;
	readonly signal: AbortSignal;
	/** Aborted when someone writes. Read per call: the signal is replaced after a join. */
	readonly interrupted: () => AbortSignal;
	/** Shows a call that is about to run. */
	readonly show: (call: ToolCall) => void;
}

/** Why a turn ends after the calls of a step. */
export type CallsEnd =
	| { readonly kind: "looping"; readonly tool: string; readonly repeats: number }
	/** Someone is asked something. `said`: by a tool. `rows` are committed with the end. */
	| {
			readonly kind: "asking";
			readonly said: readonly string[];
			readonly questions: readonly Question[];
			readonly rows: readonly NewMessage[];
	  };

export class TurnCalls {
	readonly #with: TurnCallsOptions;
	readonly #blobs: string[] = [];

	constructor(options: TurnCallsOptions) {
		this.#with = options;
	}

	/** Attachments of rows that are committed with the end of the turn. */
	get blobs(): readonly string[] {
		return this.#blobs;
	}

	/** Runs the calls of a step in order. Null: the turn continues. Throws Aborted if the turn is stopped meanwhile. */
	async run(calls: readonly ToolCall[]): Promise<CallsEnd | null> {
		const { start, rows, asking, config, show } = this.#with;
		const { resumed } = start;
		let said: string | null = null;
		let waits = resumed !== null;
		const asked: NewMessage[] = [];
		for (const call of calls) {
			refuseStopped(this.#with.signal);
			const cutOff = resumed?.started.has(call.id) ?? false;
			show(call);
			const outcome = cutOff
				? interruptedCall(call)
				: (await this.#hasLostRights())
					? revokedCall(call)
					: await runCall(call, {
							...this.#environment(),
							ask: (about, question) => asking.about(about, question, rows.nextIndex),
						});
			if (outcome.waiting) {
				rows.took(outcome.waiting);
				waits = true;
				continue;
			}
			if (outcome.endsTurn !== undefined) {
				// Committed with the end of the turn: after a crash before it, the call is made again and the question is put.
				said = outcome.endsTurn;
				asked.push(outcome.message);
				this.#blobs.push(...(outcome.blobs ?? []));
				continue;
			}
			const repeats = await rows.append([outcome.message], [outcome]);
			if (repeats >= config.loop.max_repeats) return { kind: "looping", tool: call.name, repeats };
		}
		// From the store, not from memory: a turn that was cut off after asking still has to put its question.
		const questions = waits ? await asking.open() : [];
		if (said === null && questions.length === 0) return null;
		const before = said === null ? [] : [said];
		const content = [...before, ...questions.map(({ text }) => text)].join("\n\n");
		const finishReason = questions.length > 0 ? "confirmation" : "clarify";
		return {
			kind: "asking",
			said: before,
			questions,
			rows: [...asked, { role: "assistant", content, finishReason }],
		};
	}

	/** Runs the calls that a human has decided. Each approval is used and committed before its call runs. Throws Aborted if the turn is stopped meanwhile. */
	async runApproved(): Promise<void> {
		const { rows, asking, show, signal } = this.#with;
		for (const id of asking.outcomes(rows.all)) {
			refuseStopped(signal);
			const used = await asking.use(id);
			if (!used) continue;
			if (used.kind === "row") {
				await rows.append([used.row]);
				continue;
			}
			show(used.call);
			const outcome = (await this.#hasLostRights())
				? revokedCall(used.call)
				: await runApproved(used.call, used.confirmation.action, this.#environment());
			await rows.append([approvedCallResult(used.confirmation, outcome.message.content)], [outcome]);
		}
	}

	async #hasLostRights(): Promise<boolean> {
		const { store, rights, standingNow } = this.#with;
		return lesser(rights.standing, await standingNow(store)) !== rights.standing;
	}

	#environment() {
		const { store, clock, config, tools, rights, checkpoints, signal, interrupted } = this.#with;
		const { token, conversation, session, turn, principal, destination } = this.#with.start;
		return {
			store,
			tools,
			clock,
			toolMs: config.turn.tool_seconds * 1000,
			turn: { id: turn, token },
			context: {
				store,
				scope: rights.scope,
				standing: rights.standing,
				conversation,
				session,
				turn,
				speaker: principal,
				destination,
			},
			signal,
			interrupted,
			beforeFiles: () => checkpoints.before(),
		};
	}
}
