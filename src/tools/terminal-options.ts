// The terminal's dependencies.
import type { ConversationId, Standing } from "../domain/index.ts";
import type { Processes } from "../processes/index.ts";
import type { CommandWall } from "../walls/index.ts";
import type { CommandFacts } from "./classifier/index.ts";
import type { ApprovalMode } from "./command-question.ts";

export interface TerminalLimits {
	/** A foreground command is killed after this. */
	readonly foregroundSeconds: number;
	/** The longest single wait of the process tool. */
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
	/** Whether checkpoints cover this turn's files; default: yes. Not on another machine. */
	isCovered?(turn: { readonly profile: string }): boolean;
	/** The value of a secret that commands of that standing may use; undefined: none. */
	secret?(name: string, standing: Standing): string | undefined;
	readonly facts: Omit<CommandFacts, "cwd">;
	mode(): ApprovalMode;
	limits(): TerminalLimits;
	now(): number;
}
