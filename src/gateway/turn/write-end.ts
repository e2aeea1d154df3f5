// Writes the end of a turn, and does not give up: a fault of the store passes. Any other failure would come again, so the end is then
// written in its plainest form.

import { type ErrorCode, KeryxError } from "../../errors.ts";
import { isPassing } from "../../store/index.ts";
import { Pauses } from "../../time/index.ts";
import { type Ending, type EndingTurn, endTurnArgs } from "./ending.ts";
import type { ModelCalls } from "./model-calls.ts";

export interface WritingTurn extends EndingTurn {
	readonly calls: ModelCalls;
	/** Its reason says why the turn was stopped. */
	readonly stopped: AbortSignal;
	/** Aborted when the turn must not write its end any more. */
	readonly abandoned: AbortSignal;
}

/** Gives up only a turn that is abandoned. Throws turn.stale. */
export async function writeEnd(ending: Ending, turn: WritingTurn): Promise<"ended" | "lost"> {
	const { start, preview, checkpoints, stopped, abandoned } = turn;
	const { clock, log } = turn.with;
	const pauses = new Pauses({ clock, signal: abandoned });
	while (!abandoned.aborted) {
		try {
			if (await tryToEnd(ending, turn)) return "ended";
		} catch (error) {
			if (isRefusal(error, "turn.stale")) throw error;
			log(`turn ${start.turn} cannot be ended yet`, error);
			if (isRefusal(error, "turn.rotates")) ending.rotates();
			else if (!isPassing(error)) ending.makePlain(start.purpose);
		}
		await pauses.next();
	}
	if (stopped.reason === "shutdown") {
		if (!ending.isSettled) await preview?.settle(stopped);
		await preview?.leave();
	}
	preview?.abandon();
	// Only for a lost turn: a turn resumed at the next start will change more files.
	if (stopped.reason === "lost") void checkpoints.after();
	return "lost";
}

/** Skips steps that are done. False: the turn was abandoned meanwhile. */
async function tryToEnd(ending: Ending, turn: WritingTurn): Promise<boolean> {
	const { store, calls, preview, checkpoints, stopped, abandoned } = turn;
	if (!ending.isSettled) await preview?.settle(stopped);
	if (abandoned.aborted) return false;
	if (!ending.isSettled) await checkpoints.after();
	ending.isSettled = true;
	ending.args ??= await endTurnArgs(ending, turn);
	await store.endTurn({ ...ending.args, calls: calls.unwritten() });
	return true;
}

export function isRefusal(error: unknown, code: ErrorCode): boolean {
	return error instanceof KeryxError && error.code === code;
}
