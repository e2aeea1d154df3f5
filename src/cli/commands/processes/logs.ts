// `keryx logs`: a process's output from its log, and new output; or Keryx's own log. Independent of the gateway.

import { type EventEmitter, once } from "node:events";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import {
	allBetween,
	endInWords,
	type LogPiece,
	piecesBetween,
	startOfLast,
} from "../../../processes/index.ts";
import type { CliContext } from "../../context.ts";
import { readCount } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import { showGatewayLog } from "../gateway-log.ts";
import { type Ended, endOf, listenForEnd } from "./ends.ts";
import { type Named, processNamed } from "./find.ts";
import { type Reach, withProcesses } from "./reach.ts";
import { ShownOutput } from "./shown-lines.ts";
import { cutMark } from "./text.ts";

/** In place of a process: Keryx itself. */
const GATEWAY = "gateway";
const MOST_LINES = 1_000_000_000;

interface Flags {
	readonly follow?: boolean;
	readonly lines: string;
	readonly raw?: boolean;
}

export function addLogs(program: Command, context: CliContext): void {
	program
		.command("logs")
		.allowExcessArguments(false)
		.description(texts.processes.logs.about)
		.argument("<id>", texts.processes.id)
		.option("-f, --follow", texts.processes.logs.follow)
		.option("-n, --lines <n>", texts.processes.logs.lines, "200")
		.option("--raw", texts.processes.logs.raw)
		.addHelpText("after", EXAMPLES)
		.action((id: string, flags: Flags) => runLogs(context, id, flags));
}

const EXAMPLES = texts.processes.logs.help;

function runLogs(context: CliContext, given: string, flags: Flags): Promise<void> {
	const lines = flags.lines === "all" ? null : readCount("--lines", flags.lines, [0, MOST_LINES]);
	if (given === GATEWAY) return showGatewayLog(context, { lines, follow: flags.follow ?? false });
	return withProcesses(context, { needsStore: false }, async (reach) => {
		const { output, machine } = reach;
		const named = await processNamed(reach, given);
		const { id } = named;
		const { size } = await machine.read(id, { from: 0, limit: 0 });
		const start = lines === null ? 0 : await startOfLast(machine.read, id, lines, size);
		if (size === 0 && !flags.follow) output.note(texts.processes.logs.nothing(id));
		if (output.json && !flags.follow)
			return printAll(output, named, await allBetween(machine.read, id, start, size));
		const print = printerFor(context, output, flags);
		for await (const piece of piecesBetween(machine.read, id, start, size)) await print.piece(piece);
		if (flags.follow) await follow(context, reach, named, size, print);
		else await print.end();
	});
}

function printAll(output: Output, { id }: Named, pieces: readonly LogPiece[]): void {
	output.value({
		id,
		from: pieces[0]?.from ?? 0,
		to: pieces.at(-1)?.next ?? 0,
		lost: pieces.reduce((sum, { lost }) => sum + lost, 0),
		output: Buffer.concat(pieces.map(({ data }) => data)).toString("utf8"),
	});
}

/** Until the process ends. If its host died, up to what that had written. */
async function follow(
	context: CliContext,
	reach: Reach,
	{ id, info }: Named,
	from: number,
	print: Printer,
): Promise<void> {
	const { machine } = reach;
	let next = from;
	const backend = info?.status === "running" ? await machine.find() : null;
	const ends = backend && listenForEnd(backend, id);
	try {
		for await (const piece of backend?.follow(id, { from }) ?? []) {
			await print.piece(piece);
			next = piece.next;
		}
	} catch (error) {
		if (!(error instanceof KeryxError) || error.code !== "process.host_gone") throw error;
		context.exitWith(EXIT.failure);
	} finally {
		await backend?.close();
	}
	const { size } = await machine.read(id, { from: 0, limit: 0 });
	for await (const piece of piecesBetween(machine.read, id, next, size)) await print.piece(piece);
	await print.end();
	tellEnd(context, reach, ends?.heard() ?? (await endOf(reach, id)), id);
}

function tellEnd(context: CliContext, { output }: Reach, end: Ended | null, id: string): void {
	if (!end) return;
	if (output.json)
		output.value({ id, state: end.status, exit_code: end.exitCode, signal: end.signal }, "line");
	output.note(`${id} ${endInWords(end)}.`);
	if (end.status === "lost") context.exitWith(EXIT.failure);
}

interface Printer {
	piece(piece: LogPiece): Promise<void>;
	end(): Promise<void>;
}

function printerFor(context: CliContext, output: Output, { raw = false }: Flags): Printer {
	if (output.json) return jsonPrinter(output);
	return output.isTerminal && !raw ? safePrinter(context) : exactPrinter(context);
}

/** One object per line. A character that spans two pieces is in the second. */
function jsonPrinter(output: Output): Printer {
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	return {
		piece: async ({ from, lost, next, data }) =>
			output.value({ from, to: next, lost, output: decoder.decode(data, { stream: true }) }, "line"),
		end: async () => {},
	};
}

function safePrinter({ stdout }: CliContext): Printer {
	const shown = new ShownOutput();
	return {
		piece: async ({ lost, data }) => {
			const mark = lost > 0 ? `${shown.end()}${cutMark(lost)}\n` : "";
			await written(stdout, mark + shown.push(data));
		},
		end: () => written(stdout, shown.end()),
	};
}

function exactPrinter({ stdout }: CliContext): Printer {
	let isLineOpen = false;
	return {
		piece: async ({ lost, data }) => {
			if (lost > 0) await written(stdout, `${isLineOpen ? "\n" : ""}${cutMark(lost)}\n`);
			if (data.length > 0) isLineOpen = data.at(-1) !== 0x0a;
			await written(stdout, data);
		},
		end: async () => {},
	};
}

/** A slow reader is waited for. */
async function written(stdout: CliContext["stdout"], data: string | Uint8Array): Promise<void> {
	if (data.length === 0 || stdout.write(data) !== false) return;
	await once(stdout as unknown as EventEmitter, "drain");
}
