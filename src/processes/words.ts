// Texts about a process: for the agent at its end, for a chat while it runs. Its output is quoted, never part of a sentence.
import { describeDuration } from "../domain/index.ts";
import type { Process, ProcessEnd } from "../store/index.ts";
import type { NewOutput } from "./log/reading.ts";
import type { ProcessInfo } from "./types.ts";

const LONGEST_COMMAND = 200;

/** The end of a process, in the record's words. */
export function endOf({ status, end }: ProcessInfo): ProcessEnd {
	// Survivors are looked up when needed: in the record they would soon be outdated.
	if (status === "lost" || end === null)
		return {
			status: "lost",
			exitCode: null,
			signal: null,
			cause: "the process host exited, so what happened to it is unknown",
		};
	const { code, signal } = end;
	switch (end.cause) {
		case "failed_start":
			return {
				status: "failed_start",
				exitCode: null,
				signal: null,
				cause: end.reason ?? "it could not be started",
			};
		case "killed":
			return { status: "killed", exitCode: code, signal, cause: "killed on request" };
		case "signal":
			return { status: "exited", exitCode: code, signal, cause: `ended by ${signal ?? "a signal"}` };
		case "exited":
			return { status: "exited", exitCode: code, signal, cause: "exited" };
	}
}

/** What the agent is told about an end. */
export function completionNote(
	{ id, command, startedAt }: Process,
	end: ProcessEnd,
	{
		at,
		output,
		survivors,
	}: { readonly at: number; readonly output: NewOutput; readonly survivors: readonly number[] },
): string {
	const took = end.status === "failed_start" ? "" : ` after ${describeDuration(Math.max(0, at - startedAt))}`;
	return [
		`The background process ${id} (${shownCommand(command)}) ${endInWords(end)}${took}.`,
		...(survivors.length > 0 ? [leftAlive(end, survivors)] : []),
		...quotedOutput(output, `process log ${id} shows all of it`),
	].join("\n");
}

/** Past tense: it may be read much later. */
function leftAlive({ status }: ProcessEnd, survivors: readonly number[]): string {
	const pids = `pid ${survivors.join(", ")}`;
	return status === "lost"
		? `At that time ${pids} was still running. process list shows what is running now, process kill ends it.`
		: `When it ended, processes it had started were still running: ${pids}. process list shows what is running now, process kill ends it.`;
}

/** "exited with code 0". */
export function endInWords({ status, exitCode, signal, cause }: ProcessEnd): string {
	switch (status) {
		case "exited":
			if (signal === null) return `exited with code ${exitCode ?? "unknown"}`;
			return exitCode === null ? `was ended by ${signal}` : `exited with code ${exitCode} (${signal})`;
		case "killed":
			return `was killed${signal === null ? "" : ` (${signal})`}`;
		case "failed_start":
			return `could not be started: ${cause}`;
		case "lost":
			return `was lost: ${cause}`;
	}
}

/** What a chat is told while it runs. */
export function progressText(
	{ id, command, startedAt }: Process,
	{ now, output }: { readonly now: number; readonly output: NewOutput },
): string {
	return [
		`Process \`${id}\` (${shownCommand(command)}) has been running for ${describeDuration(Math.max(0, now - startedAt))}.`,
		...quotedOutput(output, "the rest is in its log"),
	].join("\n");
}

function quotedOutput({ text, cut }: NewOutput, where: string): string[] {
	const printed = text.trimEnd();
	if (printed === "") return [cut ? `Its latest output is not text; ${where}.` : "It printed nothing."];
	const fence = "`".repeat(Math.max(3, longestRun(printed) + 1));
	return [cut ? `The end of its output (${where}):` : "Its output:", fence, printed, fence];
}

function longestRun(text: string): number {
	return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function shownCommand(command: string): string {
	const line = command.replace(/\s+/g, " ").replaceAll("`", "'").trim();
	const shown =
		line.length <= LONGEST_COMMAND ? line : `${line.slice(0, LONGEST_COMMAND - 1).toWellFormed()}…`;
	return `\`${shown}\``;
}
