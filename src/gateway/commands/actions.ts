// What the API, the page and the CLI do instead of chat commands: the same store operations with the same after-effects, through the same
// code. They also work while the gateway is not running, except retry.

import type { Agent } from "../../agents/index.ts";
import type { RestoreReport, TakeOutcome } from "../../checkpoints/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import type { ConversationId, ModelOverride, SessionId, Speaker, Standing } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Processes } from "../../processes/index.ts";
import {
	type BranchPoint,
	type BusyMode,
	type Changed,
	type Conversation,
	type ConversationState,
	destinationOf,
	OPERATOR,
	type Store,
	type Undone,
} from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import { type ConversationFiles, withFiles } from "../files/conversation-files.ts";
import { planRewind, restoreFiles } from "../files/rewind.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { planStop } from "../lanes/stopping.ts";
import { policyOf, type SessionSettings } from "../session-settings.ts";
import { texts } from "../texts.ts";
import { afterChange, type ChangeArgs, type ChangeName, type ChangeResult, type Memory } from "./changes.ts";

interface Here {
	readonly conversation: ConversationId;
}

export interface Actions {
	newSession(args: Here & { readonly title?: string }): Promise<Changed>;
	continueSession(args: Here): Promise<Changed & { readonly continued: SessionId }>;
	/** Within what `routing.resume_scope` allows; anything else is not found. */
	switchSession(args: Here & { readonly target: SessionId }): Promise<Changed>;
	/** With `from`, branches from an earlier point of the conversation. */
	branchSession(
		args: Here & { readonly title?: string; readonly from?: BranchPoint | undefined },
	): Promise<Changed>;
	extendSession(
		args: Here & { readonly by: number },
	): Promise<{ readonly session: SessionId; readonly cap: number; readonly messages: number }>;
	/**
	 * With `files`, the files are also restored to before these turns; refused (checkpoint.missing) if there is no checkpoint. With
	 * `from`, a message id, its turn and all later ones are undone.
	 */
	undo(
		args: Here & { readonly turns: number; readonly files?: boolean; readonly from?: number | undefined },
	): Promise<Undone & { readonly restored: RestoreReport | null }>;
	redo(args: Here): Promise<Pick<Undone, "rows" | "messages" | "stopped">>;
	/**
	 * Returns the new turn; null if there is nothing to answer again. Refused while the gateway is not running. The turn also speaks for
	 * `by`; null: the operator (I18).
	 */
	retry(
		args: Here & { readonly by: Speaker | null },
	): Promise<{ readonly turn: string | null; readonly hidden: number; readonly stopped: string | null }>;
	/** Returns the turn that summarises; null if there is nothing to summarise. Refused and speaks as `retry`. */
	compress(
		args: Here & { readonly by: Speaker | null },
	): Promise<{ readonly turn: string | null; readonly stopped: string | null }>;
	/** A checkpoint of the conversation's workspace. If it fails, the result says why. */
	takeCheckpoint(args: Here & { readonly label?: string }): Promise<TakeOutcome>;
	/** Refused (checkpoint.busy) while the agent is working on an answer. */
	restoreCheckpoint(
		args: Here & { readonly id: string; readonly file?: string; readonly force?: boolean },
	): Promise<RestoreReport>;
	setTitle(args: {
		readonly session: SessionId;
		readonly title: string;
	}): Promise<{ readonly title: string; readonly before: string | null }>;
	/** Null removes the title. */
	renameConversation(
		args: Here & { readonly title: string | null },
	): Promise<{ readonly title: string | null; readonly before: string | null }>;
	pinConversation(args: Here & { readonly pinned: boolean }): Promise<{ readonly pinned: boolean }>;
	/** Deleting also stops the running answer, drops waiting messages and kills background programs. */
	setConversationState(
		args: Here & { readonly state: ConversationState },
	): Promise<{ readonly before: ConversationState }>;
	setModelOverride(
		args: Here & { readonly override: ModelOverride | null },
	): Promise<{ readonly override: ModelOverride | null; readonly before: ModelOverride | null }>;
	setBusyMode(args: Here & { readonly busy: BusyMode }): Promise<{ readonly before: BusyMode | null }>;
	/** With `all`, also drops waiting messages and kills background programs. With `turn`, stops only that turn. */
	stop(
		args: Here & {
			readonly all?: boolean;
			readonly turn?: string;
			/** The caller's role: programs of a higher role keep running. Default: the operator. */
			readonly standing?: Standing;
		},
	): Promise<{ readonly stopped: string | null; readonly dropped: number; readonly killed: number }>;
}

export interface ActionsOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: () => Config;
	readonly lanes: Lanes;
	readonly sessionSettings: SessionSettings;
	readonly runTurn: Memory["runTurn"];
	readonly confirmations: Confirmations | null;
	readonly processes: Processes | null;
	readonly files: ConversationFiles | null;
	readonly tools: ToolRegistry;
	readonly agentOf: (conversation: Conversation) => Agent;
	/** Whether turns run. */
	readonly isRunning: () => boolean;
	/** Work that the shutdown of the gateway waits for. */
	readonly track: (work: Promise<void>) => void;
}

type Planning<Name extends ChangeName> = (
	conversation: Conversation,
) => ChangeArgs<Name> | Promise<ChangeArgs<Name>>;

export function createActions(options: ActionsOptions): Actions {
	const { store, clock, lanes, sessionSettings, runTurn, isRunning, track } = options;

	const changes: {
		readonly [Name in ChangeName]: (args: ChangeArgs<Name>) => Promise<ChangeResult<Name>>;
	} = store;

	/** No turn starts in the conversation until this is done. */
	const holding = <Result>(
		conversation: ConversationId,
		work: (conversation: Conversation) => Promise<Result>,
	): Promise<Result> => {
		const letGo = lanes.hold(conversation);
		const done = store
			.conversation({ scope: OPERATOR, ref: { id: conversation } })
			.then(work)
			.finally(letGo);
		track(done.then(nothing, nothing));
		return done;
	};
	/** The change, and what remains to be done in memory. */
	const perform = async <Name extends ChangeName>(
		name: Name,
		conversation: Conversation,
		plan: Planning<Name>,
	): Promise<ChangeResult<Name>> => {
		const args = await plan(conversation);
		const result = await changes[name](args);
		const toolProgress = options.config().display.tool_progress;
		const resolved: Memory["resolved"] = (outcome) => options.confirmations?.afterResolve(outcome);
		const { sessionSettings } = options;
		// Jobs have their own calls.
		const scheduled = nothing;
		afterChange(name, result, {
			lanes,
			conversation,
			sessionSettings,
			toolProgress,
			runTurn,
			resolved,
			scheduled,
		});
		return result;
	};
	const change = <Name extends ChangeName>(
		name: Name,
		conversation: ConversationId,
		plan: Planning<Name>,
	): Promise<ChangeResult<Name>> => holding(conversation, (held) => perform(name, held, plan));
	const undo: Actions["undo"] = ({ conversation, turns, files: withThem = false, from }) =>
		holding(conversation, async (held) => {
			if (withThem && from !== undefined)
				throw new KeryxError("argument.invalid", texts.errors.filesByTurns, {
					field: "from",
				});
			const files = withThem ? withFiles(options.files) : null;
			const agent = options.agentOf(held);
			const { tools } = options;
			const request =
				files && (await planRewind(held, turns, { store, files, lanes, tools, agent, now: clock.now() }));
			if (files && request) {
				const restored = await restoreFiles(held, request, { files, lanes });
				return { ...(restored.undone ?? NOTHING_UNDONE), restored };
			}
			return {
				...(await perform("undo", held, () => ({
					conversation,
					turns,
					...(from !== undefined && { from }),
				}))),
				restored: null,
			};
		});
	const stop: Actions["stop"] = async ({ conversation, all = false, turn, standing }) => {
		const plan = () => planStop(conversation, { all, only: turn }, { store, lanes });
		const { stopped, dropped } = await change("stopTurn", conversation, plan);
		const actor =
			standing === undefined ? OPERATOR : ({ kind: "conversation", conversation, standing } as const);
		const killed = all ? ((await options.processes?.killAll(actor, conversation)) ?? []) : [];
		return {
			stopped,
			dropped: dropped.length,
			killed: killed.filter(({ result }) => result === "killed").length,
		};
	};
	const opening = (conversation: Conversation) => ({
		policy: policyOf(sessionSettings, conversation),
		context: sessionSettings.openingOf(conversation).context,
	});

	return {
		newSession: ({ conversation, title }) =>
			change("newSession", conversation, (held) => ({
				conversation,
				...opening(held),
				...(title !== undefined && { title }),
			})),
		continueSession: ({ conversation }) =>
			change("continueSession", conversation, (held) => ({ conversation, ...opening(held) })),
		switchSession: ({ conversation, target }) =>
			change("switchSession", conversation, (held) => ({
				conversation,
				target,
				within: options.config().routing.resume_scope,
				...opening(held),
			})),
		branchSession: ({ conversation, title, from }) =>
			change("branchSession", conversation, (held) => ({
				conversation,
				...opening(held),
				...(title !== undefined && { title }),
				...(from && { from }),
			})),
		extendSession: ({ conversation, by }) =>
			change("extendSession", conversation, () => ({ conversation, by })),
		undo,
		takeCheckpoint: ({ conversation, label = "by hand" }) =>
			holding(conversation, (held) => withFiles(options.files).take(held, { label, mayBeFirst: true })),
		restoreCheckpoint: ({ conversation, ...request }) =>
			holding(conversation, (held) =>
				restoreFiles(held, request, { files: withFiles(options.files), lanes }),
			),
		redo: ({ conversation }) => change("redo", conversation, () => ({ conversation })),
		retry: async ({ conversation, by }) => {
			const retried = await change("retry", conversation, () => {
				if (!isRunning()) throw new KeryxError("gateway.stopped", texts.errors.retryNeedsRunning);
				const deadlineAt = clock.now() + options.config().turn.max_minutes * 60_000;
				return { conversation, deadlineAt, ...(by && { by }) };
			});
			const { stopped } = retried;
			if (retried.kind === "nothing") return { turn: null, hidden: 0, stopped };
			return { turn: retried.turn, hidden: retried.hidden, stopped };
		},
		compress: async ({ conversation, by }) => {
			const begun = await change("compress", conversation, ({ source }) => {
				if (!isRunning()) throw new KeryxError("gateway.stopped", texts.errors.compressNeedsRunning);
				const deadlineAt = clock.now() + options.config().turn.max_minutes * 60_000;
				return { conversation, destination: destinationOf(source), deadlineAt, ...(by && { by }) };
			});
			return { turn: begun.kind === "nothing" ? null : begun.turn, stopped: begun.stopped };
		},
		setTitle: ({ session, title }) => store.setTitle({ session, title, source: "user" }),
		renameConversation: (args) => store.renameConversation(args),
		pinConversation: (args) => store.pinConversation(args),
		setConversationState: async ({ conversation, state }) => {
			if (state === "deleted") await stop({ conversation, all: true });
			return change("setConversationState", conversation, () => ({ conversation, state }));
		},
		setModelOverride: ({ conversation, override }) =>
			change("setModelOverride", conversation, () => ({ conversation, override })),
		setBusyMode: ({ conversation, busy }) =>
			change("setBusyMode", conversation, () => ({ conversation, busy })),
		stop,
	};
}

/** The conversation has continued since. Happens only after an interrupted restore, which is finished at start. */
const NOTHING_UNDONE: Undone = { rows: 0, messages: 0, turns: 0, text: null, stopped: null, cancelled: 0 };

function nothing(): void {}
