// One turn, from its begin to its end. The gateway owns the loop: one model step per call of the agent, then the tools it asked
// for, each finished message appended under the turn's token (I5). The final text is committed with the end of the turn (I7).
import type {
	Agent,
	AgentFailure,
	AssistantMessage,
	LoopEvent,
	StepAgent,
	StepInput,
	Usage,
} from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import {
	agentNote,
	finalLimitText,
	limitInfo,
	limitNote,
	type Message,
	type NewMessage,
	nearLimitText,
	promptHistory,
	type ResetPolicy,
	type ToolCall,
} from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Conversation, Store, ToolProgress } from "../store/index.ts";
import type { ToolRegistry } from "../tools/index.ts";
import type { Channel } from "./channel.ts";
import type { GatewayClock } from "./clock.ts";
import { Aborted, DeadlinePassed, withDeadlines } from "./deadline.ts";
import type { Deltas } from "./deltas.ts";
import { modelStep } from "./model-step.ts";
import { Preview } from "./previews.ts";
import { DEADLINE, failureSentence, loopSentence, NO_TEXT, STEP_LIMIT, UNEXPECTED } from "./sentences.ts";
import { type CallOutcome, interruptedCall, runCall, unansweredCalls } from "./tool-calls.ts";
import { ToolsShown } from "./tools-shown.ts";
import { asRow, contentText, lastRows, noticesBefore, type Outcome, replyTo, rotation } from "./turn-end.ts";
import type { TurnStart } from "./turn-start.ts";
import { untilWritten } from "./until-written.ts";

/** Why a turn is to end before its time. lost: somebody else ended it in the store already, so nothing may be written. */
export type StopReason = "stopped" | "deadline" | "shutdown" | "lost";

export interface TurnTools {
	readonly store: Store;
	readonly agent: Agent;
	readonly tools: ToolRegistry;
	readonly clock: GatewayClock;
	readonly config: Config;
	readonly deltas: Deltas;
	readonly channel: Channel | undefined;
	readonly policyOf: (conversation: Conversation) => ResetPolicy;
	/** The context block of a session that would open now. */
	readonly contextOf: (conversation: Conversation) => string;
	/** Messages that wait and may join the turn (busy mode steer). */
	readonly joining: () => readonly number[];
	readonly joined: (inbox: readonly number[]) => void;
	readonly log: (message: string, error: unknown) => void;
}

type ModelCall = Parameters<Store["recordModelCall"]>[0];

export class Turn {
	readonly #start: TurnStart;
	readonly #with: TurnTools;
	readonly #controller = new AbortController();
	readonly #policy: ResetPolicy;
	/** Its end is no longer this turn's to write. */
	#abandoned = false;
	#rows: Message[] = [];
	#count: number;
	/** It may be raised while the turn runs. */
	#cap: number;
	#index: number;
	#calls = 0;
	/** Text of the message that is being written. */
	#partial = "";
	#said: string[] = [];
	/** Of a program that loops itself: the message that may be its last. */
	#held: NewMessage | null = null;
	readonly #usage: { readonly args: ModelCall; written: Promise<unknown> | null }[] = [];
	#preview: Preview | undefined;
	readonly #toolsShown: ToolsShown;
	/** Attachments of rows that are committed with the end. */
	readonly #blobs: string[] = [];

	constructor(start: TurnStart, tools: TurnTools) {
		this.#start = start;
		this.#with = tools;
		this.#policy = tools.policyOf(start.place);
		this.#count = start.messages;
		this.#cap = start.cap;
		this.#index = start.nextIndex;
		this.#toolsShown = new ToolsShown(start.place.toolProgress ?? tools.config.display.tool_progress);
	}

	get id(): string {
		return this.#start.turn;
	}

	stop(reason: StopReason): void {
		if (reason === "shutdown" || reason === "lost") this.#abandoned = true;
		this.#controller.abort(reason);
	}

	/** Runs to the end. Never throws: what cannot be written is logged, and left for the next owner to resume. */
	async run(): Promise<"ended" | "lost"> {
		const { clock, config, deltas, log } = this.#with;
		const { conversation } = this.#start;
		const cancel = clock.after(config.turn.max_minutes * 60_000, () => this.stop("deadline"));
		const typing = this.#keepTyping();
		try {
			this.#openPreview();
			const outcome = await this.#outcome();
			if (!this.#abandoned) await this.#preview?.settle(this.#controller.signal);
			if (this.#abandoned) {
				this.#preview?.abandon();
				return "lost";
			}
			const ending = this.#ending(outcome);
			await untilWritten(() => this.#write(ending), {
				clock,
				givenUp: () => this.#abandoned,
				log: (error) => log(`turn ${this.id} cannot be ended yet`, error),
			});
			return "ended";
		} catch (error) {
			if (!(error instanceof KeryxError && error.code === "turn.stale"))
				log(`turn ${this.id} could not be ended`, error);
			return "lost";
		} finally {
			cancel();
			typing();
			deltas.end(conversation);
		}
	}

	async #outcome(): Promise<Outcome> {
		try {
			this.#rows = [
				...(await this.#with.store.transcript({ scope: { kind: "operator" }, session: this.#start.session })),
			];
			return this.#with.agent.kind === "step" ? await this.#loop(this.#with.agent) : await this.#followLoop();
		} catch (error) {
			if (this.#controller.signal.aborted || error instanceof Aborted) return this.#aborted();
			if (error instanceof KeryxError && error.code === "turn.stale") throw error;
			if (error instanceof DeadlinePassed)
				return this.#failure({ kind: "timeout", detail: "no end in time" });
			this.#with.log(`turn ${this.id} failed`, error);
			return { kind: "failed", reason: "internal", sentence: UNEXPECTED };
		}
	}

	#aborted(): Outcome {
		const reason = this.#controller.signal.reason as StopReason;
		return reason === "deadline"
			? { kind: "failed", reason: "deadline", sentence: DEADLINE }
			: { kind: "stopped" };
	}

	async #loop(agent: StepAgent): Promise<Outcome> {
		const { config } = this.#with;
		let calls: readonly ToolCall[] = this.#start.resumed ? unansweredCalls(this.#rows, this.id) : [];
		for (let step = 1; ; step++) {
			const ended = await this.#runCalls(calls);
			if (ended) return ended;
			if (step > config.agent.max_steps)
				return { kind: "failed", reason: "step_limit", sentence: STEP_LIMIT };
			await this.#join();
			const outcome = await this.#step(agent);
			if (outcome.kind !== "done") return outcome;
			const { message } = outcome;
			calls = message.toolCalls;
			if (calls.length === 0) return this.#completed([asRow(message)]);
			await this.#append([asRow(message)]);
			this.#said.push(contentText(message.content));
			this.#partial = "";
		}
	}

	async #step(
		agent: StepAgent,
	): Promise<Outcome | { readonly kind: "done"; readonly message: AssistantMessage }> {
		const { clock, config } = this.#with;
		this.#partial = "";
		const outcome = await modelStep(agent, this.#input(), {
			clock,
			limits: {
				firstTokenMs: config.turn.first_token_seconds * 1000,
				totalMs: config.turn.model_seconds * 1000,
			},
			onText: (delta) => this.#onText(delta),
		});
		if (outcome.kind === "aborted") return this.#aborted();
		if (outcome.kind === "failed") return this.#failure(outcome.failure);
		this.#record(outcome.usage, "ok");
		return outcome;
	}

	/** A program that loops itself: what it reports is stored as if the gateway had run it. */
	async #followLoop(): Promise<Outcome> {
		const { agent, clock, config } = this.#with;
		if (agent.kind !== "loop") throw new TypeError("not a loop agent");
		// Its own controller: a program that passed a deadline is told to stop, the turn goes on to say so.
		const controller = new AbortController();
		const signal = AbortSignal.any([this.#controller.signal, controller.signal]);
		const limits = {
			firstTokenMs: config.turn.first_token_seconds * 1000,
			totalMs: config.turn.max_minutes * 60_000,
		};
		try {
			for await (const event of withDeadlines(agent.run({ ...this.#input(), signal }), {
				clock,
				limits,
				signal: this.#controller.signal,
			})) {
				if (event.type === "text") this.#onText(event.delta);
				else if (event.type === "failed") return this.#failure(event.failure);
				else if (event.type === "done") return this.#completed(this.#takeHeld());
				else await this.#store(event);
			}
		} finally {
			controller.abort();
		}
		return this.#failure({ kind: "malformed", detail: "the agent ended without an answer" });
	}

	/** The last message is committed with the end of the turn, so each is written when the next thing follows. */
	async #store(event: Extract<LoopEvent, { type: "message" | "result" }>): Promise<void> {
		const held = this.#takeHeld();
		await this.#append(held);
		this.#said.push(...held.map(({ content }) => contentText(content)));
		this.#partial = "";
		if (event.type === "message") {
			this.#held = asRow(event.message);
			if (event.usage) this.#record(event.usage, "ok");
			return;
		}
		const { toolCallId, toolName, content, isError } = event;
		await this.#append([{ role: "tool", toolCallId, toolName, content, ...(isError && { isError }) }]);
	}

	#takeHeld(): NewMessage[] {
		const held = this.#held;
		this.#held = null;
		return held ? [held] : [];
	}

	#failure(failure: AgentFailure): Outcome {
		const usage = {
			provider: this.#with.agent.name,
			model: "",
			inputTokens: 0,
			outputTokens: 0,
			costMicros: 0,
			currency: "USD",
		};
		this.#record(usage, "error");
		return {
			kind: "failed",
			reason: `${failure.kind}: ${failure.detail}`,
			sentence: failureSentence(failure),
		};
	}

	#completed(last: readonly NewMessage[]): Outcome {
		const own = contentText(last.at(-1)?.content ?? "").trim();
		const text =
			own ||
			this.#said
				.map((said) => said.trim())
				.filter(Boolean)
				.join("\n\n") ||
			NO_TEXT;
		return { kind: "completed", text, last };
	}

	/** Runs the calls of a step in order. Answers an outcome where one of them ends the turn. */
	async #runCalls(calls: readonly ToolCall[]): Promise<Outcome | null> {
		const { store, tools, clock, config } = this.#with;
		const { resumed, token, conversation, session, turn } = this.#start;
		let asked: string | null = null;
		const asking: NewMessage[] = [];
		for (const call of calls) {
			const cutOff = resumed?.started.has(call.id) ?? false;
			this.#showProgress(call);
			const outcome = cutOff
				? interruptedCall(call)
				: await runCall(call, {
						store,
						tools,
						clock,
						toolMs: config.turn.tool_seconds * 1000,
						turn: { id: turn, token },
						context: { store, scope: this.#scope(), conversation, session, turn },
						signal: this.#controller.signal,
					});
			if (outcome.endsTurn !== undefined) {
				// Committed with the end of the turn: a crash before it leaves a call that is made again, not a question never put.
				asked = outcome.endsTurn;
				asking.push(outcome.message);
				this.#blobs.push(...(outcome.blobs ?? []));
				continue;
			}
			const repeats = await this.#append([outcome.message], [outcome]);
			if (repeats >= config.loop.max_repeats)
				return { kind: "failed", reason: `loop: ${call.name}`, sentence: loopSentence(call.name, repeats) };
		}
		if (asked === null) return null;
		return this.#completed([...asking, { role: "assistant", content: asked, finishReason: "clarify" }]);
	}

	/** Appends rows under the token, and answers how often the same call has failed in a row. */
	async #append(messages: readonly NewMessage[], outcomes: readonly CallOutcome[] = []): Promise<number> {
		const { turn, token } = this.#start;
		const indexed = messages.map((message, offset) => ({ ...message, index: this.#index + offset }));
		const answer = await this.#with.store.appendMessages({
			turn,
			token,
			messages: indexed,
			blobs: outcomes.flatMap(({ blobs = [] }) => blobs),
			outcomes: outcomes.map(({ digest, failed }) => ({ digest, failed })),
		});
		this.#index += messages.length;
		this.#count = answer.messages;
		this.#cap = answer.cap;
		this.#rows.push(...answer.rows);
		return outcomes.some(({ failed }) => failed) ? answer.failingCount : 0;
	}

	async #join(): Promise<void> {
		const inbox = this.#with.joining();
		if (inbox.length === 0) return;
		const { turn, token } = this.#start;
		const joined = await this.#with.store.joinTurn({
			turn,
			token,
			inbox,
			nextIndex: this.#index,
			policy: this.#policy,
		});
		this.#with.joined(inbox);
		this.#index = joined.nextIndex;
		this.#count += joined.rows.length;
		this.#rows.push(...joined.rows);
	}

	#input(): StepInput {
		const { conversation, session, turn, context } = this.#start;
		return {
			conversation,
			session,
			turn,
			system: context,
			history: promptHistory(this.#rows, { shared: this.#start.place.shared }),
			notes: this.#notes(),
			tools: this.#with.tools.specs,
			override: this.#start.place.modelOverride,
			signal: this.#controller.signal,
		};
	}

	/** For this step only: what changes from step to step stands last in the prompt and is never stored. */
	#notes(): string[] {
		const { boundary, resumed } = this.#start;
		const info = limitInfo(this.#count + 1, this.#cap);
		const limit = limitNote(info);
		const told = boundary && agentNote(boundary);
		return [
			...(told ? [told] : []),
			...(resumed
				? [
						`This turn was interrupted (${resumed.reason}) and goes on here; calls marked interrupted may or may not have taken effect.`,
					]
				: []),
			...(limit === "near" ? [nearLimitText(info)] : limit === "final" ? [finalLimitText(info)] : []),
			`The time is ${new Date(this.#with.clock.now()).toISOString()}.`,
		];
	}

	#scope() {
		const { principal, profile } = this.#start.place;
		const speaker = this.#start.principal ?? principal;
		return {
			kind: "principal" as const,
			principal: speaker ?? "",
			profile,
			conversation: this.#start.conversation,
		};
	}

	#record(usage: Usage, status: "ok" | "error"): void {
		const { turn, token, attempt } = this.#start;
		const n = (attempt - 1) * 100_000 + ++this.#calls;
		const args = { turn, token, n, ...usage, status };
		// Not awaited here: it shares the commit of what follows, and the end of the turn waits for it.
		const written = this.#with.store.recordModelCall(args);
		written.catch(() => undefined);
		this.#usage.push({ args, written });
	}

	#onText(delta: string): void {
		this.#partial += delta;
		this.#with.deltas.add(this.#start.conversation, this.id, this.#index, delta);
		this.#preview?.show(this.#partial);
	}

	#openPreview(): void {
		const { channel, clock, config, store } = this.#with;
		const { turn, token, destination } = this.#start;
		if (!channel?.edit || !config.display.streaming) return;
		// A preview stands where it was first shown: what must be said before the reply would come after it.
		if (noticesBefore(this.#start, this.#policy).length > 0) return;
		this.#preview = new Preview({ store, channel, clock, turn: { id: turn, token }, destination });
	}

	showTools(show: ToolProgress): void {
		this.#toolsShown.show = show;
	}

	#showProgress(call: ToolCall): void {
		const shown = this.#toolsShown.add(call);
		if (shown !== null) this.#preview?.show([...this.#said, shown].join("\n\n"));
	}

	#keepTyping(): () => void {
		const { channel, clock } = this.#with;
		if (!channel?.typing) return () => {};
		let cancel = () => {};
		const again = () => {
			// An indicator that did not arrive costs nobody anything; the next one follows.
			channel.typing?.(this.#start.destination).catch(() => undefined);
			cancel = clock.after(4000, again);
		};
		again();
		return () => cancel();
	}

	/** Everything the end of the turn writes, made once: it may have to be written again after a fault of the store. */
	#ending(outcome: Outcome): Parameters<Store["endTurn"]>[0] {
		const { turn, token, boundary, place } = this.#start;
		const rows = lastRows(outcome, { held: this.#takeHeld(), partial: this.#partial });
		const messages = rows.map((message, offset) => ({ ...message, index: this.#index + offset }));
		const count = this.#count + rows.filter((row) => row.role !== "meta").length;
		const full = this.#cap > 0 && count >= this.#cap;
		const reply = replyTo(outcome, this.#start, this.#policy);
		return {
			turn,
			token,
			outcome:
				outcome.kind === "failed" ? { kind: "failed", reason: outcome.reason } : { kind: outcome.kind },
			messages,
			blobs: this.#blobs,
			deliveries: this.#preview?.holdBack(reply) ?? reply,
			policy: this.#policy,
			noticeTold: outcome.kind === "completed" && boundary !== null,
			...(full && { ifRotated: rotation(this.#start, this.#policy, this.#cap, this.#with.contextOf(place)) }),
		};
	}

	/** What the model calls cost is written with the end at the latest; a second attempt writes it again, which changes nothing. */
	async #write(ending: Parameters<Store["endTurn"]>[0]): Promise<void> {
		const { store } = this.#with;
		const usage = this.#usage.map((call) => call.written ?? store.recordModelCall(call.args));
		for (const call of this.#usage) call.written = null;
		await Promise.all([...usage, store.endTurn(ending)]);
	}
}
