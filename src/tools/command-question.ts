// Whether a human is asked about a command, and what for.

import type { CommandFacts, DangerReason } from "./classifier/index.ts";
import { classifyCommand, ONCE_ONLY } from "./classifier/index.ts";
import type { ConfirmationQuestion } from "./types.ts";

/** As in the setting approvals.mode. */
export type ApprovalMode = "manual" | "readonly" | "off";

export interface QuestionOptions {
	readonly mode: ApprovalMode;
	/** Why there is no wall around it where there should be one; null: there is, or none is wanted. */
	readonly unwalled?: string | null;
}

/**
 * Null: it may run. In readonly everything that may change something is in question, which refuses it there; where there is no wall,
 * a human is asked about all of it.
 */
export function commandQuestion(
	command: string,
	facts: CommandFacts,
	{ mode, unwalled = null }: QuestionOptions,
): ConfirmationQuestion | null {
	if (mode === "off") return null;
	const verdict = classifyCommand(command, facts);
	if (verdict.kind === "dangerous") {
		const classes = [...new Set(verdict.reasons.map((reason) => reason.class))];
		return {
			action: actionOf(verdict.reasons),
			description: described(verdict.reasons),
			classes,
			once: classes.some((one) => ONCE_ONLY.has(one)),
		};
	}
	if (mode === "readonly" && verdict.kind === "ordinary")
		return { action: "run_command", description: "This command may change something." };
	if (unwalled !== null && verdict.kind === "ordinary")
		return {
			action: "run_command",
			description: `This command may change something, and it runs without a wall: ${unwalled}.`,
		};
	return null;
}

/**
 * A name that no grant covers comes before one that can be granted. Deleting a folder is everyday work in a project, which a human
 * may allow once and for all; one that is dangerous for another reason, too, is not.
 */
function actionOf(reasons: readonly DangerReason[]): string {
	if (reasons.every((reason) => reason.class === "delete")) return "delete_files";
	return reasons.find(({ action }) => action !== "run_command")?.action ?? "run_command";
}

function described(reasons: readonly DangerReason[]): string {
	return reasons.map(({ segment, why }) => `${segment}: ${why}`).join("; ");
}
