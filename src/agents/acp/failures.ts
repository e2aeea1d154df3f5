import type { AgentFailure } from "../types.ts";

/** A program that did not do what it was asked, as the failure that the turn ends with. */
export class ProgramFailure extends Error {
	readonly failure: AgentFailure;

	constructor(failure: AgentFailure) {
		super(failure.detail);
		this.failure = failure;
	}
}
