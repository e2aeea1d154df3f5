// `keryx attach`: a process in this terminal, as if started here. It keeps running when one leaves.

import { constants } from "node:os";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import { endInWords, type ProcessBackend, type ProcessInfo } from "../../../processes/index.ts";
import type { CliContext } from "../../context.ts";
import { EXIT } from "../../io/report.ts";
import { cut } from "../../io/width.ts";
import { texts } from "../../texts.ts";
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
		.description(texts.processes.attach.about)
		.argument("<id>", texts.processes.id)
		.option("--detach-key <key>", texts.processes.attach.detachKey, "ctrl-]")
		.addHelpText("after", EXAMPLES)
		.action((id: string, flags: Flags) => runAttach(context, id, flags));
}

const EXAMPLES = texts.processes.attach.help;

async function runAttach(context: CliContext, given: string, flags: Flags): Promise<void> {
	const detachKey = readDetachKey(flags.detachKey);
	if (context.json || context.stdin.isTTY !== true || context.stdout.isTTY !== true)
		throw new KeryxError("usage.invalid", texts.processes.attach.needsTerminal, {
			hint: texts.processes.attach.needsTerminalHint(given),
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
				texts.processes.attach.attached(
					info.id,
					cut(commandOf({ row: await rowOf(reach, info.id), info }), SHOWN),
				),
			);
			reach.output.line(texts.processes.attach.leaves(detachKey.name));
			const options: AttachOptions = { backend, info, input, output, detachKey };
			const leaving = await untilLeft(options, attach);
			tell(context, reach, info.id, leaving, ends.heard() ?? (await endOf(reach, info.id)));
		} finally {
			await backend.close();
		}
	});
}

/** A command, on one line. */
const SHOWN = 120;

async function hostOf({ machine }: Reach, { id, info }: Named): Promise<ProcessBackend> {
	if (info && info.status !== "running") throw ended(info);
	const backend = info && (await machine.find());
	if (backend) return backend;
	throw new KeryxError("process.ended", texts.processes.attach.elsewhere(id), {
		hint: texts.processes.attach.elsewhereHint,
	});
}

function ended(info: ProcessInfo): KeryxError {
	return new KeryxError("process.ended", `${info.id} ${endInWords(endedAs(info))}`, {
		hint: texts.processes.attach.printed(info.id),
	});
}

function tell(context: CliContext, { output }: Reach, id: string, leaving: Leaving, end: Ended | null): void {
	switch (leaving.kind) {
		case "left":
			output.note(texts.processes.attach.left(id, id));
			break;
		case "signalled":
			context.exitWith(128 + constants.signals[leaving.signal]);
			break;
		case "host died":
			context.exitWith(EXIT.failure);
			output.note(texts.processes.attach.hostDied(id));
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
