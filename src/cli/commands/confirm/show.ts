// `keryx confirm show`: everything about one.
import type { Command } from "commander";
import type { Client, WireConfirmation } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { onOneLine } from "../../io/words.ts";
import { addDbPath, type DbPathFlag, withKeeper } from "../confirmd/reach.ts";
import { entriesOf, printEntries } from "./audit.ts";
import { ask } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { printQuestion, timeOf } from "./text.ts";

export function addShow(parent: Command, context: CliContext): void {
	const command = parent
		.command("show")
		.allowExcessArguments(false)
		.description("everything about one: its exact arguments, who was told, what became of it")
		.argument("<id>", "its id, or the beginning of it");
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string, flags: DbPathFlag) => runShow(context, id, flags));
}

const EXAMPLES = `
What you see is what an approval is bound to: other arguments need another confirmation.

Examples:
  $ keryx confirm show 1f3a90bc77aa
  $ keryx confirm show 1f3 --json

Exit codes: 0 done, 1 failure (no such confirmation), 2 wrong usage or a beginning that fits several.`;

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
	const label = resolved_label === null ? "" : `, who calls itself ${JSON.stringify(resolved_label)}`;
	const receivers = notices.map(({ to, state }) => `${to} (${TOLD[state]})`);
	const rows: (readonly [string, string])[] = [
		["asked at", timeOf(created_at, timezone)],
		["deadline", timeOf(expires_at, timezone)],
	];
	if (resolved_at !== null)
		rows.push(["resolved", `${timeOf(resolved_at, timezone)} by ${resolved_by}${label}`]);
	if (reason !== null) rows.push(["reason", onOneLine(reason)]);
	if (used_at !== null) rows.push(["used", timeOf(used_at, timezone)]);
	if (use_expired_at !== null) rows.push(["not used until", timeOf(use_expired_at, timezone)]);
	rows.push([
		"told",
		receivers.length === 0 ? "nobody: no chat and no webhook is configured" : receivers.join(", "),
	]);
	output.pairs(rows);
}

const TOLD = {
	pending: "not yet",
	sent: "arrived",
	dead: "could not be told",
} as const;
