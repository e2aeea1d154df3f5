// `keryx confirm audit`: every change of state, who, from where and why; and whether the record is as it was written.
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Client, WireAuditEntry } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { readCount } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { counted } from "../../io/words.ts";
import { addDbPath, type DbPathFlag, withKeeper } from "../confirmd/reach.ts";
import { assertYes, canAsk } from "./asking.ts";
import { ask, PAGE } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { isoOf, timeOf } from "./text.ts";

interface Flags extends DbPathFlag {
	readonly limit: string;
	readonly of?: string;
	readonly verify?: boolean;
	readonly accept?: boolean;
	readonly yes?: boolean;
}

export function addAudit(parent: Command, context: CliContext): void {
	const command = parent
		.command("audit")
		.allowExcessArguments(false)
		.description("every change of state, and whether the record is whole")
		.option("--limit <n>", `the last so many entries, 1 to ${PAGE}`, "50")
		.option("--of <id>", "only those of this confirmation")
		.option("--verify", "look through the whole chain instead")
		.option("--accept", "after you restored a backup: take the audit as it is from now on")
		.option("--yes", "with --accept: do not ask again; needed where nobody can be asked");
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runAudit(context, flags));
}

const EXAMPLES = `
Every entry holds a code over itself and the one before, made with a key that is not in the store: an altered
entry, a missing one and a cut tail show. A witness beside the key (audit.witness) holds the number of entries and
the last code, so that an audit that was deleted or replaced as a whole shows, too. Keep the head that --verify
prints elsewhere: it proves later that nothing before it was replaced, even by somebody who has the key.

After you restored an older backup, the witness has seen more than the store holds. --accept says that this is
meant; it is an entry itself.

Examples:
  $ keryx confirm audit
  $ keryx confirm audit --of 1f3a90bc77aa
  $ keryx confirm audit --verify
  $ keryx confirm audit --verify --json
  $ keryx confirm audit --accept

Columns: number, time, what, confirmation, who, from where, facts.
Exit codes: 0 done, 1 failure, or with --verify: an entry is wrong, 2 wrong usage.`;

async function runAudit(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, PAGE]);
	if (flags.accept) return accept(context, flags);
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
	const verified = await ask(client, "auditVerify");
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

async function accept(context: CliContext, flags: Flags): Promise<void> {
	assertOutside(context);
	if (!flags.yes && !canAsk(context))
		throw new KeryxError("usage.invalid", "--yes must be given where nobody can be asked", {
			hint: "look at it with `keryx confirm audit --verify`, then give --yes",
		});
	await withKeeper(context, "change", flags, async ({ client, output }) => {
		const { bad } = await ask(client, "auditVerify");
		if (bad && !output.json) output.line(`Entry ${bad.n}: ${bad.problem}.`);
		if (bad && !flags.yes)
			await assertYes(
				context,
				"Take the audit as it is?",
				"the audit stays as it was, and so does its alarm",
			);
		const { count } = await ask(client, "auditAccept", { body: {} });
		if (output.json) return output.value({ count });
		output.line(`The audit is taken as it is: ${counted(count, "entry", "entries")}, this one among them.`);
	});
}

/** Of one confirmation, oldest first. */
export function entriesOf(client: Client, confirmation: string): Promise<readonly WireAuditEntry[]> {
	return logOf(client, { confirmation, limit: String(PAGE) });
}

async function logOf(
	client: Client,
	query: Readonly<Record<string, string>>,
): Promise<readonly WireAuditEntry[]> {
	return (await ask(client, "auditLog", { query })).entries;
}

export function printEntries(output: Output, entries: readonly WireAuditEntry[], timezone: string): void {
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
