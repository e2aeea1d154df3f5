// The terminal: commands in the user's shell, each in its own process group held by the host, so that anything that outlives the turn or
// gateway is known by its id. A foreground command ends with its call.
import { basename, resolve } from "node:path";
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import type { PtySize } from "../processes/index.ts";
import { OPERATOR, type Process, type ProcessNotify } from "../store/index.ts";
import { type CommandWall, refusalInWords } from "../walls/index.ts";
import { answer } from "./answer.ts";
import { elsewhereHint, turnOf, unwalledReason, widerQuestion } from "./call-wall.ts";
import { classifyCommand } from "./classifier/index.ts";
import { commandQuestion } from "./command-question.ts";
import { createFileTools } from "./files/index.ts";
import { createProcessTool } from "./process.ts";
import { withSecrets } from "./secrets.ts";
import type { TerminalOptions } from "./terminal-options.ts";
import {
	type ConfirmationQuestion,
	defineTool,
	type Tool,
	type ToolCaller,
	type ToolContext,
	type ToolResult,
} from "./types.ts";

const LONGEST_OUTPUT = 50_000;
const LEAST_CHECK_SECONDS = 30;
/** Default interval of progress reports. */
const USUAL_CHECK_SECONDS = 60;
const SCREEN: PtySize = { rows: 30, cols: 120 };
/** A command reports its failure at the end. */
const REFUSAL_LENGTH = 4000;

const input = z.object({
	command: z
		.string()
		.min(1)
		.max(200_000)
		.refine((text) => !text.includes("\0"), "must not contain a NUL character")
		.describe("for the shell; write a secret as \u0024{secret:NAME}"),
	background: z.boolean().default(false).describe("start it and continue; you are told when it ends"),
	timeout: z.number().positive().optional().describe("seconds to wait for a command in the foreground"),
	workdir: z.string().min(1).optional().describe("default: the conversation's workspace"),
	pty: z.boolean().default(false).describe("in a 30 x 120 terminal, for programs that need one"),
	check_interval: z
		.number()
		.positive()
		.optional()
		.describe("background: report new output to the chat every so many seconds, at least 30"),
	notify: z
		.enum(["none", "result", "all", "error"])
		.default("result")
		.describe("background: report nothing, the end, the end and progress, or only a failure"),
	wider_wall: z
		.string()
		.min(1)
		.max(500)
		.optional()
		.describe(
			"only if the wall kept a command from working: why this one needs the next wider wall (box, view, mask); the owner is asked",
		),
});
type Input = z.output<typeof input>;

/** The workspace tools: terminal, process, and file tools. */
export function createTerminalTools(options: TerminalOptions): readonly Tool[] {
	return [createTerminalTool(options), createProcessTool(options), ...createFileTools(options)];
}

function createTerminalTool(options: TerminalOptions): Tool {
	return defineTool({
		name: "terminal",
		description:
			"Run a command in the shell, in this conversation's workspace. Waits for it and returns its output and exit code, or starts it in the background, where the process tool manages it.",
		input,
		repeatable: false,
		confirmation: (given, caller) => questionAbout(options, given, caller),
		// An unusable workspace fails the call, so nothing changes.
		changesFiles: (given, caller) => {
			const cwd = workspaceOf(options, caller);
			if (!(options.isCovered?.(turnOf(caller)) ?? true)) return false;
			return cwd !== null && classifyCommand(whole(given), { ...options.facts, cwd }).kind !== "harmless";
		},
		run: (given, context) => runCommand(options, given, context),
	});
}

/** Also null for a call that fails anyway: it needs no approval. */
async function questionAbout(
	options: TerminalOptions,
	given: Input,
	caller: ToolCaller,
): Promise<ConfirmationQuestion | null> {
	const cwd = workspaceOf(options, caller);
	if (cwd === null) return null;
	try {
		const wall = await options.wallOf(turnOf(caller), widening(given));
		if (wall.run === "refused") return null;
		const question = commandQuestion(
			whole(given),
			{ ...options.facts, cwd },
			{ mode: options.mode(), unwalled: unwalledReason(wall) },
		);
		if (given.wider_wall === undefined) return question;
		return widerQuestion({
			usual: await options.wallOf(turnOf(caller)),
			wall,
			reason: given.wider_wall,
			question,
		});
	} catch (error) {
		if (error instanceof KeryxError) return null;
		throw error;
	}
}

/** Prefixes `cd`, so that the directory is classified, too. */
function whole({ command, workdir }: Input): string {
	return workdir === undefined ? command : `cd ${quoted(workdir)}\n${command}`;
}

/** Null if it cannot be used: the call fails, so it needs no approval. */
function workspaceOf(options: TerminalOptions, caller: ToolCaller): string | null {
	try {
		return options.workspaceOf(turnOf(caller));
	} catch (error) {
		if (error instanceof KeryxError) return null;
		throw error;
	}
}

function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}

async function runCommand(options: TerminalOptions, given: Input, context: ToolContext): Promise<ToolResult> {
	const { processes } = options;
	const { conversation, standing, speaker: principal, turn, destination } = context;
	const readied = withSecrets(given.command, (name) => options.secret?.(name, standing));
	if ("problem" in readied) return { content: readied.problem, isError: true };
	const workspace = options.workspaceOf(turnOf(context));
	const wall = await options.wallOf(turnOf(context), widening(given));
	if (wall.run === "refused") return { content: refusedByWalls(wall), isError: true };
	const check = checkSeconds(given);
	const process = await processes.start(
		{
			command: given.command,
			argv: [shellOf(wall.env), "-c", readied.command],
			cwd: resolve(workspace, given.workdir ?? "."),
			env: {
				...wall.env,
				...readied.env,
				TERM: given.pty ? "xterm-256color" : "dumb",
				KERYX_CONVERSATION: conversation,
			},
			background: given.background,
			pty: given.pty ? SCREEN : null,
			notify: given.notify,
			signal: context.signal,
			...(check !== null && { checkMs: check * 1000 }),
			...(wall.run === "walled" && { wall: wall.request }),
			...(wall.run === "elsewhere" && { machine: wall.machine, folder: wall.folder }),
		},
		{ conversation, principal, turn, role: standing === "none" ? null : standing, destination },
	);
	if (process.status === "failed_start")
		return {
			...answer(
				{ process_id: process.id, status: process.status, cause: process.cause, ...elsewhereHint(wall) },
				true,
			),
			// It printed nothing, and the record says why.
			stored: () => processes.discard(process.id),
		};
	if (process.status === "starting") return unknownOutcome(process.id, "it is unknown whether it started");
	if (given.background) return started(process, given, check);
	return finished(options, process, given, { signal: context.signal, wall }).catch(async (error: unknown) => {
		if (!(error instanceof KeryxError && error.code === "process.host_silent")) throw error;
		await processes.adopt(process.id);
		return unknownOutcome(process.id, "it is unknown whether it is still running");
	});
}

/** Its host does not answer: nothing is claimed, and its end is reported when known. */
function unknownOutcome(id: string, why: string): ToolResult {
	const note = `The process host does not answer, so ${why}. You are told when it ends. Do not run it again before that.`;
	return answer({ process_id: id, status: "unknown", note }, true);
}

function widening({ wider_wall }: Input): { readonly wider: boolean } {
	return { wider: wider_wall !== undefined };
}

function refusedByWalls({ reason, remedy }: Extract<CommandWall, { run: "refused" }>): string {
	return `Commands cannot run: ${reason}.${remedy === null ? "" : ` The operator can fix this: ${remedy}`}`;
}

function checkSeconds({ background, check_interval, notify }: Input): number | null {
	if (!background) return null;
	if (check_interval === undefined) return notify === "all" ? USUAL_CHECK_SECONDS : null;
	return Math.max(LEAST_CHECK_SECONDS, check_interval);
}

function started({ id, status, identity, cwd }: Process, given: Input, check: number | null): ToolResult {
	const raised = given.check_interval !== undefined && check !== given.check_interval;
	return answer({
		process_id: id,
		pid: identity?.pid ?? null,
		status,
		workdir: cwd,
		...(check !== null && { check_interval: check }),
		...(raised && {
			note: `check_interval must be at least ${LEAST_CHECK_SECONDS} seconds, so ${check} is used.`,
		}),
		...notifyHint(given.notify),
	});
}

function notifyHint(notify: ProcessNotify): { readonly you_are_told: string } {
	switch (notify) {
		case "none":
			return { you_are_told: "nothing; use poll" };
		case "error":
			return { you_are_told: "if it fails" };
		case "result":
		case "all":
			return { you_are_told: "when it ends" };
	}
}

/** Waits for the end, and enforces it: a timeout or a stopped turn kills everything the command started. */
async function finished(
	options: TerminalOptions,
	{ id, pty, startedAt }: Process,
	{ timeout }: Input,
	{ signal, wall }: { readonly signal: AbortSignal; readonly wall: CommandWall },
): Promise<ToolResult> {
	const { processes } = options;
	// Nobody will type: close its input.
	if (!pty) await processes.endInput(OPERATOR, id, signal).catch(unlessOver);
	const { foregroundSeconds } = options.limits();
	const seconds = Math.min(timeout ?? foregroundSeconds, foregroundSeconds);
	let process = await processes.wait(OPERATOR, id, { ms: seconds * 1000, signal });
	const isOver = process.endedAt !== null;
	// A command interrupted by a shutdown continues: the next start finds it and reports its end.
	if (!isOver && signal.aborted && signal.reason === "shutdown") return { content: "cut off", isError: true };
	const killed = isOver ? null : await processes.kill(OPERATOR, id);
	if (killed) process = killed.process;
	const { text, truncated } = await processes.output(OPERATOR, id, {
		most: LONGEST_OUTPUT,
		mark: (left, isKept) =>
			`[... ${left} left out${isKept ? `; process log ${id} shows all of it` : ""} ...]`,
		signal,
	});
	const { exitCode, signal: by, endedAt } = process;
	const failed = killed !== null || exitCode !== 0;
	const left = killed ? [] : await processes.leftBehind(id);
	const refusal =
		exitCode !== 0 && wall.run === "walled"
			? refusalInWords(text.slice(-REFUSAL_LENGTH), wall.request.wall)
			: null;
	const isNamed = truncated || killed !== null || left.length > 0 || process.status === "lost";
	const result = answer(
		{
			output: text,
			exit_code: exitCode,
			duration_ms: Math.max(0, (endedAt ?? startedAt) - startedAt),
			...(truncated && { truncated: true }),
			...(isNamed && { process_id: id }),
			...(left.length > 0 && { left_behind: left }),
			...(by !== null && { signal: by }),
			...(refusal !== null && { wall: refusal }),
			...(killed && {
				timed_out: true,
				note: timedOut(killed, seconds, timeout),
			}),
			...(process.status === "lost" && { status: "lost", cause: process.cause }),
		},
		failed,
	);
	// The result has all of it: its folder adds nothing.
	return isNamed ? result : { ...result, stored: () => processes.discard(id) };
}

function timedOut(
	{ result, survivors }: { readonly result: string; readonly survivors: readonly number[] },
	seconds: number,
	asked: number | undefined,
): string {
	const clamped =
		asked !== undefined && asked > seconds
			? ` (the maximum is ${seconds}: use background for longer work)`
			: "";
	const end =
		result === "survived"
			? `it could not be stopped: pid ${survivors.join(", ")} still running`
			: "it and everything it started were stopped";
	return `It took longer than ${seconds} seconds${clamped}, so ${end}.`;
}

function unlessOver(error: unknown): void {
	if (!(error instanceof KeryxError && OVER.has(error.code))) throw error;
}

const OVER: ReadonlySet<string> = new Set(["process.ended", "process.input_closed", "process.unknown"]);

/** The user's shell, if it is POSIX-like. */
function shellOf(environment: Readonly<Record<string, string>>): string {
	const shell = environment.SHELL ?? "";
	return shell.startsWith("/") && SHELLS.has(basename(shell)) ? shell : "/bin/sh";
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"]);
