// `keryx attach`: a process in this terminal, as if it had been started here. It goes on when one leaves.
import { constants } from "node:os";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import { endInWords, type ProcessBackend, type ProcessInfo } from "../../../processes/index.ts";
import type { CliContext } from "../../context.ts";
import { EXIT } from "../../io/report.ts";
import { cut } from "../../io/width.ts";
import { rowOf } from "./account.ts";
import { type AttachOptions, type Leaving, untilLeft } from "./attachment.ts";
import { readDetachKey } from "./detach-key.ts";
import { type Ended, endedAs, endOf, listenForEnd } from "./ends.ts";
import { type Named, processNamed } from "./find.ts";
import { attachLines } from "./lines.ts";
import { type Reach, withProcesses } from "./reach.ts";
import { attachScreen } from "./screen.ts";
import { commandOf } from "./text.ts";

interface Flags {
	readonly detachKey: string;
}

export function addAttach(program: Command, context: CliContext): void {
	program
		.command("attach")
		.allowExcessArguments(false)
		.description("use a process in this terminal, and leave it running")
		.argument("<id>", "its id, or four characters or more of its beginning; proc_ may be left out")
		.option("--detach-key <key>", "leaves it running: ctrl- and a letter, \\, ], ^ or _", "ctrl-]")
		.addHelpText("after", EXAMPLES)
		.action((id: string, flags: Flags) => runAttach(context, id, flags));
}

const EXAMPLES = `
A process on a terminal (pty) gets this one: every key but the detach key, its size, its screen. When you leave it has its own size
again. One on pipes gets lines; Ctrl-D ends its input, Ctrl-C leaves, too.

Examples:
  $ keryx attach 4f2a
  $ keryx attach 4f2a --detach-key ctrl-a

Exit codes: 0 when you left, otherwise those of the process: its own, or 128 and the number of the signal that ended it; 1 when its
host died or there is no such process, 2 wrong usage, or where there is no terminal.`;

async function runAttach(context: CliContext, given: string, flags: Flags): Promise<void> {
	const detachKey = readDetachKey(flags.detachKey);
	if (context.json || context.stdin.isTTY !== true || context.stdout.isTTY !== true)
		throw new KeryxError("usage.invalid", "attach needs a terminal, for what you type and for what you see", {
			hint: `\`keryx logs -f ${given}\` follows the output without one`,
		});
	await withProcesses(context, { needsStore: false }, async (reach) => {
		const named = await processNamed(reach, given);
		const backend = await hostOf(reach, named);
		try {
			const ends = listenForEnd(backend, named.id);
			const info = await backend.get(named.id);
			if (info.status !== "running") throw ended(info);
			const { stdin: input, stdout: output } = process;
			const attach = info.pty ? attachScreen : attachLines;
			reach.output.line(
				`Attached to ${info.id}: ${cut(commandOf({ row: await rowOf(reach, info.id), info }), SHOWN)}`,
			);
			reach.output.line(`${detachKey.name} leaves it running.`);
			const options: AttachOptions = { backend, info, input, output, detachKey };
			const leaving = await untilLeft(options, attach);
			tell(context, reach, info.id, leaving, ends.heard() ?? (await endOf(reach, info.id)));
		} finally {
			await backend.close();
		}
	});
}

/** Of a command, in one line. */
const SHOWN = 120;

async function hostOf({ machine }: Reach, { id, info }: Named): Promise<ProcessBackend> {
	if (info && info.status !== "running") throw ended(info);
	const backend = info && (await machine.find());
	if (backend) return backend;
	throw new KeryxError("process.ended", `${id} does not run on this machine`, {
		hint: "`keryx ps --all` says what is known of it",
	});
}

function ended(info: ProcessInfo): KeryxError {
	return new KeryxError("process.ended", `${info.id} ${endInWords(endedAs(info))}`, {
		hint: `\`keryx logs ${info.id}\` shows what it printed`,
	});
}

function tell(context: CliContext, { output }: Reach, id: string, leaving: Leaving, end: Ended | null): void {
	switch (leaving.kind) {
		case "left":
			output.note(`Left ${id}, which goes on. \`keryx attach ${id}\` comes back.`);
			break;
		case "told":
			context.exitWith(128 + constants.signals[leaving.signal]);
			break;
		case "host died":
			context.exitWith(EXIT.failure);
			output.note(`The host of ${id} died. \`keryx ps\` says what lives.`);
			break;
		case "ended":
			context.exitWith(exitCodeOf(end));
			output.note(`${id} ${end ? endInWords(end) : "has ended"}.`);
	}
}

function exitCodeOf(end: Ended | null): number {
	if (end?.signal) return 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0);
	return end?.exitCode ?? EXIT.failure;
}
