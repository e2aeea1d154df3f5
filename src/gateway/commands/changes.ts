// The changes of commands and actions: one store operation, then its after-effects in memory. The after-effects are kept here by the
// change's name, so that both ways to the same change have the same effect.
import type { Conversation, Store, Woken } from "../../store/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { SessionSettings } from "../session-settings.ts";

/** One change with its arguments, as data. A command's change is committed together with the end of its message. */
export type Change = NonNullable<Parameters<Store["performCommand"]>[0]["change"]>;
export type ChangeName = Change["name"];
export type ChangeArgs<Name extends ChangeName> = Extract<Change, { name: Name }>["args"];
export type ChangeResult<Name extends ChangeName> = Awaited<ReturnType<Store[Name]>>;

/** A turn that a command started in the store. */
export type CommandTurn = Extract<ChangeResult<"retry"> | ChangeResult<"compress">, { kind: "begun" }>;

export interface Memory {
	readonly lanes: Lanes;
	/** The conversation as it was before the change. */
	readonly conversation: Conversation;
	readonly sessionSettings: Pick<SessionSettings, "takeHomes">;
	/** The configured model, if the conversation has not chosen one. */
	readonly toolProgress: NonNullable<Conversation["toolProgress"]>;
	runTurn(conversation: Conversation, turn: CommandTurn): void;
	/** A confirmation was resolved, or had already expired. */
	resolved(result: ChangeResult<"resolveConfirmation">): void;
	/** A job was created or changed; one that should run now waits in its conversation. */
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
	// These changes are read from the store wherever they matter.
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

/** The change ended the turn in the store; here it runs until it is stopped. */
function loseStopped(
	{ stopped }: { readonly stopped: string | null },
	{ lanes, conversation }: Memory,
): void {
	if (stopped !== null) lanes.lose(conversation.id, stopped);
}

function nothing(): void {}
