// Runs a file tool's helper where the turn's commands run: same machine, same wall, same limits. An ordinary process while it runs; once
// its answer is stored, nothing of it is kept.
import { setTimeout as delay } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import { OPERATOR } from "../../store/index.ts";
import { type CommandWall, refusalInWords } from "../../walls/index.ts";
import { elsewhereHint, turnOf } from "../call-wall.ts";
import type { TerminalOptions } from "../terminal-options.ts";
import type { ToolContext, ToolResult } from "../types.ts";

export type FileToolsOptions = Pick<
	TerminalOptions,
	"processes" | "workspaceOf" | "wallOf" | "isCovered" | "facts" | "mode" | "limits"
>;

export interface HelperRequest {
	/** As shown in the list of processes. */
	readonly shown: string;
	readonly script: string;
	readonly args: readonly string[];
	/** The helper waits after its first answer: what to send then, or null. The first line gives the length of what follows. */
	reply?(answer: HelperAnswer): Buffer | null;
}

/** The facts of the first line, and everything after it. */
export interface HelperAnswer {
	readonly facts: readonly string[];
	readonly data: Buffer;
}

export interface Helped {
	/** Or why the helper failed, in words for the model. */
	readonly answer: HelperAnswer | { readonly problem: string };
	/** Deletes the helper's output; for `stored` of the result. */
	readonly stored: () => void;
}

const PIECE = 1024 * 1024;
/** The host keeps at most this much input. */
const INPUT_PIECE = 256 * 1024;
const FULL_PAUSE_MS = 10;

export async function runHelper(
	options: FileToolsOptions,
	request: HelperRequest,
	context: ToolContext,
): Promise<Helped> {
	const { processes } = options;
	const { conversation, standing, speaker: principal, turn, destination, signal } = context;
	const cwd = options.workspaceOf(turnOf(context));
	const wall = await options.wallOf(turnOf(context));
	if (wall.run === "refused") return failed(`Files cannot be reached: ${wall.reason}.`);
	const process = await processes.start(
		{
			command: request.shown,
			argv: ["/bin/sh", "-c", request.script, "sh", ...request.args],
			cwd,
			env: { ...wall.env, KERYX_CONVERSATION: conversation },
			background: false,
			pty: null,
			notify: "none",
			signal,
			// It reads and writes files: it needs no network.
			...(wall.run === "walled" && {
				wall: { ...wall.request, wall: { ...wall.request.wall, network: "none" } },
			}),
			...(wall.run === "elsewhere" && { machine: wall.machine, folder: wall.folder }),
		},
		{ conversation, principal, turn, role: standing === "none" ? null : standing, destination },
	);
	const { id } = process;
	const stored = () => processes.discard(id);
	if (process.status === "failed_start") {
		const { note = "" } = elsewhereHint(wall);
		return { ...failed(`It could not be started: ${process.cause}. ${note}`.trimEnd()), stored };
	}
	if (process.status === "starting")
		return failed("The process host does not answer, so it is unknown whether anything was done.");
	const first = request.reply
		? await converse(options, id, request.reply, signal)
		: await endInput(options, id, signal);
	const ended = await settled(options, id, signal);
	if (ended !== null) return { ...failed(ended), stored };
	const output = await wholeOutput(options, id);
	const answer = output === null ? { problem: TOO_LONG } : readAnswer(output.subarray(first), wall);
	return { answer, stored };
}

const TOO_LONG = "The answer was longer than processes.max_log_mb allows.";

function failed(problem: string): Helped {
	return { answer: { problem }, stored: () => {} };
}

/** Returns 0: none of the output was read. */
async function endInput({ processes }: FileToolsOptions, id: string, signal: AbortSignal): Promise<number> {
	await processes.endInput(OPERATOR, id, signal).catch(unlessOver);
	return 0;
}

/** Reads the first answer and replies. Returns how much output that was. */
async function converse(
	{ processes }: FileToolsOptions,
	id: string,
	reply: NonNullable<HelperRequest["reply"]>,
	signal: AbortSignal,
): Promise<number> {
	const read = await firstAnswer(processes, id, signal);
	const sent = read && reply(read.answer);
	for (let at = 0; sent && at < sent.length; ) {
		const piece = sent.subarray(at, at + INPUT_PIECE);
		try {
			await processes.write(OPERATOR, id, piece);
			at += piece.length;
		} catch (error) {
			if (!(error instanceof KeryxError && error.code === "process.input_full")) {
				unlessOver(error);
				break;
			}
			await delay(FULL_PAUSE_MS, undefined, { signal });
		}
	}
	await processes.endInput(OPERATOR, id, signal).catch(unlessOver);
	return sent && read ? read.length : 0;
}

/** Null: it ended, or refused, before it was complete. */
async function firstAnswer(
	processes: FileToolsOptions["processes"],
	id: string,
	signal: AbortSignal,
): Promise<{ readonly answer: HelperAnswer; readonly length: number } | null> {
	const backend = await processes.attach(OPERATOR, id);
	if (!backend) return null;
	const close = () => void backend.close();
	signal.addEventListener("abort", close, { once: true });
	try {
		const pieces: Buffer[] = [];
		for await (const { data } of backend.follow(id)) {
			pieces.push(data);
			const output = Buffer.concat(pieces);
			const end = output.indexOf("\n");
			const [word, length = ""] = output.subarray(0, Math.max(0, end)).toString().split(" ");
			if (end < 0) continue;
			if (word !== "ok") return null;
			const whole = end + 1 + Number(length);
			if (output.length >= whole)
				return { answer: { facts: [length], data: output.subarray(end + 1, whole) }, length: whole };
		}
		return null;
	} catch (error) {
		if (signal.aborted) return null;
		throw error;
	} finally {
		signal.removeEventListener("abort", close);
		await backend.close();
	}
}

/** Null if it ended by itself; otherwise why it was killed. */
async function settled(
	{ processes, limits }: FileToolsOptions,
	id: string,
	signal: AbortSignal,
): Promise<string | null> {
	const { foregroundSeconds } = limits();
	const process = await processes.wait(OPERATOR, id, { ms: foregroundSeconds * 1000, signal });
	if (process.status === "lost") return "The process host died, so it is unknown whether anything was done.";
	if (process.endedAt !== null) return null;
	await processes.kill(OPERATOR, id);
	return `It took longer than ${foregroundSeconds} seconds and was stopped.`;
}

/** Null: a part of it was cut out. */
async function wholeOutput({ processes }: FileToolsOptions, id: string): Promise<Buffer | null> {
	const pieces: Buffer[] = [];
	for (let from = 0; ; ) {
		const piece = await processes.read(OPERATOR, id, { from, limit: PIECE });
		if (piece.lost > 0) return null;
		if (piece.data.length === 0) return Buffer.concat(pieces);
		pieces.push(piece.data);
		from = piece.next;
	}
}

function readAnswer(output: Buffer, wall: CommandWall): Helped["answer"] {
	const end = output.indexOf("\n");
	const line = output.subarray(0, end < 0 ? output.length : end).toString();
	if (line.startsWith("ok")) return { facts: line.split(" ").slice(1), data: output.subarray(end + 1) };
	const said = line.startsWith("no ") ? line.slice(3) : output.toString().trim().slice(0, 500);
	const refusal = wall.run === "walled" ? refusalInWords(said, wall.request.wall) : null;
	return { problem: `${said || "nothing was answered"}.${refusal === null ? "" : ` ${refusal}`}` };
}

const OVER: ReadonlySet<string> = new Set(["process.ended", "process.input_closed", "process.unknown"]);

function unlessOver(error: unknown): void {
	if (!(error instanceof KeryxError && OVER.has(error.code))) throw error;
}

/** The result of a failed call. */
export function problemOf(path: string, problem: string, stored?: () => void): ToolResult {
	return { content: `${path}: ${problem}`, isError: true, ...(stored && { stored }) };
}
