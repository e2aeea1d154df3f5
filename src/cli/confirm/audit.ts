// `keryx confirm audit`: every change of state, who, from where and why; and whether the record is as it was written.
import type { Command } from "commander";
import type { Client } from "../../http/index.ts";
import { readCount } from "../arguments.ts";
import { addDbPath, type DbPathFlag, withKeeper } from "../confirmd/reach.ts";
import type { CliContext } from "../context.ts";
import type { Output } from "../output.ts";
import { EXIT } from "../report.ts";
import { counted } from "../words.ts";
import { ask, PAGE, type WireEntry } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { isoOf, timeOf } from "./text.ts";

interface Flags extends DbPathFlag {
	readonly limit: string;
	readonly of?: string;
	readonly verify?: boolean;
}

interface Verified {
	readonly count: number;
	readonly head: string;
	readonly bad: { readonly n: number; readonly problem: string } | null;
}

export function addAudit(parent: Command, context: CliContext): void {
	const command = parent
		.command("audit")
		.allowExcessArguments(false)
		.description("every change of state, and whether the record is whole")
		.option("--limit <n>", `the last so many entries, 1 to ${PAGE}`, "50")
		.option("--of <id>", "only those of this confirmation")
		.option("--verify", "look through the whole chain instead");
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runAudit(context, flags));
}

const EXAMPLES = `
Every entry holds a code over itself and the one before, made with a key that is not in the store: an altered
entry, a missing one and a cut tail show. Keep the head that --verify prints elsewhere: it proves later that
nothing before it was replaced, even by somebody who has the key.

Examples:
  $ keryx confirm audit
  $ keryx confirm audit --of 1f3a90bc77aa
  $ keryx confirm audit --verify
  $ keryx confirm audit --verify --json

Columns: number, time, what, confirmation, who, from where, facts.
Exit codes: 0 done, 1 failure, or with --verify: an entry is wrong, 2 wrong usage.`;

async function runAudit(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, PAGE]);
	await withKeeper(context, "read", flags, async ({ client, output, timezone }) => {
		if (flags.verify) return verify(context, client, output);
		const entries =
			flags.of === undefined
				? await logOf(client, { newest: "true", limit: String(limit) })
				: (await entriesOf(client, await confirmationId(client, flags.of, "newest"))).slice(-limit);
		if (output.json) return output.value({ entries });
		if (entries.length === 0) return output.note("Nothing has happened yet.");
		printEntries(output, entries, timezone);
	});
}

async function verify(context: CliContext, client: Client, output: Output): Promise<void> {
	const verified = await ask<Verified>(client, "GET", "/audit/verify");
	const { count, head, bad } = verified;
	if (bad) context.exitWith(EXIT.failure);
	if (output.json) return output.value(verified);
	if (bad)
		return output.line(
			`WRONG: entry ${bad.n}: ${bad.problem}. The ${count} before it are as they were written.`,
		);
	output.line(
		`The audit is whole: ${counted(count, "entry", "entries")}${count === 0 ? "" : `, head ${head}`}.`,
	);
}

/** Of one confirmation, oldest first. */
export function entriesOf(client: Client, confirmation: string): Promise<readonly WireEntry[]> {
	return logOf(client, { confirmation, limit: String(PAGE) });
}

async function logOf(client: Client, query: Readonly<Record<string, string>>): Promise<readonly WireEntry[]> {
	const path = `/audit/log?${new URLSearchParams(query)}`;
	return (await ask<{ entries: readonly WireEntry[] }>(client, "GET", path)).entries;
}

export function printEntries(output: Output, entries: readonly WireEntry[], timezone: string): void {
	output.table(
		["n", "time", "what", "confirmation", "who", "from", "facts"],
		entries.map(({ n, at, kind, confirmation, who, via, facts }) => [
			String(n),
			output.isTerminal ? timeOf(at, timezone) : isoOf(at),
			kind,
			confirmation ?? "",
			who,
			via,
			Object.keys(facts).length === 0 ? "" : JSON.stringify(facts),
		]),
		{ elastic: [4, 6] },
	);
}
