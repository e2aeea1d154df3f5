// Manages the terminal's background processes. Only its own conversation can see or use a process; another's is not found.
import { constants } from "node:os";
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import type { ListedProcess, ProcessActor } from "../processes/index.ts";
import type { Process, ProcessScope } from "../store/index.ts";
import { answer } from "./answer.ts";
import { turnOf, unwalledReason, widerInputQuestion } from "./call-wall.ts";
import { inputQuestion } from "./command-question.ts";
import type { TerminalOptions } from "./terminal-options.ts";
import {
	type ConfirmationQuestion,
	defineTool,
	type Tool,
	type ToolCaller,
	type ToolContext,
	type ToolResult,
} from "./types.ts";

const LISTED = 50;
const LONGEST_COMMAND = 200;
const LONGEST_PREVIEW = 200;
const LONGEST_POLL = 1000;
const LONGEST_TAIL = 2000;
const LONGEST_LOG = 50_000;
const ENTER = "\n";
const ENTER_ON_A_TERMINAL = "\r";

const input = z.object({
	action: z.enum(["list", "poll", "log", "wait", "kill", "write", "submit", "close"]),
	id: z.union([z.string(), z.number()]).optional().describe("of the process, or the start of it"),
	session_id: z.union([z.string(), z.number()]).optional().describe("the same as id"),
	offset: z
		.number()
		.int()
		.min(0)
		.optional()
		.describe("log: the first line, counted from 0; default: the last lines"),
	limit: z.number().int().min(1).max(2000).default(200).describe("log: how many lines"),
	timeout: z.number().min(0).optional().describe("wait: seconds"),
	signal: z.string().optional().describe("kill: the signal sent first, such as SIGINT; default SIGTERM"),
	data: z.string().max(1_000_000).optional().describe("write: sent as is; submit: followed by Enter"),
});
type Input = z.output<typeof input>;

type Options = Pick<TerminalOptions, "processes" | "facts" | "mode" | "limits" | "now" | "wallOf">;

export function createProcessTool(options: Options): Tool {
	return defineTool({
		name: "process",
		description:
			"Manage background processes of this conversation: list them, poll for new output, read the log, wait, kill, write to their input, submit a line, close their input.",
		input,
		repeatable: false,
		confirmation: (given, caller) => questionAbout(options, given, caller),
		// Nobody can say what a program does with its input, or its end.
		changesFiles: ({ action }) => action === "write" || action === "submit" || action === "close",
		run: async (given, context) => {
			const id = idOf(given);
			if (given.action === "list") return list(options, scopeOf(context));
			if (id === "") return { content: `${given.action} needs the id of a process.`, isError: true };
			try {
				return await ACTIONS[given.action](options, { ...given, id }, context);
			} catch (error) {
				if (error instanceof KeryxError && error.code === "store.not_found")
					return answer({ status: "not_found", process_id: id }, true);
				throw error;
			}
		},
	});
}

type Named = Input & { readonly id: string };
type Action = (options: Options, given: Named, context: ToolContext) => Promise<ToolResult>;

function idOf({ id, session_id }: Input): string {
	return String(id ?? session_id ?? "").trim();
}

function scopeOf({ conversation }: Pick<ToolContext, "conversation">): ProcessScope {
	return { kind: "conversation", conversation };
}

function actorOf({ conversation, standing }: ToolContext): ProcessActor {
	return { kind: "conversation", conversation, standing };
}

const ACTIONS: Readonly<Record<Exclude<Input["action"], "list">, Action>> = {
	poll,
	log,
	wait,
	kill,
	write: (options, given, context) => write(options, given, context, false),
	submit: (options, given, context) => write(options, given, context, true),
	close,
};

async function list({ processes, now }: Options, scope: ProcessScope): Promise<ToolResult> {
	const listed = await processes.list(scope, LISTED);
	const rows = await Promise.all(
		listed.map(async (process) => ({
			...facts(process, now()),
			preview: process.elsewhere ? "" : (await processes.tail(scope, process.id, LONGEST_PREVIEW)).text,
			...leftBehind(process),
			...noteOn(process),
		})),
	);
	return answer({ processes: rows });
}

function noteOn({ isUnreachable, elsewhere }: ListedProcess): { readonly note?: string } {
	if (elsewhere)
		return { note: elsewhere.lives ? `it runs at node ${elsewhere.node}` : `lost (node ${elsewhere.node})` };
	return isUnreachable ? { note: "its host does not answer, so this may be out of date" } : {};
}

function facts({ id, command, status, identity, exitCode, startedAt, endedAt }: Process, now: number) {
	return {
		process_id: id,
		command: shortened(command, LONGEST_COMMAND),
		status,
		pid: identity?.pid ?? null,
		uptime_seconds: Math.max(0, Math.floor(((endedAt ?? now) - startedAt) / 1000)),
		...(endedAt !== null && { exit_code: exitCode }),
	};
}

function leftBehind({ survivors }: ListedProcess) {
	return survivors.length > 0 ? { left_behind: survivors } : {};
}

async function poll({ processes, now }: Options, { id }: Named, context: ToolContext): Promise<ToolResult> {
	const { process, output } = await processes.poll(scopeOf(context), id, LONGEST_POLL);
	return answer({
		...facts(process, now()),
		output_preview: output.text,
		...(output.cut && { note: `more new output is left out: process log ${process.id} has the rest` }),
		...(process.endedAt !== null && {
			cause: process.cause,
			...(process.signal && { signal: process.signal }),
		}),
	});
}

async function log(
	{ processes }: Options,
	{ id, offset, limit }: Named,
	context: ToolContext,
): Promise<ToolResult> {
	const { id: whole, status, logBytes } = await processes.find(scopeOf(context), id);
	const found = await processes.log(scopeOf(context), id, { limit, ...(offset !== undefined && { offset }) });
	const { lines, left } = fitting(found.lines, offset === undefined);
	const first = found.first + (offset === undefined ? left : 0);
	// The mark of a cut is not a line of the program.
	const shown = found.lost > 0 ? lines.filter((line) => !CUT_OUT.test(line)).length : lines.length;
	return answer({
		process_id: whole,
		status,
		output: lines.join("\n"),
		total_lines: found.total,
		showing: shown === 0 ? "none" : `${first}-${first + shown - 1}`,
		...(left > 0 && { note: `${left} of the requested lines are left out: too much for one answer` }),
		...(found.lost > 0 && {
			lost_bytes: found.lost,
			note: "total_lines counts the lines that are still stored; lines in the removed part are not counted",
		}),
		...(found.total === 0 && (logBytes ?? 0) > 0 && { note: NO_LOG }),
	});
}

const CUT_OUT = /^\[\d+ bytes were cut out here\]$/;
/** For a foreground command. */
const NO_LOG = "its log is no longer stored: its full output is in the result of the call that ran it";

/** As many lines as fit, from the end or from the beginning. */
function fitting(
	lines: readonly string[],
	fromEnd: boolean,
): { readonly lines: readonly string[]; readonly left: number } {
	const taken: string[] = [];
	let room = LONGEST_LOG;
	for (const line of fromEnd ? lines.toReversed() : lines) {
		room -= line.length + 1;
		if (room < 0 && taken.length > 0) break;
		taken.push(line);
	}
	return { lines: fromEnd ? taken.toReversed() : taken, left: lines.length - taken.length };
}

async function wait(
	{ processes, limits, now }: Options,
	{ id, timeout }: Named,
	{ signal, interrupted, ...context }: ToolContext,
): Promise<ToolResult> {
	const { waitSeconds } = limits();
	const seconds = Math.min(timeout ?? waitSeconds, waitSeconds);
	const scope = scopeOf(context);
	const process = await processes.wait(scope, id, {
		ms: seconds * 1000,
		signal: AbortSignal.any([signal, interrupted]),
	});
	const output = await processes.tail(scope, process.id, LONGEST_TAIL);
	const isOver = process.endedAt !== null;
	const notes = [
		...(timeout !== undefined && timeout > waitSeconds
			? [`timeout was ${timeout}, but the longest wait is ${waitSeconds} seconds.`]
			: []),
		...(!isOver && interrupted.aborted ? ["The user sent a new message: answer it first."] : []),
	];
	return answer({
		...facts(process, now()),
		status: isOver ? process.status : interrupted.aborted ? "interrupted" : "timeout",
		output: output.text,
		...(isOver && { cause: process.cause, ...(process.signal && { signal: process.signal }) }),
		...(notes.length > 0 && { note: notes.join(" ") }),
	});
}

async function kill(
	{ processes }: Options,
	{ id, signal }: Named,
	context: ToolContext,
): Promise<ToolResult> {
	const name = signal?.toUpperCase().replace(/^(?!SIG)/, "SIG");
	if (name !== undefined && !Object.hasOwn(constants.signals, name))
		return { content: `There is no signal ${JSON.stringify(signal)}.`, isError: true };
	const { process, result, survivors, isCertain } = await processes.kill(
		actorOf(context),
		id,
		name ? { signal: name } : {},
	);
	return answer(
		{
			process_id: process.id,
			status: result,
			...(process.endedAt !== null && { exit_code: process.exitCode }),
			...(survivors.length > 0 && { survivors, note: "these could not be stopped" }),
			...(result === "killed" && !isCertain && { note: UNSEEN }),
		},
		result === "survived",
	);
}

/** Without a wall. */
const UNSEEN =
	"none of its processes were found running; a process that changed its group, parent, environment and streams cannot be found";

async function write(
	{ processes }: Options,
	{ id, data }: Named,
	context: ToolContext,
	submits: boolean,
): Promise<ToolResult> {
	if (data === undefined && !submits) return { content: "write needs data.", isError: true };
	const process = await processes.find(scopeOf(context), id);
	const enter = process.pty ? ENTER_ON_A_TERMINAL : ENTER;
	const bytes = Buffer.from(`${data ?? ""}${submits ? enter : ""}`);
	await processes.write(actorOf(context), process.id, bytes);
	return answer({ status: "ok", process_id: process.id, bytes_written: bytes.length });
}

async function close({ processes }: Options, { id }: Named, context: ToolContext): Promise<ToolResult> {
	const process = await processes.find(scopeOf(context), id);
	await processes.endInput(actorOf(context), process.id);
	return answer({ status: "ok", process_id: process.id });
}

async function questionAbout(
	{ processes, facts: known, mode, wallOf }: Options,
	given: Input,
	caller: ToolCaller,
): Promise<ConfirmationQuestion | null> {
	const types = given.action === "write" || given.action === "submit";
	if (!types && given.action !== "close") return null;
	if (types && mode() === "readonly")
		return { action: "run_command", description: "What a program does with its input may change something." };
	const process = await processes.find(scopeOf(caller), idOf(given)).catch(ifNotThere);
	if (!process) return null;
	const usual = await wallOf(turnOf(caller));
	const typed = `${given.data ?? ""}${given.action === "submit" ? ENTER : ""}`;
	const options = { mode: mode(), unwalled: unwalledReason(usual) };
	const question = types
		? inputQuestion(process.command, typed, { ...known, cwd: process.cwd }, options)
		: null;
	return widerInputQuestion({ usual, running: process.wall, question });
}

function ifNotThere(error: unknown): null {
	if (error instanceof KeryxError && (error.code === "store.not_found" || error.code === "argument.invalid"))
		return null;
	throw error;
}

function shortened(text: string, most: number): string {
	return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
