// What a command or an action changes: one operation of the store, then what is left to do in memory. The second half is kept here by
// the change's name, so that the two ways to the same change cannot differ.
import type { Conversation, Store, Woken } from "../../store/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { SessionSettings } from "../session-settings.ts";

/** One change with its arguments, as data: a command's is committed together with the end of its message. */
export type Change = NonNullable<Parameters<Store["performCommand"]>[0]["change"]>;
export type ChangeName = Change["name"];
export type ChangeArgs<Name extends ChangeName> = Extract<Change, { name: Name }>["args"];
export type ChangeResult<Name extends ChangeName> = Awaited<ReturnType<Store[Name]>>;

/** A turn that a command began in the store. */
export type CommandTurn = Extract<ChangeResult<"retry"> | ChangeResult<"compress">, { kind: "begun" }>;

export interface Memory {
	readonly lanes: Lanes;
	/** The conversation as it was before the change. */
	readonly conversation: Conversation;
	readonly sessionSettings: Pick<SessionSettings, "takeHomes">;
	/** As configured, where the conversation has no choice of its own. */
	readonly toolProgress: NonNullable<Conversation["toolProgress"]>;
	runTurn(conversation: Conversation, turn: CommandTurn): void;
	/** A confirmation was resolved, or turned out to be over. */
	resolved(result: ChangeResult<"resolveConfirmation">): void;
	/** A job was made or changed; one that is to run now waits in its conversation. */
	scheduled(woken: Woken | null): void;
}

export function afterChange<Name extends ChangeName>(
	name: Name,
	result: ChangeResult<Name>,
	memory: Memory,
): void {
	AFTER[name](result, memory);
}

const AFTER: { readonly [Name in ChangeName]: (result: ChangeResult<Name>, memory: Memory) => void } = {
	newSession: loseStopped,
	continueSession: loseStopped,
	switchSession: loseStopped,
	branchSession: loseStopped,
	setConversationState: loseStopped,
	undo: loseStopped,
	redo: loseStopped,
	retry: runBegun,
	compress: runBegun,
	stopTurn: (result, memory) => {
		loseStopped(result, memory);
		memory.lanes.remove(memory.conversation.id, result.dropped);
	},
	setToolProgress: ({ show }, { lanes, conversation, toolProgress }) =>
		lanes.showTools(conversation.id, show ?? toolProgress),
	setHome: ({ homes }, { sessionSettings }) => sessionSettings.takeHomes(homes),
	resolveConfirmation: (result, memory) => memory.resolved(result),
	manageJob: ({ woken }, memory) => memory.scheduled(woken),
	// What these change is read from the store wherever it matters.
	decidePairing: nothing,
	extendSession: nothing,
	setTitle: nothing,
	setModelOverride: nothing,
	setBusyMode: nothing,
};

function runBegun(result: ChangeResult<"retry"> | ChangeResult<"compress">, memory: Memory): void {
	loseStopped(result, memory);
	if (result.kind === "begun") memory.runTurn(memory.conversation, result);
}

/** The turn that the change ended in the store runs on here until it is told. */
function loseStopped(
	{ stopped }: { readonly stopped: string | null },
	{ lanes, conversation }: Memory,
): void {
	if (stopped !== null) lanes.lose(conversation.id, stopped);
}

function nothing(): void {}
