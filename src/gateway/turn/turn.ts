// One turn, from its begin to its end. The gateway owns the loop: one model step per call of the agent, then the tools it asked
// for, each finished message appended under the turn's token (I5). The final text is committed with the end of the turn (I7).
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
	textTokens,
} from "../../domain/index.ts";
import { type ErrorCode, KeryxError } from "../../errors.ts";
import {
	isPassing,
	type NewDelivery,
	OPERATOR,
	type Process,
	type Store,
	type ToolProgress,
} from "../../store/index.ts";
import type { ConfirmationQuestion, ToolRegistry } from "../../tools/index.ts";
import { answeringModel } from "../commands/words.ts";
import { Aborted, DeadlinePassed } from "../deadline.ts";
import { TurnCheckpoints } from "../files/turn-checkpoints.ts";
import { DEADLINE, failureSentence, loopSentence, maxAnswerOf, NO_TEXT, STEP_LIMIT } from "../sentences.ts";
import { Pauses, patientStore } from "../until-written.ts";
import { Asking, resultRow } from "./asking.ts";
import { filesOf } from "./attachments/files-out.ts";
import { describeAttachment, isLeftOut, leftOutNotice, leftOutRow } from "./attachments/left-out.ts";
import { AttachmentSearch, holdsNew } from "./attachments/search.ts";
import type { StopReason, TurnDependencies } from "./dependencies.ts";
import { asRow, lastRows, type NoticeAbout, noticesBefore, type Outcome, replyTo, rotation } from "./end.ts";
import { Ending, type EndTurnArgs, FAILED } from "./ending.ts";
import { ModelCalls } from "./model-calls.ts";
import { modelStep, type StepOutcome } from "./model-step.ts";
import { notesFor } from "./notes.ts";
import { Preview } from "./previews.ts";
import { ProgramReport } from "./program-report.ts";
import { PromptCompactor, whyNotSummarising } from "./prompt-compactor.ts";
import { TurnRows } from "./rows.ts";
import { isQuiet, type TurnStart } from "./start.ts";
import { interruptedCall, literalCall, runApproved, runCall, unansweredCalls } from "./tool-calls.ts";
import { ToolsShown } from "./tools-shown.ts";
import { keepTyping } from "./typing.ts";

/** More are not told of: those that run come first. */
const MOST_PROCESSES = 100;

export class Turn {
	readonly #start: TurnStart;
	readonly #with: TurnDependencies;
	/** Without the waiting. */
	readonly #unpatient: Store;
	readonly #controller = new AbortController();
	/** Aborted when somebody writes; another one once that was taken into this turn. */
	#arrival = new AbortController();
	readonly #policy: ResetPolicy;
	/** Aborted when its end is no longer this turn's to write. */
	readonly #abandoned = new AbortController();
	#isEnding = false;
	readonly #rows: TurnRows;
	#trigger: string | null = null;
	/** Text of the message that is being written. */
	#partial = "";
	#said: string[] = [];
	readonly #report: ProgramReport;
	readonly #calls: ModelCalls;
	#preview: Preview | undefined;
	readonly #toolsShown: ToolsShown;
	readonly #asking: Asking;
	readonly #checkpoints: TurnCheckpoints;
	/** What its last step left out, and the next one does not. */
	#unshown: readonly string[] = [];
	/** For a model that can run commands. */
	#wallNote: string | null = null;
	/** Attachments of rows that are committed with the end. */
	readonly #blobs: string[] = [];

	constructor(start: TurnStart, dependencies: TurnDependencies) {
		this.#start = start;
		const patience = {
			clock: dependencies.clock,
			signal: this.#controller.signal,
			log: (error: unknown) => dependencies.log(`turn ${start.turn} is waiting for the store`, error),
		};
		this.#unpatient = dependencies.store;
		const used = { ...dependencies, store: patientStore(dependencies.store, patience) };
		this.#with = used;
		this.#policy = used.policyOf(start.conversationInfo);
		this.#rows = new TurnRows(used.store, start);
		this.#calls = new ModelCalls(used.store, start);
		const { store, confirmations, rights } = used;
		this.#report = new ProgramReport(
			{
				onText: (delta) => this.#onText(delta),
				append: (messages) => this.#rows.append(messages),
				said: ({ content }) => this.#said.push(contentText(content)),
				used: (usage) => this.#calls.record(usage, "ok"),
				messageEnded: () => {
					this.#partial = "";
				},
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
			unpatient: dependencies.store,
		});
		this.#checkpoints = new TurnCheckpoints({
			...used,
			start,
			signal: this.#controller.signal,
			rows: () => this.#rows.all,
		});
		this.#toolsShown = new ToolsShown(
			start.conversationInfo.toolProgress ?? used.config.display.tool_progress,
		);
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

	/** Somebody has written, and waits. */
	messageArrived(): void {
		this.#arrival.abort("a message arrived");
	}

	/** Runs to its written end. Never throws. Lost: somebody else has ended it, or it is left to the next start. */
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
			this.#openPreview();
			await this.#rows.load();
			this.#trigger = await this.#findTrigger();
			const { agent, tools } = this.#with;
			if (agent.kind === "step" && tools.find("terminal")) this.#wallNote = await this.#with.wallNote();
			if (this.#start.purpose === "compaction") return await this.#compress(agent);
			const own = this.#rows.all.filter((row) => row.turn === this.id);
			if (this.#start.resumed && own.some(({ role, toolCalls }) => role === "tool" || toolCalls))
				this.#checkpoints.goOn();
			await this.#runApproved();
			await this.#tellPrompt(own);
			return agent.kind === "step" ? await this.#loop(agent) : await this.#followProgram(agent);
		} catch (error) {
			if (this.#controller.signal.aborted || error instanceof Aborted) return this.#aborted();
			if (isRefusal(error, "turn.stale")) throw error;
			if (error instanceof DeadlinePassed)
				return this.#failure({ kind: "timeout", detail: "no end in time" });
			this.#with.log(`turn ${this.id} failed`, error);
			return FAILED;
		}
	}

	/**
	 * Takes the turn to its written end, however often that has to be tried: a fault of the store passes, and what fails for another
	 * reason would fail again, so the end is then written in its plainest form. Gives up only a turn that is abandoned. Throws turn.stale.
	 */
	async #end(given: Outcome): Promise<"ended" | "lost"> {
		const { clock, log, store } = this.#with;
		this.#isEnding = true;
		// Before it is split: a part of a secret would not be recognised.
		const outcome = store.secrets.hideIn(given);
		const ending = new Ending(outcome, this.#lastRows(outcome));
		const pauses = new Pauses({ clock, signal: this.#abandoned.signal });
		while (!this.#abandoned.signal.aborted) {
			try {
				if (await this.#tryToEnd(ending)) return "ended";
			} catch (error) {
				if (isRefusal(error, "turn.stale")) throw error;
				log(`turn ${this.id} cannot be ended yet`, error);
				if (isRefusal(error, "turn.rotates")) ending.rotates();
				else if (!isPassing(error)) ending.makePlain(this.#start.purpose);
			}
			await pauses.next();
		}
		if (this.#controller.signal.reason === "shutdown") {
			if (!ending.isSettled) await this.#preview?.settle(this.#controller.signal);
			await this.#preview?.leave();
		}
		this.#preview?.abandon();
		// One that is to go on at the next start changes more files then.
		if (this.#controller.signal.reason === "lost") void this.#checkpoints.after();
		return "lost";
	}

	/** What has been done is not done again. False: the turn was abandoned meanwhile. */
	async #tryToEnd(ending: Ending): Promise<boolean> {
		if (!ending.isSettled) await this.#preview?.settle(this.#controller.signal);
		if (this.#abandoned.signal.aborted) return false;
		if (!ending.isSettled) await this.#checkpoints.after();
		ending.isSettled = true;
		ending.args ??= await this.#ending(ending);
		await this.#unpatient.endTurn({ ...ending.args, calls: this.#calls.unwritten() });
		return true;
	}

	#aborted(): Outcome {
		const reason = this.#controller.signal.reason as StopReason;
		return reason === "deadline"
			? { kind: "failed", reason: "deadline", sentence: DEADLINE }
			: { kind: "stopped" };
	}

	async #loop(agent: StepAgent): Promise<Outcome> {
		const { config } = this.#with;
		const compactor = this.#compactor(agent);
		let calls: readonly ToolCall[] = this.#start.resumed ? unansweredCalls(this.#rows.all, this.id) : [];
		for (let step = 1; ; step++) {
			const ended = await this.#runCalls(calls);
			if (ended) return ended;
			if (step > config.agent.max_steps)
				return { kind: "failed", reason: "step_limit", sentence: STEP_LIMIT };
			await this.#join();
			const outcome = await this.#step(agent, compactor);
			if (outcome.kind !== "done") return outcome;
			const { message, literal, rows } = outcome;
			if (message.toolCalls.length === 0) return this.#completed(rows);
			calls = message.toolCalls.filter(({ id }) => !literal.has(id));
			// In one commit with the calls: a crash after it must not leave one that is then made with the name in place of the secret.
			const refused = message.toolCalls.filter(({ id }) => literal.has(id)).map(literalCall);
			const [said, ...leftOut] = rows;
			const results = refused.map((call) => call.message);
			const repeats = await this.#rows.append([said as NewMessage, ...results, ...leftOut], refused);
			if (repeats >= config.loop.max_repeats) return this.#looping(refused.at(-1)?.message.toolName, repeats);
			this.#said.push(contentText(message.content));
			this.#partial = "";
		}
	}

	#looping(tool: string | undefined, repeats: number): Outcome {
		const name = tool ?? "";
		return { kind: "failed", reason: `loop: ${name}`, sentence: loopSentence(name, repeats) };
	}

	/** One step, asked again where the provider refuses what can be made smaller or left out. */
	async #step(
		agent: StepAgent,
		compactor: PromptCompactor,
	): Promise<
		| Outcome
		| (Extract<StepOutcome, { kind: "done" }> & {
				/** The message, then what it had to be made without. */
				readonly rows: readonly NewMessage[];
		  })
	> {
		this.#rows.add(await compactor.compactIfLong(this.#rows.all));
		this.#unshown = [];
		let search = new AttachmentSearch();
		let refusal: AgentFailure | null = null;
		const compact = async () => {
			// Once: what has just been compacted is put off until it has grown.
			const summaries = await compactor.compactAfterRefusal(this.#rows.all);
			this.#rows.add(summaries);
			if (summaries.length > 0) [search, refusal] = [new AttachmentSearch(), null];
			return summaries.length > 0;
		};
		for (;;) {
			const outcome = await this.#ask(agent, search.without);
			if (outcome.kind === "aborted") return this.#aborted();
			if (outcome.kind === "done") {
				compactor.counted(outcome.usage.inputTokens, this.#rows.all.length);
				this.#calls.record(outcome.usage, "ok");
				// Behind the message, which has been shown under its index.
				const leftOut = refusal ? [this.#leaveOut(search, refusal)] : [];
				return { ...outcome, rows: [asRow(outcome.message), ...leftOut] };
			}
			const { failure } = outcome;
			const ended = this.#failure(failure);
			const isTooLarge = failure.kind === "context_too_large";
			if (isTooLarge && !holdsNew(failure, this.#rows.all) && (await compact())) continue;
			if (search.refused(failure)) refusal ??= failure;
			else if (!isTooLarge || !(await compact())) return ended;
		}
	}

	#ask(agent: StepAgent, without: ReadonlySet<string>): Promise<StepOutcome> {
		const { clock, config } = this.#with;
		this.#partial = "";
		return modelStep(agent, this.#input(without), {
			clock,
			limits: {
				firstTokenMs: config.turn.first_token_seconds * 1000,
				totalMs: config.turn.model_seconds * 1000,
			},
			secrets: this.#with.store.secrets,
			onText: (delta) => this.#onText(delta),
		});
	}

	/** What the provider refuses is no part of any prompt from here on; what was left out on the way to finding it comes back. */
	#leaveOut(search: AttachmentSearch, refusal: AgentFailure): NewMessage {
		const culprits = search.culprits();
		this.#unshown = [...search.without]
			.filter((digest) => !culprits.includes(digest))
			.map((digest) => describeAttachment(digest, this.#rows.all));
		return leftOutRow(culprits, refusal, this.#rows.all);
	}

	/** A turn that `/compress` began: it answers no message, and what it says is what became of the rows. */
	async #compress(agent: Agent): Promise<Outcome> {
		const whyNot = whyNotSummarising(agent);
		const text = whyNot ?? (await this.#compactor(agent as StepAgent).compress(this.#rows.all));
		return { kind: "completed", text, last: [] };
	}

	#compactor(agent: StepAgent): PromptCompactor {
		const { store, clock, config, tools, outlet } = this.#with;
		const start = this.#start;
		return new PromptCompactor({
			store,
			outlet,
			agent,
			clock,
			config,
			start,
			calls: this.#calls,
			overheadTokens: () => textTokens(start.context) + textTokens(JSON.stringify(tools.specs)),
			signal: this.#controller.signal,
		});
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
		return {
			kind: "failed",
			reason: `${failure.kind}: ${failure.detail}`,
			sentence: failureSentence(failure),
		};
	}

	#completed(last: readonly NewMessage[]): Outcome {
		const own = contentText(last.findLast(({ kind }) => kind !== "left_out")?.content ?? "").trim();
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
		const { tools, config } = this.#with;
		const { resumed } = this.#start;
		let asked: string | null = null;
		let waits = resumed !== null;
		const asking: NewMessage[] = [];
		for (const call of calls) {
			const cutOff = resumed?.started.has(call.id) ?? false;
			this.#showProgress(call);
			const outcome = cutOff
				? interruptedCall(call)
				: await runCall(call, {
						...this.#callEnvironment(tools),
						ask: (about, question) => this.#asking.about(about, question, this.#rows.nextIndex),
					});
			if (outcome.waiting) {
				this.#rows.took(outcome.waiting);
				waits = true;
				continue;
			}
			if (outcome.endsTurn !== undefined) {
				// Committed with the end of the turn: a crash before it leaves a call that is made again, not a question never put.
				asked = outcome.endsTurn;
				asking.push(outcome.message);
				this.#blobs.push(...(outcome.blobs ?? []));
				continue;
			}
			const repeats = await this.#rows.append([outcome.message], [outcome]);
			if (repeats >= config.loop.max_repeats) return this.#looping(call.name, repeats);
		}
		// From the store, not from memory: a turn that was cut off after asking has its question still to put.
		const questions = waits ? await this.#asking.open() : [];
		if (asked === null && questions.length === 0) return null;
		const before = asked === null ? [] : [asked];
		const content = [...before, ...questions.map(({ text }) => text)].join("\n\n");
		const finishReason = questions.length > 0 ? "confirmation" : "clarify";
		const last = [...asking, { role: "assistant" as const, content, finishReason }];
		if (questions.length === 0) return this.#completed(last);
		const said = this.#said.map((text) => text.trim()).filter(Boolean);
		return { kind: "completed", text: [...said, ...before].join("\n\n"), questions, last };
	}

	/** A message that asks for a prompt of an MCP server gets it as a note behind it, once, before the first step. */
	async #tellPrompt(own: readonly Message[]): Promise<void> {
		const asked = own.findLast(({ role }) => role === "user");
		if (!asked || own.some(({ role }) => role !== "user")) return;
		const content = await this.#with.promptOf(contentText(asked.content), this.#controller.signal);
		if (content !== null) await this.#rows.append([{ role: "meta", kind: "note", content }]);
	}

	/** What this turn was begun for: calls that a human has decided. Each approval is used, committed, then its call runs. */
	async #runApproved(): Promise<void> {
		for (const id of this.#asking.outcomes(this.#rows.all)) {
			const used = await this.#asking.use(id);
			if (!used) continue;
			if (used.kind === "row") {
				await this.#rows.append([used.row]);
				continue;
			}
			this.#showProgress(used.call);
			const { action } = used.confirmation;
			const outcome = await runApproved(used.call, action, this.#callEnvironment(this.#with.tools));
			await this.#rows.append([resultRow(used.confirmation, outcome.message.content)], [outcome]);
		}
	}

	#callEnvironment(tools: ToolRegistry) {
		const { store, clock, config, rights } = this.#with;
		const { token, conversation, session, turn, principal, destination } = this.#start;
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
			signal: this.#controller.signal,
			interrupted: () => this.#arrival.signal,
			beforeFiles: () => this.#checkpoints.before(),
		};
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

	#onText(delta: string): void {
		this.#partial += delta;
		this.#with.deltas.add(this.#start.conversation, this.id, this.#rows.nextIndex, delta);
		this.#preview?.show(this.#partial);
	}

	#openPreview(): void {
		const { channel, clock, config, log, outlet } = this.#with;
		const { platforms } = outlet;
		const { turn, token, destination } = this.#start;
		// It tries again by itself, also after the turn was stopped.
		const store = this.#unpatient;
		if (!channel?.edit || !config.display.streaming) return;
		// A preview stands where it was first shown: what must be said before the reply would come after it.
		if (noticesBefore(this.#start, this.#about).length > 0) return;
		this.#preview = new Preview({
			store,
			channel,
			clock,
			turn: { id: turn, token },
			destination,
			platforms,
			log,
		});
	}

	showTools(show: ToolProgress): void {
		this.#toolsShown.show = show;
	}

	#showProgress(call: ToolCall): void {
		const shown = this.#toolsShown.add(call);
		if (shown !== null) this.#preview?.show([...this.#said, shown].join("\n\n"));
	}

	/** A compaction says nothing in the conversation, however it ends. */
	#lastRows(outcome: Outcome): readonly NewMessage[] {
		if (this.#start.purpose === "compaction") return [];
		return lastRows(outcome, { held: this.#report.takeHeld(), partial: this.#partial });
	}

	/** Everything the end of the turn writes, made once: it may have to be written again after a fault of the store. */
	async #ending({ outcome, rows, mustRotate }: Ending): Promise<EndTurnArgs> {
		const { turn, token, boundary, conversationInfo } = this.#start;
		const messages = this.#rows.indexed(rows);
		const count = this.#rows.count + rows.filter((row) => row.role !== "meta").length;
		const full = mustRotate || (this.#rows.cap > 0 && count >= this.#rows.cap);
		const leftOut = [...this.#rows.all.filter((row) => row.turn === turn), ...rows].filter(isLeftOut);
		const reply = [
			...replyTo(this.#toShow(outcome), this.#start, this.#about),
			...(isQuiet(this.#start) ? [] : this.#besideReply(outcome, leftOut)),
		];
		return {
			turn,
			token,
			outcome:
				outcome.kind === "failed" ? { kind: "failed", reason: outcome.reason } : { kind: outcome.kind },
			messages,
			blobs: this.#blobs,
			deliveries: this.#preview?.holdBack(reply) ?? reply,
			policy: this.#policy,
			noticeTold: outcome.kind === "completed" && boundary !== null && !isQuiet(this.#start),
			...(full && {
				ifRotated: rotation(this.#start, {
					...this.#about,
					cap: this.#rows.cap,
					opening: this.#with.openingOf(conversationInfo),
					processes: await this.#openProcesses(),
					confirmations: await this.#asking.allOpen(),
					checkpoint: await this.#checkpoints.rotation(),
				}),
			}),
		};
	}

	#besideReply(outcome: Outcome, leftOut: readonly NewMessage[]): NewDelivery[] {
		return [
			...(outcome.kind === "completed" ? filesOf(this.#start, this.#rows.all, this.#about.outlet) : []),
			...leftOutNotice(this.#start, leftOut, this.#unshown, this.#with.outlet),
		];
	}

	get #about(): NoticeAbout {
		const { config, outlet } = this.#with;
		return {
			policy: this.#policy,
			outlet,
			model: answeringModel(config.agent, this.#start.conversationInfo.modelOverride),
		};
	}

	#toShow(outcome: Outcome): Outcome {
		const { store, isOwners } = this.#with;
		return isOwners ? outcome : store.secrets.forOthers.hideIn(outcome);
	}

	/** Which message is answered, by the platform's own id: of use only to tools of that platform. */
	async #findTrigger(): Promise<string | null> {
		const { tools, store } = this.#with;
		const { turn, conversationInfo } = this.#start;
		if (!hasPlatformTools(conversationInfo.platform, tools.names)) return null;
		const { inbox } = await store.turn({ scope: OPERATOR, id: turn });
		return inbox.findLast(({ kind }) => kind === "person")?.platformMessage ?? null;
	}

	/** What goes on in the background, whatever becomes of the session. */
	async #openProcesses(): Promise<readonly Pick<Process, "id" | "command">[]> {
		const { conversation } = this.#start;
		const scope = { kind: "conversation", conversation } as const;
		const listed = await this.#unpatient.processes({ scope, limit: MOST_PROCESSES });
		return listed
			.filter(({ background, endedAt }) => background && endedAt === null)
			.map(({ id, command }) => ({ id, command }));
	}
}

function isRefusal(error: unknown, code: ErrorCode): boolean {
	return error instanceof KeryxError && error.code === code;
}
