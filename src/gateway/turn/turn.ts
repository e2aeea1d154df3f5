// One turn, from its begin to its end. The gateway owns the loop: one model step per call of the agent, then the tools it asked for. Each
// finished message is appended under the turn's token (I5). The final text is committed with the end of the turn (I7).

import type { Agent, AgentFailure, LoopAgent, StepAgent, StepInput } from "../../agents/index.ts";
import {
	contentText,
	hasPlatformTools,
	limitInfo,
	type Message,
	type NewMessage,
	promptHistory,
	type ResetPolicy,
	type ToolCall,
} from "../../domain/index.ts";
import { isPassing, OPERATOR, type Store, type ToolProgress } from "../../store/index.ts";
import { DeadlinePassed } from "../../time/index.ts";
import type { ConfirmationQuestion } from "../../tools/index.ts";
import { TurnCheckpoints } from "../files/turn-checkpoints.ts";
import { patientStore } from "../patient-store.ts";
import { DEADLINE, failureSentence, loopSentence, maxAnswerOf, NO_TEXT, STEP_LIMIT } from "../sentences.ts";
import { Asking } from "./asking.ts";
import type { StopReason, TurnDependencies } from "./dependencies.ts";
import { Draft } from "./draft.ts";
import { lastRows, noticesBefore, type Outcome } from "./end.ts";
import { Ending, FAILED, noticeAbout } from "./ending.ts";
import { ModelCalls } from "./model-calls.ts";
import { notesFor } from "./notes.ts";
import { ProgramReport } from "./program-report.ts";
import { whyNotSummarising } from "./prompt-compactor.ts";
import { TurnRows } from "./rows.ts";
import type { TurnStart } from "./start.ts";
import { Steps } from "./steps.ts";
import { literalCall, unansweredCalls } from "./tool-calls.ts";
import { type CallsEnd, TurnCalls } from "./turn-calls.ts";
import { keepTyping } from "./typing.ts";
import { isRefusal, writeEnd } from "./write-end.ts";

export class Turn {
	readonly #start: TurnStart;
	readonly #with: TurnDependencies;
	/** Does not wait for a store in trouble. */
	readonly #directStore: Store;
	readonly #controller = new AbortController();
	/** Aborted when someone writes. Replaced once the message has joined this turn. */
	#arrival = new AbortController();
	readonly #policy: ResetPolicy;
	/** Aborted when this turn must not write its end any more. */
	readonly #abandoned = new AbortController();
	#isEnding = false;
	readonly #rows: TurnRows;
	#trigger: string | null = null;
	readonly #draft: Draft;
	readonly #report: ProgramReport;
	readonly #calls: ModelCalls;
	readonly #asking: Asking;
	readonly #checkpoints: TurnCheckpoints;
	readonly #turnCalls: TurnCalls;
	/** Null: no step was made. */
	#steps: Steps | null = null;
	/** For a model that can run commands. */
	#wallNote: string | null = null;

	constructor(start: TurnStart, transcript: readonly Message[], dependencies: TurnDependencies) {
		this.#start = start;
		const patience = {
			clock: dependencies.clock,
			signal: this.#controller.signal,
			isPassing,
			log: (error: unknown) => dependencies.log(`turn ${start.turn} is waiting for the store`, error),
		};
		this.#directStore = dependencies.store;
		const used = { ...dependencies, store: patientStore(dependencies.store, patience) };
		this.#with = used;
		this.#policy = used.policyOf(start.conversationInfo);
		this.#rows = new TurnRows(used.store, start, transcript);
		this.#calls = new ModelCalls(used.store, start);
		const { store, confirmations, rights } = used;
		this.#draft = new Draft({ ...used, store: dependencies.store, start, rows: this.#rows });
		this.#report = new ProgramReport(
			{
				onText: (delta) => this.#draft.add(delta),
				append: (messages) => this.#rows.append(messages),
				said: ({ content }) => this.#draft.finish(contentText(content)),
				used: (usage) => this.#calls.record(usage, "ok"),
				messageEnded: () => this.#draft.beginMessage(),
			},
			store.secrets,
		);
		this.#asking = new Asking({
			store,
			confirmations,
			mode: used.config.approvals.mode,
			start,
			now: () => used.clock.now(),
			standing: rights.standing,
			patience,
			directStore: dependencies.store,
		});
		this.#checkpoints = new TurnCheckpoints({
			...used,
			start,
			signal: this.#controller.signal,
			rows: () => this.#rows.all,
		});
		this.#turnCalls = new TurnCalls({
			...used,
			start,
			rows: this.#rows,
			asking: this.#asking,
			checkpoints: this.#checkpoints,
			signal: this.#controller.signal,
			interrupted: () => this.#arrival.signal,
			show: (call) => this.#draft.showTool(call),
		});
	}

	get id(): string {
		return this.#start.turn;
	}

	/** Whether it is writing its end. */
	get isEnding(): boolean {
		return this.#isEnding;
	}

	stop(reason: StopReason): void {
		if (reason === "shutdown" || reason === "lost") this.#abandoned.abort();
		this.#controller.abort(reason);
	}

	/** Someone wrote a message, which waits. */
	messageArrived(): void {
		this.#arrival.abort("a message arrived");
	}

	/** Runs until its end is stored. Never throws. Lost: it was ended elsewhere, or the next start resumes it. */
	async run(): Promise<"ended" | "lost"> {
		const { clock, config, deltas } = this.#with;
		const { conversation } = this.#start;
		const cancel = clock.after(config.turn.max_minutes * 60_000, () => this.stop("deadline"));
		const typing = keepTyping(this.#with.channel, this.#start.destination, clock);
		try {
			const outcome = await this.#outcome();
			const end = await this.#end(outcome);
			if (end === "ended" && outcome.kind === "completed") this.#with.completed(this.#start);
			return end;
		} catch (error) {
			if (isRefusal(error, "turn.stale")) return "lost";
			throw error;
		} finally {
			cancel();
			typing();
			deltas.end(conversation);
		}
	}

	/** Throws turn.stale. */
	async #outcome(): Promise<Outcome> {
		try {
			this.#draft.open(() => noticesBefore(this.#start, noticeAbout(this.#start, this.#with, this.#policy)));
			this.#trigger = await this.#findTrigger();
			const { agent, tools } = this.#with;
			if (agent.kind === "step" && tools.find("terminal")) this.#wallNote = await this.#with.wallNote();
			if (this.#start.purpose === "compaction") return await this.#compress(agent);
			const own = this.#rows.all.filter((row) => row.turn === this.id);
			if (this.#start.resumed && own.some(({ role, toolCalls }) => role === "tool" || toolCalls))
				this.#checkpoints.goOn();
			await this.#turnCalls.runApproved();
			await this.#tellPrompt(own);
			return agent.kind === "step" ? await this.#loop(agent) : await this.#followProgram(agent);
		} catch (error) {
			if (this.#controller.signal.aborted) return this.#aborted();
			if (isRefusal(error, "turn.stale")) throw error;
			if (error instanceof DeadlinePassed)
				return this.#failure({ kind: "timeout", detail: "no end in time" });
			this.#with.log(`turn ${this.id} failed`, error);
			return FAILED;
		}
	}

	/** Throws turn.stale. */
	#end(given: Outcome): Promise<"ended" | "lost"> {
		this.#isEnding = true;
		this.#rows.keepOwn();
		// Before it is split: part of a secret would not be recognised.
		const outcome = this.#with.store.secrets.hideIn(given);
		return writeEnd(new Ending(outcome, this.#lastRows(outcome)), {
			start: this.#start,
			with: this.#with,
			store: this.#directStore,
			policy: this.#policy,
			rows: this.#rows,
			calls: this.#calls,
			blobs: this.#turnCalls.blobs,
			unshown: this.#steps?.unshown ?? [],
			preview: this.#draft.preview,
			asking: this.#asking,
			checkpoints: this.#checkpoints,
			stopped: this.#controller.signal,
			abandoned: this.#abandoned.signal,
		});
	}

	#aborted(): Outcome {
		const reason = this.#controller.signal.reason as StopReason;
		return reason === "deadline"
			? { kind: "failed", reason: "deadline", sentence: DEADLINE }
			: { kind: "stopped" };
	}

	async #loop(agent: StepAgent): Promise<Outcome> {
		const { config } = this.#with;
		const steps = this.#stepsOf(agent);
		let calls: readonly ToolCall[] = this.#start.resumed ? unansweredCalls(this.#rows.all, this.id) : [];
		for (let step = 1; ; step++) {
			const ended = await this.#turnCalls.run(calls);
			if (ended) return this.#endedByCalls(ended);
			if (step > config.agent.max_steps)
				return { kind: "failed", reason: "step_limit", sentence: STEP_LIMIT };
			await this.#join();
			const outcome = await steps.next();
			if (outcome.kind === "aborted") return this.#aborted();
			if (outcome.kind === "failed") return failureOf(outcome.failure);
			const { message, literal, rows } = outcome;
			if (message.toolCalls.length === 0) return this.#completed(rows);
			calls = message.toolCalls.filter(({ id }) => !literal.has(id));
			// In one commit with the calls: after a crash, such a call must not be made with the name in place of the secret.
			const refused = message.toolCalls.filter(({ id }) => literal.has(id)).map(literalCall);
			const [said, ...leftOut] = rows;
			const results = refused.map((call) => call.message);
			const repeats = await this.#rows.append([said as NewMessage, ...results, ...leftOut], refused);
			if (repeats >= config.loop.max_repeats)
				return loopingOf(refused.at(-1)?.message.toolName ?? "", repeats);
			this.#draft.finish(contentText(message.content));
			this.#draft.beginMessage();
		}
	}

	#stepsOf(agent: StepAgent): Steps {
		this.#steps = new Steps({
			...this.#with,
			agent,
			start: this.#start,
			rows: this.#rows,
			calls: this.#calls,
			inputWithout: (attachments) => this.#input(attachments),
			onBegin: () => this.#draft.beginMessage(),
			onText: (delta) => this.#draft.add(delta),
			signal: this.#controller.signal,
		});
		return this.#steps;
	}

	#endedByCalls(end: CallsEnd): Outcome {
		if (end.kind === "looping") return loopingOf(end.tool, end.repeats);
		if (end.questions.length === 0) return this.#completed(end.rows);
		const text = [...this.#draft.said, ...end.said].join("\n\n");
		return { kind: "completed", text, questions: end.questions, last: end.rows };
	}

	/** A turn started by `/compress`. It answers no message; it reports the result. */
	async #compress(agent: Agent): Promise<Outcome> {
		const text = whyNotSummarising(agent) ?? (await this.#stepsOf(agent as StepAgent).compress());
		return { kind: "completed", text, last: [] };
	}

	async #followProgram(agent: LoopAgent): Promise<Outcome> {
		const { clock, config } = this.#with;
		// It changes files by itself, at any time.
		await this.#checkpoints.before();
		const permit = (call: ToolCall, question: ConfirmationQuestion) =>
			this.#asking.live(call, question, this.#controller.signal);
		const input = { ...this.#input(), permit };
		const end = await this.#report.follow(agent, input, { clock, turn: config.turn });
		return end.kind === "failed" ? this.#failure(end.failure) : this.#completed(this.#report.takeHeld());
	}

	#failure(failure: AgentFailure): Outcome {
		this.#calls.recordFailure(this.#with.agent.name);
		return failureOf(failure);
	}

	#completed(last: readonly NewMessage[]): Outcome {
		const own = contentText(last.findLast(({ kind }) => kind !== "left_out")?.content ?? "").trim();
		return { kind: "completed", text: own || this.#draft.said.join("\n\n") || NO_TEXT, last };
	}

	/** If the message asks for a prompt of an MCP server, adds it as a note, once, before the first step. */
	async #tellPrompt(own: readonly Message[]): Promise<void> {
		const asked = own.findLast(({ role }) => role === "user");
		if (!asked || own.some(({ role }) => role !== "user")) return;
		const content = await this.#with.promptOf(contentText(asked.content), this.#controller.signal);
		if (content !== null) await this.#rows.append([{ role: "meta", kind: "note", content }]);
	}

	async #join(): Promise<void> {
		const inbox = this.#with.joining();
		if (inbox.length === 0) return;
		const { joined, hasNew } = await this.#rows.join(inbox, this.#policy);
		this.#with.joined(joined);
		if (hasNew) this.#arrival = new AbortController();
	}

	#input(without?: ReadonlySet<string>): StepInput {
		const { conversation, session, turn, context } = this.#start;
		const { store, isOwners } = this.#with;
		const history = promptHistory(this.#rows.all, {
			shared: this.#start.conversationInfo.shared,
			...(without && { without }),
		});
		const { forOthers } = store.secrets;
		return {
			conversation,
			session,
			turn,
			system: isOwners ? context : forOthers.hide(context),
			history: isOwners ? history : forOthers.hideIn(history),
			notes: notesFor(this.#start, {
				limit: limitInfo(this.#rows.count + 1, this.#rows.cap),
				trigger: this.#trigger,
				now: this.#with.clock.now(),
				wall: this.#wallNote,
			}),
			tools: this.#with.tools.specs,
			standing: this.#with.rights.standing,
			override: this.#start.conversationInfo.modelOverride,
			signal: this.#controller.signal,
			maxAnswer: maxAnswerOf(this.#with.config),
		};
	}

	showTools(show: ToolProgress): void {
		this.#draft.showTools(show);
	}

	/** A compaction says nothing in the conversation, however it ends. */
	#lastRows(outcome: Outcome): readonly NewMessage[] {
		if (this.#start.purpose === "compaction") return [];
		return lastRows(outcome, { held: this.#report.takeHeld(), partial: this.#draft.partial });
	}

	/** The platform's id of the message that is answered. Only tools of that platform need it. */
	async #findTrigger(): Promise<string | null> {
		const { tools, store } = this.#with;
		const { turn, conversationInfo } = this.#start;
		if (!hasPlatformTools(conversationInfo.platform, tools.names)) return null;
		const { inbox } = await store.turn({ scope: OPERATOR, id: turn });
		return inbox.findLast(({ kind }) => kind === "person")?.platformMessage ?? null;
	}
}

function failureOf(failure: AgentFailure): Outcome {
	return {
		kind: "failed",
		reason: `${failure.kind}: ${failure.detail}`,
		sentence: failureSentence(failure),
	};
}

function loopingOf(tool: string, repeats: number): Outcome {
	return { kind: "failed", reason: `loop: ${tool}`, sentence: loopSentence(tool, repeats) };
}
