// `keryx kill`: ends processes with everything they started, and says of each what was seen to become of it.
import { constants } from "node:os";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { KillOutcome, ProcessBackend } from "../../../processes/index.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
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
		.description("end processes, with everything they started")
		.argument("[id...]", "their ids, or four characters or more of the beginning of each")
		.option("--signal <name>", "sent first; what has not ended after five seconds gets SIGKILL", "SIGTERM")
		.option("--conversation <id|key>", "with --all: those of this conversation")
		.option("--all", "every one that lives in the conversation")
		.addHelpText("after", EXAMPLES)
		.action((ids: readonly string[], flags: Flags) => runKill(context, ids, flags));
}

const EXAMPLES = `
Answers when it has been seen that nothing is left, also of what a process started and left behind, and of one whose host died.
What lives on after all is named by its pid.

Examples:
  $ keryx kill 4f2a
  $ keryx kill 4f2a 77aa --signal INT
  $ keryx kill --conversation agent:main:local:dm:cli --all

With an id that is not there, or that fits several, nothing is killed.
Exit codes: 0 nothing of them lives, 1 something does or failed, or no such process, 2 wrong usage or an id that fits several.`;

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
		throw new KeryxError("usage.invalid", "give ids, or --conversation and --all");
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
	throw new KeryxError(
		"argument.invalid",
		`--signal must be a signal such as TERM, INT or HUP; it is ${JSON.stringify(text)}`,
		{
			field: "--signal",
		},
	);
}

/** All of them are known before any is touched. */
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

const NOT_HERE = "nothing on this machine knows of it";

function failed(id: string, problem: string): Outcome {
	return { id, result: "failed", survivors: [], problem };
}

function tell(output: Output, outcomes: readonly Outcome[]): void {
	if (output.json) output.value({ processes: outcomes });
	else if (outcomes.length === 0) output.note("Nothing runs there.");
	else for (const outcome of outcomes) output.line(`${outcome.id} ${inWords(outcome)}`);
}

function inWords({ result, survivors, problem }: Outcome): string {
	switch (result) {
		case "killed":
			return "was killed; nothing of it lives.";
		case "already_exited":
			return "had ended; nothing of it lives.";
		case "survived":
			return `is not gone: pid ${survivors.join(", ")} still lives.`;
		case "failed":
			return `could not be killed: ${problem}`;
	}
}
