// `keryx kill`: kills processes with everything they started, and reports the verified result of each.

import { constants } from "node:os";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { KillOutcome, ProcessBackend } from "../../../processes/index.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import { accounts, rowOf } from "./account.ts";
import { type Named, processNamed } from "./find.ts";
import { conversationNamed, type Reach, withProcesses } from "./reach.ts";

interface Flags {
	readonly signal: string;
	readonly conversation?: string;
	readonly all?: boolean;
}

export function addKill(program: Command, context: CliContext): void {
	program
		.command("kill")
		.description(texts.processes.kill.about)
		.argument("[id...]", texts.processes.kill.ids)
		.option("--signal <name>", texts.processes.kill.signal, "SIGTERM")
		.option("--conversation <id|key>", texts.processes.kill.conversation)
		.option("--all", texts.processes.kill.all)
		.addHelpText("after", EXAMPLES)
		.action((ids: readonly string[], flags: Flags) => runKill(context, ids, flags));
}

const EXAMPLES = texts.processes.kill.help;

interface Outcome {
	readonly id: string;
	readonly result: KillOutcome["result"] | "failed";
	readonly survivors: readonly number[];
	readonly problem: string | null;
}

function runKill(context: CliContext, ids: readonly string[], flags: Flags): Promise<void> {
	const signal = readSignal(flags.signal);
	const { conversation, all = false } = flags;
	if ((conversation !== undefined) !== all || all === ids.length > 0)
		throw new KeryxError("usage.invalid", texts.processes.kill.usage);
	return withProcesses(context, { needsStore: all }, async (reach) => {
		const { output, machine } = reach;
		const chosen = conversation === undefined ? await named(reach, ids) : await livingIn(reach, conversation);
		const backend = await machine.find();
		try {
			const outcomes = await Promise.all(chosen.map((process) => killOne(reach, backend, process, signal)));
			if (outcomes.some(({ result }) => result === "survived" || result === "failed"))
				context.exitWith(EXIT.failure);
			tell(output, outcomes);
		} finally {
			await backend?.close();
		}
	});
}

function readSignal(text: string): string {
	const upper = text.toUpperCase();
	const name = upper.startsWith("SIG") ? upper : `SIG${upper}`;
	if (name in constants.signals) return name;
	throw new KeryxError("argument.invalid", texts.processes.kill.badSignal(JSON.stringify(text)), {
		field: "--signal",
	});
}

/** All are resolved before any is touched. */
async function named(reach: Reach, ids: readonly string[]): Promise<readonly Named[]> {
	const found = new Map<string, Named>();
	for (const given of ids) {
		const process = await processNamed(reach, given);
		found.set(process.id, process);
	}
	return [...found.values()];
}

async function livingIn(reach: Reach, conversation: string): Promise<readonly Named[]> {
	const { id } = await conversationNamed(reach, conversation);
	return (await accounts(reach, { all: false })).filter(({ row }) => row?.conversation === id);
}

async function killOne(
	reach: Reach,
	backend: ProcessBackend | null,
	{ id, info }: Named,
	signal: string,
): Promise<Outcome> {
	if (info === null) {
		const row = await rowOf(reach, id);
		const hasEnded = row !== null && row.endedAt !== null;
		return hasEnded ? { id, result: "already_exited", survivors: [], problem: null } : failed(id, NOT_HERE);
	}
	try {
		const outcome = await (backend
			? backend.kill(id, { signal })
			: reach.machine.killLost({ id }, { signal }));
		return { id, ...outcome, problem: null };
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return failed(id, error.message);
	}
}

const NOT_HERE = texts.processes.remarks.unknown;

function failed(id: string, problem: string): Outcome {
	return { id, result: "failed", survivors: [], problem };
}

function tell(output: Output, outcomes: readonly Outcome[]): void {
	if (output.json) output.value({ processes: outcomes });
	else if (outcomes.length === 0) output.note(texts.processes.kill.nothing);
	else for (const outcome of outcomes) output.line(`${outcome.id} ${inWords(outcome)}`);
}

function inWords({ result, survivors, problem }: Outcome): string {
	switch (result) {
		case "killed":
			return texts.processes.kill.killed;
		case "already_exited":
			return texts.processes.kill.ended;
		case "survived":
			return texts.processes.kill.survived(survivors.join(", "));
		case "failed":
			return texts.processes.kill.failed(problem);
	}
}
