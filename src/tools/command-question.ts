// Whether a human is asked about a command, and what for.

import { terminalText } from "../domain/index.ts";
import type { CommandFacts, DangerReason } from "./classifier/index.ts";
import { classifyCommand, ONCE_ONLY } from "./classifier/index.ts";
import type { ConfirmationQuestion } from "./types.ts";

/** As in the setting approvals.mode. */
export type ApprovalMode = "manual" | "readonly" | "off";

export interface QuestionOptions {
	readonly mode: ApprovalMode;
	/** Why there is no wall around it where there should be one; null: there is, or none is wanted. */
	readonly unwalled?: string | null;
	/** What is asked about where it is not a command line, as "This call". The command only stands for it, and is not shown. */
	readonly subject?: string;
}

/**
 * Null: it may run. In readonly everything that may change something is in question, which refuses it there; where there is no wall,
 * a human is asked about all of it.
 */
export function commandQuestion(
	command: string,
	facts: CommandFacts,
	{ mode, unwalled = null, subject }: QuestionOptions,
): ConfirmationQuestion | null {
	if (mode === "off") return null;
	const verdict = classifyCommand(command, facts);
	if (verdict.kind === "dangerous") return questionOf(verdict.reasons, subject);
	const changes = `${subject ?? "This command"} may change something`;
	if (mode === "readonly" && verdict.kind === "ordinary")
		return { action: "run_command", description: `${changes}.` };
	if (unwalled !== null && verdict.kind === "ordinary")
		return {
			action: "run_command",
			description: `${changes}, and it runs without a wall: ${unwalled}.`,
		};
	return null;
}

/**
 * The same for what is typed into a program that runs: a shell, an interpreter or a database makes commands of it, and what they are is
 * judged with the program that reads them. What any other program makes of its input nobody can say. A piece of a line can become
 * anything with the next one.
 */
export function inputQuestion(
	command: string,
	input: string,
	facts: CommandFacts,
	options: QuestionOptions,
): ConfirmationQuestion | null {
	if (options.mode === "off") return null;
	const typed = terminalText(input.replaceAll("\r", "\n"));
	if (typed.trim() === "") return null;
	if (SHOWS_A_SHELL.test(command)) return commandQuestion(typed.trim(), facts, options);
	const added = reasonsAdded(command, `{ ${command}\n} <<< ${quoted(typed)}`, facts);
	// Of a program that does not run its input, nothing.
	const unseen = reasonsAdded(command, `{ ${command}\n} < input`, facts);
	const reasons = isWhole(typed) ? added : [...added, ...unseen];
	if (reasons.length > 0) return questionOf(reasons);
	return unseen.length > 0 ? unwalledQuestion(typed, facts, options) : null;
}

/** They run a shell on a terminal of their own, here or elsewhere. */
const SHOWS_A_SHELL =
	/(?:^|[\s;&|("'/])(?:script|tmux|screen|byobu|zellij|dtach|abduco|su|ssh|mosh)(?=$|[\s;&|)"'])/;

/** Why the second is dangerous and the first is not. */
function reasonsAdded(alone: string, fed: string, facts: CommandFacts): readonly DangerReason[] {
	const [before, after] = [alone, fed].map((command) => {
		const verdict = classifyCommand(command, facts);
		return verdict.kind === "dangerous" ? verdict.reasons : [];
	}) as [readonly DangerReason[], readonly DangerReason[]];
	const known = new Set(before.map(({ class: of, why }) => `${of} ${why}`));
	return after.filter(({ class: of, why }) => !known.has(`${of} ${why}`));
}

function isWhole(typed: string): boolean {
	return /\n$/.test(typed) && !/\\\n$/.test(typed);
}

/** Where there is no wall, whatever is not plainly read-only. */
function unwalledQuestion(
	typed: string,
	facts: CommandFacts,
	options: QuestionOptions,
): ConfirmationQuestion | null {
	return (options.unwalled ?? null) === null ? null : commandQuestion(typed.trim(), facts, options);
}

function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

function questionOf(reasons: readonly DangerReason[], subject?: string): ConfirmationQuestion {
	const classes = [...new Set(reasons.map((reason) => reason.class))];
	return {
		action: actionOf(reasons),
		description: described(reasons, subject),
		classes,
		once: classes.some((one) => ONCE_ONLY.has(one)),
	};
}

/**
 * A name that no grant covers comes before one that can be granted. Deleting a folder is everyday work in a project, which a human
 * may allow once and for all; one that is dangerous for another reason, too, is not.
 */
function actionOf(reasons: readonly DangerReason[]): string {
	if (reasons.every((reason) => reason.class === "delete")) return "delete_files";
	return reasons.find(({ action }) => action !== "run_command")?.action ?? "run_command";
}

function described(reasons: readonly DangerReason[], subject?: string): string {
	return reasons.map(({ segment, why }) => `${subject ?? segment}: ${why}`).join("; ");
}
