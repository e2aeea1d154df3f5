// The end of a turn on its way to the store: what it writes, and how far that has come. It is tried again after a fault, and made
// plainer where something in it is at fault.
import type { NewMessage } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { UNEXPECTED } from "../sentences.ts";
import { lastRows, type Outcome } from "./end.ts";
import type { TurnStart } from "./start.ts";

export type EndTurnArgs = Parameters<Store["endTurn"]>[0];

export const FAILED: Outcome = { kind: "failed", reason: "internal", sentence: UNEXPECTED };

/** What a turn ends with, and how far that has come. */
export class Ending {
	outcome: Outcome;
	rows: readonly NewMessage[];
	mustRotate = false;
	/** Nothing of it is on its way any more, and its files are saved. */
	isSettled = false;
	/** Null: not made yet. */
	args: EndTurnArgs | null = null;

	constructor(outcome: Outcome, rows: readonly NewMessage[]) {
		this.outcome = outcome;
		this.rows = rows;
	}

	rotates(): void {
		this.mustRotate = true;
		this.args = null;
	}

	/** Nothing that could be at fault: neither what was written nor what was to be said. */
	makePlain(purpose: TurnStart["purpose"]): void {
		this.outcome = FAILED;
		this.rows = purpose === "compaction" ? [] : lastRows(FAILED, { held: [], partial: "" });
		this.isSettled = true;
		this.args = null;
	}
}
