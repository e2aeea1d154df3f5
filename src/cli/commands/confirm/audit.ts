// `keryx confirm audit`: every change of state, who, from where and why; and whether the record is intact.

import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Client, ConfirmQuery, WireAuditEntry } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { readCount } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
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
		.description(texts.confirm.audit.about)
		.option("--limit <n>", texts.confirm.audit.limit(PAGE), "50")
		.option("--of <id>", texts.confirm.audit.of)
		.option("--verify", texts.confirm.audit.verify)
		.option("--accept", texts.confirm.audit.accept)
		.option("--yes", texts.confirm.audit.yes);
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runAudit(context, flags));
}

const EXAMPLES = texts.confirm.audit.help;

async function runAudit(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, PAGE]);
	if (flags.accept) return accept(context, flags);
	await withKeeper(context, "read", flags, async ({ client, output, timezone }) => {
		if (flags.verify) return verify(context, client, output);
		const entries =
			flags.of === undefined
				? await logOf(client, { newest: true, limit })
				: (await entriesOf(client, await confirmationId(client, flags.of, "newest"))).slice(-limit);
		if (output.json) return output.value({ entries });
		if (entries.length === 0) return output.note(texts.confirm.audit.none);
		printEntries(output, entries, timezone);
	});
}

async function verify(context: CliContext, client: Client, output: Output): Promise<void> {
	const verified = await ask(client, "auditVerify");
	const { count, head, bad } = verified;
	if (bad) context.exitWith(EXIT.failure);
	if (output.json) return output.value(verified);
	if (bad) return output.line(texts.confirm.audit.wrong(bad.n, bad.problem, count));
	output.line(
		texts.confirm.audit.whole(
			counted(count, "entry", "entries"),
			count === 0 ? "" : texts.confirm.audit.head(head),
		),
	);
}

async function accept(context: CliContext, flags: Flags): Promise<void> {
	assertOutside(context);
	if (!flags.yes && !canAsk(context))
		throw new KeryxError("usage.invalid", texts.confirm.yesRequired, {
			hint: texts.confirm.audit.yesHint,
		});
	await withKeeper(context, "change", flags, async ({ client, output }) => {
		const { bad } = await ask(client, "auditVerify");
		if (bad && !output.json) output.line(texts.confirm.audit.entry(bad.n, bad.problem));
		if (bad && !flags.yes) await assertYes(context, texts.confirm.audit.question, texts.confirm.audit.kept);
		const { count } = await ask(client, "auditAccept", { body: {} });
		if (output.json) return output.value({ count });
		output.line(texts.confirm.audit.accepted(counted(count, "entry", "entries")));
	});
}

/** For one confirmation, oldest first. */
export function entriesOf(client: Client, confirmation: string): Promise<readonly WireAuditEntry[]> {
	return logOf(client, { confirmation, limit: PAGE });
}

async function logOf(client: Client, query: ConfirmQuery<"auditLog">): Promise<readonly WireAuditEntry[]> {
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
