// Whose wall a call runs behind, and what its absence means for a question.
import type { CommandWall } from "../walls/index.ts";
import type { TerminalOptions } from "./terminal-options.ts";
import type { CallPlace } from "./types.ts";

export function turnOf({
	conversation,
	scope,
	standing,
}: CallPlace): Parameters<TerminalOptions["wallOf"]>[0] {
	return { conversation, profile: scope.kind === "principal" ? scope.profile : "", standing };
}

/** Why there is no wall where there should be one: then a human is asked about everything that is not plainly read-only. */
export function unwalledReason(wall: CommandWall): string | null {
	return wall.run === "open" && wall.asks ? wall.reason : null;
}
