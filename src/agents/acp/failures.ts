// How an ACP program's failure travels: an error that carries the turn's failure.
import type { AgentFailure } from "../types.ts";

/** A program's failure as the turn's failure. */
export class ProgramFailure extends Error {
	readonly failure: AgentFailure;

	constructor(failure: AgentFailure) {
		super(failure.detail);
		this.failure = failure;
	}
}
