// The wall of a call, and what its absence means for approval.
import type { CommandWall, WallKind } from "../walls/index.ts";
import type { TerminalOptions } from "./terminal-options.ts";
import type { ConfirmationQuestion, ToolCaller } from "./types.ts";

/** Only the owner may approve, whoever's turn it is. */
export const WIDEN_WALL = "widen_wall";

export function turnOf({
	conversation,
	scope,
	standing,
}: ToolCaller): Parameters<TerminalOptions["wallOf"]>[0] {
	return { conversation, profile: scope.kind === "principal" ? (scope.profile ?? "") : "", standing };
}

/** Why a wall is missing: then everything that is not clearly read-only needs approval. */
export function unwalledReason(wall: CommandWall): string | null {
	return wall.run === "open" && wall.asks ? wall.reason : null;
}

/** This machine never replaces an unreachable one. */
export function elsewhereHint(wall: CommandWall): { readonly note?: string } {
	if (wall.run !== "elsewhere") return {};
	return {
		note: `Commands run ${wall.where}, and nothing was run anywhere else. The operator can check it with: ${wall.check}`,
	};
}

/** Asking for a wider wall is a separate question about this one command, in addition to any other. */
export function widerQuestion({
	usual,
	wall,
	reason,
	question,
}: {
	readonly usual: CommandWall;
	readonly wall: CommandWall;
	readonly reason: string;
	readonly question: ConfirmationQuestion | null;
}): ConfirmationQuestion | null {
	if (usual.run !== "walled" || wall.run !== "walled" || !isWider(kindOf(wall), kindOf(usual)))
		return question;
	const also = question === null ? "" : `; also: ${question.description}`;
	return {
		action: WIDEN_WALL,
		description: `It needs the wider wall ${kindOf(wall)}, this once, because: ${reason}${also}`,
		once: true,
		...(question?.classes && { classes: question.classes }),
	};
}

/** A program keeps its wall. A wider one was approved for the starting command, not for later input. */
export function widerInputQuestion({
	usual,
	running,
	question,
}: {
	readonly usual: CommandWall;
	/** The program's wall; null: none. */
	readonly running: string | null;
	readonly question: ConfirmationQuestion | null;
}): ConfirmationQuestion | null {
	if (!isBehindWider({ usual, running })) return question;
	const also = question === null ? "" : `; also: ${question.description}`;
	return {
		action: WIDEN_WALL,
		description: `The program that gets this input runs ${running === null ? "without a wall" : `behind the wider wall ${running}`}, which was allowed for its start alone${also}`,
		once: true,
		...(question?.classes && { classes: question.classes }),
	};
}

/** Its input needs the owner, each time. */
export function isBehindWider({
	usual,
	running,
}: {
	readonly usual: CommandWall;
	readonly running: string | null;
}): boolean {
	// Where a command would not run at all, no program runs behind as narrow a wall.
	return (
		usual.run === "refused" ||
		(usual.run === "walled" && (running === null || isWider(running, kindOf(usual))))
	);
}

/** From the narrowest. */
const BY_WIDTH: readonly string[] = ["box", "view", "mask"] satisfies WallKind[];

function isWider(kind: string, than: WallKind): boolean {
	return BY_WIDTH.indexOf(kind) > BY_WIDTH.indexOf(than);
}

function kindOf({ request }: Extract<CommandWall, { run: "walled" }>): WallKind {
	return request.wall.kind;
}
