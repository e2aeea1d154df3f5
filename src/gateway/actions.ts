// What the API, the page and the CLI do where a chat would write a command: the same operations of the store with the same
// after-effects, by one path with the commands. They work without a gateway that runs too, but for retry, which needs one.
import type { Config } from "../config/index.ts";
import type { Confirmations } from "../confirmations/index.ts";
import type { ConversationId, ModelOverride, SessionId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Processes } from "../processes/index.ts";
import {
	type BusyMode,
	type Changed,
	type Conversation,
	destinationOf,
	type Store,
	type Undone,
} from "../store/index.ts";
import { afterChange, type ChangeArgs, type ChangeName, type ChangeResult, type Memory } from "./changes.ts";
import type { GatewayClock } from "./clock.ts";
import type { Lanes } from "./lanes.ts";
import { planStop } from "./stopping.ts";
import { policyOf, type Surroundings } from "./surroundings.ts";

interface Here {
	readonly conversation: ConversationId;
}

export interface Actions {
	newSession(args: Here & { readonly title?: string }): Promise<Changed>;
	continueSession(args: Here): Promise<Changed & { readonly continued: SessionId }>;
	/** Within what `routing.resume_scope` allows; anything else is not found. */
	switchSession(args: Here & { readonly target: SessionId }): Promise<Changed>;
	branchSession(args: Here & { readonly title?: string }): Promise<Changed>;
	extendSession(
		args: Here & { readonly by: number },
	): Promise<{ readonly session: SessionId; readonly cap: number; readonly messages: number }>;
	undo(args: Here & { readonly turns: number }): Promise<Undone>;
	redo(args: Here): Promise<{ readonly rows: number; readonly stopped: string | null }>;
	/** Answers the turn that has begun; null where there is nothing to answer again. Refused while the gateway does not run. */
	retry(
		args: Here,
	): Promise<{ readonly turn: string | null; readonly hidden: number; readonly stopped: string | null }>;
	/** Answers the turn that sums up; null where there is nothing to sum up. Refused while the gateway does not run. */
	compress(args: Here): Promise<{ readonly turn: string | null; readonly stopped: string | null }>;
	setTitle(args: {
		readonly session: SessionId;
		readonly title: string;
	}): Promise<{ readonly title: string; readonly before: string | null }>;
	setModelOverride(
		args: Here & { readonly override: ModelOverride | null },
	): Promise<{ readonly override: ModelOverride | null; readonly before: ModelOverride | null }>;
	setBusyMode(args: Here & { readonly busy: BusyMode }): Promise<{ readonly before: BusyMode | null }>;
	/** With `all`, also what waits is dropped, and what runs in the background is killed. */
	stop(
		args: Here & { readonly all?: boolean },
	): Promise<{ readonly stopped: string | null; readonly dropped: number; readonly killed: number }>;
}

export interface ActionsOptions {
	readonly store: Store;
	readonly clock: GatewayClock;
	readonly config: Config;
	readonly lanes: Lanes;
	readonly surroundings: Surroundings;
	readonly runTurn: Memory["runTurn"];
	readonly confirmations: Confirmations | null;
	readonly processes: Processes | null;
	/** Whether turns run. */
	readonly isRunning: () => boolean;
	/** What the end of the gateway waits for. */
	readonly track: (work: Promise<void>) => void;
}

type Planning<Name extends ChangeName> = (
	place: Conversation,
) => ChangeArgs<Name> | Promise<ChangeArgs<Name>>;

export function createActions(options: ActionsOptions): Actions {
	const { store, clock, lanes, surroundings, runTurn, isRunning, track } = options;

	const changes: {
		readonly [Name in ChangeName]: (args: ChangeArgs<Name>) => Promise<ChangeResult<Name>>;
	} = store;

	/** Nothing begins in the conversation until the change is made and what is left of it in memory is done. */
	const perform = async <Name extends ChangeName>(
		name: Name,
		conversation: ConversationId,
		plan: Planning<Name>,
	): Promise<ChangeResult<Name>> => {
		const letGo = lanes.hold(conversation);
		try {
			const place = await store.conversation({ scope: { kind: "operator" }, ref: { id: conversation } });
			const args = await plan(place);
			const result = await changes[name](args);
			const toolProgress = options.config.display.tool_progress;
			const resolved: Memory["resolved"] = (outcome) => options.confirmations?.afterResolve(outcome);
			afterChange(name, result, { lanes, place, toolProgress, runTurn, resolved });
			return result;
		} finally {
			letGo();
		}
	};
	const change = <Name extends ChangeName>(
		name: Name,
		conversation: ConversationId,
		plan: Planning<Name>,
	): Promise<ChangeResult<Name>> => {
		const work = perform(name, conversation, plan);
		track(work.then(nothing, nothing));
		return work;
	};
	const opening = (place: Conversation) => ({
		policy: policyOf(surroundings, place),
		context: surroundings.contextOf(place),
	});

	return {
		newSession: ({ conversation, title }) =>
			change("newSession", conversation, (place) => ({
				conversation,
				...opening(place),
				...(title !== undefined && { title }),
			})),
		continueSession: ({ conversation }) =>
			change("continueSession", conversation, (place) => ({ conversation, ...opening(place) })),
		switchSession: ({ conversation, target }) =>
			change("switchSession", conversation, (place) => ({
				conversation,
				target,
				within: options.config.routing.resume_scope,
				...opening(place),
			})),
		branchSession: ({ conversation, title }) =>
			change("branchSession", conversation, (place) => ({
				conversation,
				...opening(place),
				...(title !== undefined && { title }),
			})),
		extendSession: ({ conversation, by }) =>
			change("extendSession", conversation, () => ({ conversation, by })),
		undo: ({ conversation, turns }) => change("undo", conversation, () => ({ conversation, turns })),
		redo: ({ conversation }) => change("redo", conversation, () => ({ conversation })),
		retry: async ({ conversation }) => {
			const retried = await change("retry", conversation, () => {
				if (!isRunning())
					throw new KeryxError("gateway.stopped", "retry needs a Keryx that runs, to answer again");
				return { conversation, deadlineAt: clock.now() + options.config.turn.max_minutes * 60_000 };
			});
			const { stopped } = retried;
			if (retried.kind === "nothing") return { turn: null, hidden: 0, stopped };
			return { turn: retried.turn, hidden: retried.hidden, stopped };
		},
		compress: async ({ conversation }) => {
			const begun = await change("compress", conversation, ({ principal, source }) => {
				if (!isRunning())
					throw new KeryxError("gateway.stopped", "summing up needs a Keryx that runs, to ask the model");
				const deadlineAt = clock.now() + options.config.turn.max_minutes * 60_000;
				return { conversation, principal, destination: destinationOf(source), deadlineAt };
			});
			return { turn: begun.kind === "nothing" ? null : begun.turn, stopped: begun.stopped };
		},
		setTitle: ({ session, title }) => store.setTitle({ session, title, source: "user" }),
		setModelOverride: ({ conversation, override }) =>
			change("setModelOverride", conversation, () => ({ conversation, override })),
		setBusyMode: ({ conversation, busy }) =>
			change("setBusyMode", conversation, () => ({ conversation, busy })),
		stop: async ({ conversation, all = false }) => {
			const plan = () => planStop(conversation, { all }, { store, lanes });
			const { stopped, dropped } = await change("stopTurn", conversation, plan);
			const killed = all ? ((await options.processes?.killAll(conversation)) ?? []) : [];
			return {
				stopped,
				dropped: dropped.length,
				killed: killed.filter(({ result }) => result === "killed").length,
			};
		},
	};
}

function nothing(): void {}
