// `keryx ps`: every running process, and otherwise unlisted ones: survivors of ended ones, of a dead host, and those only the store or
// host knows.

import type { Command } from "commander";
import { describeDuration } from "../../../domain/index.ts";
import { OPERATOR, type Process } from "../../../store/index.ts";
import type { CliContext } from "../../context.ts";
import { cut } from "../../io/width.ts";
import { found } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";
import { type Account, accounts, remarksOn, startOf, stateOf } from "./account.ts";
import { conversationNamed, type Reach, withProcesses } from "./reach.ts";
import { commandOf } from "./text.ts";

interface Flags {
	readonly all?: boolean;
	readonly conversation?: string;
}

export function addPs(program: Command, context: CliContext): void {
	program
		.command("ps")
		.allowExcessArguments(false)
		.description(texts.processes.ps.about)
		.option("--all", texts.processes.ps.all)
		.option("--conversation <id|key>", texts.processes.ps.conversation)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runPs(context, flags));
}

const EXAMPLES = texts.processes.ps.help;

function runPs(context: CliContext, { all = false, conversation }: Flags): Promise<void> {
	return withProcesses(context, { needsStore: true }, async (reach) => {
		const { output, machine } = reach;
		const only = conversation === undefined ? null : (await conversationNamed(reach, conversation)).id;
		const list = await withReach(
			reach,
			(await accounts(reach, { all })).filter(({ row }) => only === null || row?.conversation === only),
		);
		const keys = await keysOf(reach, list);
		if (output.json) {
			const processes = list.map((account) => wireOf(account, machine.name, keys));
			return output.value({ processes });
		}
		if (list.length === 0) return output.note(all ? texts.processes.ps.none : texts.processes.ps.noneRunning);
		if (output.isTerminal) printForPeople(context, reach, list, keys);
		else
			output.table(
				[],
				list.map((account) => cellsOf(account, machine.name, keys)),
			);
	});
}

/** Adds to running ones whether their host answers. */
async function withReach(reach: Reach, list: readonly Account[]): Promise<readonly Account[]> {
	const runs = ({ info }: Account): boolean => info?.status === "running";
	if (!list.some(runs) || !(await reach.isSilent())) return list;
	return list.map((account) => ({ ...account, isUnreachable: runs(account) }));
}

/** Remarks are below the table, complete: pids must not be cut on a narrow terminal. */
function printForPeople(
	{ now }: CliContext,
	{ output, machine }: Reach,
	list: readonly Account[],
	keys: ReadonlyMap<string, string>,
): void {
	output.table(
		["id", "state", "pid", "since", "conversation", "command"],
		list.map((account) => [
			account.id,
			stateInWords(account, machine.name),
			String(pidOf(account) ?? ""),
			sinceWhen(account, now()),
			keyOf(account, keys),
			cut(commandOf(account), SHOWN),
		]),
		{ elastic: [4, 5] },
	);
	for (const account of list) {
		const remarks = remarksOn(account, machine.name);
		if (remarks.length > 0) output.line(`${account.id}: ${remarks.join("; ")}`);
	}
}

function cellsOf(account: Account, machine: string, keys: ReadonlyMap<string, string>): string[] {
	const one = wireOf(account, machine, keys);
	return [
		one.id,
		one.state,
		String(one.pid ?? ""),
		one.started_at,
		one.ended_at ?? "",
		String(one.exit_code ?? one.signal ?? ""),
		one.conversation_key ?? "",
		one.remarks.join("; "),
		commandOf(account),
	];
}

/** The width of a command, on a terminal. */
const SHOWN = 120;

/** The readable names of the conversations. */
async function keysOf(reach: Reach, list: readonly Account[]): Promise<ReadonlyMap<string, string>> {
	const store = await reach.store();
	const keys = new Map<string, string>();
	for (const id of new Set(list.flatMap(({ row }) => row?.conversation ?? []))) {
		const conversation = store && (await found(store.conversation({ scope: OPERATOR, ref: { id } })));
		if (conversation) keys.set(id, conversation.key);
	}
	return keys;
}

function keyOf({ row }: Account, keys: ReadonlyMap<string, string>): string {
	return row ? (keys.get(row.conversation) ?? row.conversation) : "";
}

function pidOf({ row, info }: Account): number | null {
	return (info?.identity ?? row?.identity)?.pid ?? null;
}

/** How it ended, from the best source. */
function outcomeOf({ row, info }: Account): Pick<Process, "exitCode" | "signal" | "endedAt"> {
	if (info?.end) return { exitCode: info.end.code, signal: info.end.signal, endedAt: info.end.endedAt };
	return { exitCode: row?.exitCode ?? null, signal: row?.signal ?? null, endedAt: row?.endedAt ?? null };
}

/** "exited 3" */
function stateInWords(account: Account, machine: string): string {
	const { exitCode, signal } = outcomeOf(account);
	return [stateOf(account, machine), exitCode ?? signal ?? ""].join(" ").trim();
}

function sinceWhen(account: Account, now: number): string {
	const { endedAt } = outcomeOf(account);
	if (endedAt !== null) return `ended ${describeDuration(Math.max(0, now - endedAt))} ago`;
	return describeDuration(Math.max(0, now - startOf(account)));
}

function wireOf(account: Account, machine: string, keys: ReadonlyMap<string, string>) {
	const { id, row, info } = account;
	const { exitCode, signal, endedAt } = outcomeOf(account);
	return {
		id,
		state: stateOf(account, machine),
		command: row?.command ?? info?.argv.join(" ") ?? "",
		cwd: info?.cwd ?? row?.cwd ?? "",
		pty: row?.pty ?? info?.pty != null,
		pid: pidOf(account),
		started_at: new Date(startOf(account)).toISOString(),
		ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
		exit_code: exitCode,
		signal,
		conversation: row?.conversation ?? null,
		conversation_key: row ? (keys.get(row.conversation) ?? null) : null,
		survivors: info?.survivors ?? [],
		unreachable: account.isUnreachable,
		log_bytes: info?.logSize ?? row?.logBytes ?? null,
		/** Where it is recorded. */
		known_to: [...(row ? ["store"] : []), ...(info ? ["host"] : [])],
		remarks: remarksOn(account, machine),
	};
}
