// Restores files, alone or together with the chat. The caller must hold the conversation's lane, so that no turn starts meanwhile; a
// running turn is stopped first, or the restore is refused.

import type { Agent } from "../../agents/index.ts";
import type { RestoreReport } from "../../checkpoints/index.ts";
import type { Message } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type Conversation,
	OPERATOR,
	type RestoreTogether,
	type Store,
	type UndoTarget,
} from "../../store/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { STOP_MS } from "../lanes/stopping.ts";
import { texts } from "../texts.ts";
import type { ConversationFiles } from "./conversation-files.ts";

export interface RestoreRequest {
	/** The checkpoint's id, or enough of its start. */
	readonly id: string;
	readonly file?: string;
	readonly force?: boolean;
	readonly undo?: NonNullable<RestoreTogether["undo"]>;
}

export async function restoreFiles(
	conversation: Conversation,
	{ id, undo, ...options }: RestoreRequest,
	parts: {
		readonly files: ConversationFiles;
		readonly lanes: Lanes;
		readonly command?: NonNullable<RestoreTogether["command"]>;
	},
): Promise<RestoreReport> {
	const { files, lanes, command } = parts;
	if (await lanes.isBusyAnywhere(conversation.id)) throw stillRunning();
	return files.restore(conversation, id, {
		...options,
		together: { ...(undo && { undo }), ...(command && { command }) },
	});
}

export interface RewindParts {
	readonly store: Store;
	readonly files: ConversationFiles;
	readonly lanes: Lanes;
	readonly tools: ToolRegistry;
	readonly agent: Agent;
	readonly now: number;
}

/**
 * Plans restoring the files, and the chat, to before the nth last turn. Null: these turns changed no files. Throws checkpoint.missing if
 * they may have and there is no checkpoint.
 */
export async function planRewind(
	conversation: Conversation,
	turns: number,
	parts: RewindParts,
): Promise<RestoreRequest | null> {
	const { store, files, lanes } = parts;
	const { id } = conversation;
	await lanes.stopElsewhere(id);
	await lanes.stopAndWait(id, STOP_MS);
	if (await lanes.isBusyAnywhere(id)) throw stillRunning();
	const target = await store.undoTarget({ scope: OPERATOR, conversation: id, turns });
	if (!target) return null;
	const listed = await files.list(conversation);
	const windows = (await files.windows(listed)).filter(({ owner }) => target.worked.includes(owner));
	const [first] = windows;
	const changing = await firstThatChanged(conversation, target, parts);
	if (!first && changing === undefined) return null;
	const at = (turn: string) => target.worked.indexOf(turn);
	const covers = first && (changing === undefined || at(first.owner) <= at(changing));
	const checkpoint = covers ? listed.find(({ n }) => n === first.from) : undefined;
	if (!checkpoint) throw missing(turns);
	return { id: checkpoint.id, undo: { conversation: id, turns, row: target.row } };
}

/** The oldest of the turns that may have changed files, judged by their calls. */
async function firstThatChanged(
	conversation: Conversation,
	target: UndoTarget,
	parts: RewindParts,
): Promise<string | undefined> {
	const { store } = parts;
	// Read again: the end of a turn may have opened another session.
	const { liveSession: session } = await store.conversation({
		scope: OPERATOR,
		ref: { id: conversation.id },
	});
	const rows = session === null ? [] : await store.transcript({ scope: OPERATOR, session });
	for (const turn of target.worked)
		if (await mayHaveChanged(conversation, turn, { target, rows, ...parts })) return turn;
	return undefined;
}

async function mayHaveChanged(
	conversation: Conversation,
	turn: string,
	{
		target,
		rows,
		store,
		tools,
		agent,
		now,
	}: RewindParts & { readonly target: UndoTarget; readonly rows: readonly Message[] },
): Promise<boolean> {
	const calls = rows.filter((row) => row.turn === turn).flatMap(({ toolCalls = [] }) => toolCalls);
	// The names of an agent program's own tools say nothing about files.
	if (agent.kind === "loop") return calls.length > 0;
	const started = target.started.filter((call) => call.turn === turn);
	const changes = (name: string, input: unknown): boolean => {
		const prepared = tools.find(name)?.prepare(input);
		if (!prepared || "problem" in prepared) return false;
		const { id, profile } = conversation;
		return prepared.changesFiles({
			conversation: id,
			scope: { kind: "principal", principal: "", profile, conversation: id },
			standing: "none",
			speaker: null,
		});
	};
	for (const { call, tool } of started) {
		const [, id] = /^confirmation:(.*)$/.exec(call) ?? [];
		if (id === undefined) continue;
		const { details } = await store.confirmation({ scope: OPERATOR, id, now });
		if (changes(tool, details)) return true;
	}
	return calls
		.filter(({ id, name }) => tools.find(name)?.repeatable || started.some(({ call }) => call === id))
		.some(({ name, input }) => changes(name, input));
}

function stillRunning(): KeryxError {
	return new KeryxError("checkpoint.busy", texts.undo.busy, {
		hint: texts.undo.busyHint,
	});
}

function missing(turns: number): KeryxError {
	const what = turns === 1 ? texts.undo.thatTurn : texts.undo.theseTurns;
	return new KeryxError("checkpoint.missing", texts.undo.noCheckpoint(what));
}
