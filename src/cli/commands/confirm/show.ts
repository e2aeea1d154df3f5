// `keryx confirm show`: everything about one.

import type { Command } from "commander";
import type { Client, WireConfirmation } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { addDbPath, type DbPathFlag, withKeeper } from "../confirmd/reach.ts";
import { entriesOf, printEntries } from "./audit.ts";
import { ask } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { printQuestion, timeOf } from "./text.ts";

export function addShow(parent: Command, context: CliContext): void {
	const command = parent
		.command("show")
		.allowExcessArguments(false)
		.description(texts.confirm.show.about)
		.argument("<id>", texts.confirm.id);
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string, flags: DbPathFlag) => runShow(context, id, flags));
}

const EXAMPLES = texts.confirm.show.help;

function runShow(context: CliContext, given: string, flags: DbPathFlag): Promise<void> {
	return withKeeper(context, "read", flags, async ({ client, output, timezone }) => {
		const id = await confirmationId(client, given, "newest");
		const confirmation = await confirmationOf(client, id);
		const audit = await entriesOf(client, id);
		if (output.json) return output.value({ confirmation, audit });
		printQuestion(output, confirmation, context.now());
		printOutcome(output, confirmation, timezone);
		output.line();
		output.heading("Audit");
		printEntries(output, audit, timezone);
	});
}

export function confirmationOf(client: Client, id: string): Promise<WireConfirmation> {
	return ask(client, "confirmRead", { id });
}

function printOutcome(output: Output, confirmation: WireConfirmation, timezone: string): void {
	const {
		created_at,
		expires_at,
		resolved_at,
		resolved_by,
		resolved_label,
		reason,
		notices = [],
	} = confirmation;
	const { used_at, use_expired_at } = confirmation;
	const label = resolved_label === null ? "" : texts.confirm.show.label(JSON.stringify(resolved_label));
	const receivers = notices.map(({ to, state }) => `${to} (${NOTICE_STATES[state]})`);
	const rows: (readonly [string, string])[] = [
		["asked at", timeOf(created_at, timezone)],
		["deadline", timeOf(expires_at, timezone)],
	];
	if (resolved_at !== null)
		rows.push(["resolved", `${timeOf(resolved_at, timezone)} by ${resolved_by}${label}`]);
	if (reason !== null) rows.push(["reason", onOneLine(reason)]);
	if (used_at !== null) rows.push(["used", timeOf(used_at, timezone)]);
	if (use_expired_at !== null) rows.push([texts.confirm.show.unused, timeOf(use_expired_at, timezone)]);
	rows.push(["told", receivers.length === 0 ? texts.confirm.show.nobody : receivers.join(", ")]);
	output.pairs(rows);
}

const NOTICE_STATES = {
	pending: "not yet",
	sent: "arrived",
	dead: texts.confirm.show.couldNot,
} as const;
