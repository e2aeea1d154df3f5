// Whether a command needs approval, and as which action.

import { terminalText } from "../domain/index.ts";
import type { CommandFacts, DangerReason } from "./classifier/index.ts";
import { classifyCommand, ONCE_ONLY } from "./classifier/index.ts";
import type { ConfirmationQuestion } from "./types.ts";

/** As in the setting approvals.mode. */
export type ApprovalMode = "manual" | "readonly" | "off";

export interface QuestionOptions {
	readonly mode: ApprovalMode;
	/** Why its wall is missing; null: it has one, or none is wanted. */
	readonly unwalled?: string | null;
	/** A name for calls that are not command lines, such as "This call". The command only stands for it, and is not shown. */
	readonly subject?: string;
}

/** Null: it may run. In readonly, everything that may change something is refused; without a wall, all of it needs approval. */
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
 * The same for input to a running program: a shell, interpreter or database turns it into commands, which are judged with the program
 * that reads them. Nobody can say what any other program does with its input. A partial line can become anything.
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
	// Nothing, for a program that does not run its input.
	const unseen = reasonsAdded(command, `{ ${command}\n} < input`, facts);
	const reasons = isWhole(typed) ? added : [...added, ...unseen];
	if (reasons.length > 0) return questionOf(reasons);
	return unseen.length > 0 ? unwalledQuestion(typed, facts, options) : null;
}

/** They run a shell on their own terminal, here or elsewhere. */
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

/** Without a wall, everything that is not clearly read-only. */
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
 * An action that no grant covers comes first. Deleting a folder is everyday work in a project, which a human may allow permanently; not
 * if it is dangerous for another reason, too.
 */
function actionOf(reasons: readonly DangerReason[]): string {
	if (reasons.every((reason) => reason.class === "delete")) return "delete_files";
	return reasons.find(({ action }) => action !== "run_command")?.action ?? "run_command";
}

function described(reasons: readonly DangerReason[], subject?: string): string {
	return reasons.map(({ segment, why }) => `${subject ?? segment}: ${why}`).join("; ");
}
