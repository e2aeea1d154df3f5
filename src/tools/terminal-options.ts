// What the terminal needs of its surroundings.
import type { ConversationId, Standing } from "../domain/index.ts";
import type { Processes } from "../processes/index.ts";
import type { CommandWall } from "../walls/index.ts";
import type { CommandFacts } from "./classifier/index.ts";
import type { ApprovalMode } from "./command-question.ts";

export interface TerminalLimits {
	/** A command that is waited for is ended after this. */
	readonly foregroundSeconds: number;
	/** The process tool waits at most so long at a time. */
	readonly waitSeconds: number;
}

export interface TerminalOptions {
	readonly processes: Processes;
	/** Where a conversation's commands start. May throw workspace.unusable. */
	workspaceOf(owner: { readonly conversation: ConversationId; readonly profile: string }): string;
	/** Where a command of this turn runs; wider: behind the next wider wall. May throw wall.path and workspace.unusable. */
	wallOf(
		turn: { readonly conversation: ConversationId; readonly profile: string; readonly standing: Standing },
		options?: { readonly wider: boolean },
	): Promise<CommandWall>;
	/** Whether checkpoints know the files of this turn; left out: yes. On another machine they do not. */
	isCovered?(turn: { readonly profile: string }): boolean;
	/** The value of a secret that commands of that standing may name; undefined: there is none. */
	secret?(name: string, standing: Standing): string | undefined;
	readonly facts: Omit<CommandFacts, "cwd">;
	mode(): ApprovalMode;
	limits(): TerminalLimits;
	now(): number;
}
