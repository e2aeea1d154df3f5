// Lists and kills background programs. Killing does not change the store: the end is recorded as usual, and a second kill does nothing.

import { describeDuration } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	endInWords,
	type KilledProcess,
	type ListedProcess,
	type ProcessActor,
	type Processes,
} from "../../processes/index.ts";
import type { ProcessEnd, ProcessScope } from "../../store/index.ts";
import { texts } from "../texts.ts";
import { wrongArgument } from "./parse.ts";
import type { CommandContext, Telling } from "./types.ts";
import { asCode, counted, shortened } from "./words.ts";

const LISTED = 20;
const LONGEST_COMMAND = 60;

export const listProcesses: Telling = {
	name: "processes",
	usage: "/processes",
	about: texts.processes.about,
	group: "Information",
	tell: async (context) => {
		const listed = await programs(context).list(scopeOf(context), LISTED);
		if (listed.length === 0) return texts.processes.noneLately;
		const running = listed.filter(({ endedAt }) => endedAt === null).length;
		return [
			running === 0
				? texts.processes.noneNow
				: texts.processes.heading(counted(running, "program is", "programs are")),
			...listed.map((process) => `- ${line(process, context.now)}`),
			...(running > 0 ? ["", texts.processes.howTo] : []),
		].join("\n");
	},
};

export const killProcess: Telling = {
	name: "kill",
	usage: "/kill <id>",
	about: texts.kill.about,
	group: "Answers",
	tell: async (context) => {
		const { args } = context;
		if (args === "" || /\s/.test(args)) throw wrongArgument(texts.kill.takes, args, "/kill proc_1a2b");
		const killed = await programs(context).kill(actorOf(context), args);
		const { result, process, survivors } = killed;
		if (result === "already_exited") return texts.kill.alreadyEnded(process.id);
		return result === "killed"
			? texts.kill.done(process.id, shown(process.command))
			: couldNot(process.id, survivors);
	},
};

/** The answer for several programs killed together. */
export function killedSentences(killed: readonly KilledProcess[]): string[] {
	const done = killed.filter(({ result }) => result === "killed").length;
	return [
		...(done > 0 ? [texts.kill.several(counted(done, "program was", "programs were"))] : []),
		...killed.flatMap(({ result, process, survivors }) =>
			result === "survived" ? [couldNot(process.id, survivors)] : [],
		),
	];
}

function couldNot(id: string, survivors: readonly number[]): string {
	return texts.kill.failed(id, counted(survivors.length, "process", "processes"), survivors.join(", "));
}

function line(process: ListedProcess, now: number): string {
	const { id, command, endedAt, survivors, elsewhere } = process;
	const isLost = elsewhere !== null && !elsewhere.lives;
	const ago = endedAt === null ? "" : `, ${describeDuration(Math.max(0, now - endedAt))} ago`;
	const unsure = process.isUnreachable && !isLost ? texts.processes.unreachable : "";
	const left = survivors.length > 0 ? texts.processes.left(survivors.join(", ")) : "";
	return `${id} ${shown(command)}: ${stateOf(process, now)}${ago}${left}${unsure}`;
}

function stateOf(process: ListedProcess, now: number): string {
	const { status, startedAt, exitCode, signal, cause, elsewhere } = process;
	if (status !== "starting" && status !== "running")
		return endInWords({ status, exitCode, signal, cause: cause ?? "" } satisfies ProcessEnd);
	if (elsewhere && !elsewhere.lives) return texts.processes.lost(elsewhere.node);
	const running = texts.processes.runningFor(describeDuration(Math.max(0, now - startedAt)));
	return elsewhere ? `${running}${texts.processes.at(elsewhere.node)}` : running;
}

function shown(command: string): string {
	return asCode(shortened(command.replace(/\s+/g, " ").trim(), LONGEST_COMMAND));
}

/** With a lower role than the program's, one may only look at it. */
function actorOf(context: CommandContext): ProcessActor {
	return { kind: "conversation", conversation: context.conversationId, standing: context.role };
}

/** A guest's conversation belongs to a guest: the owner's programs are not listed there. */
function scopeOf({ conversationId }: CommandContext): ProcessScope {
	return { kind: "conversation", conversation: conversationId };
}

function programs({ processes }: CommandContext): Processes {
	if (processes) return processes;
	throw new KeryxError("argument.invalid", texts.processes.off, {
		hint: texts.processes.offHint,
	});
}
