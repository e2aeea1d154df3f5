// `keryx confirm grants`: standing approvals, and revoking them.

import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Client, WireGrant } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { texts } from "../../texts.ts";
import { addDbPath, type DbPathFlag, noteOther, withKeeper } from "../confirmd/reach.ts";
import { ask } from "./calls.ts";
import { theOne } from "./find.ts";
import { isoOf, timeOf } from "./text.ts";

interface Flags extends DbPathFlag {
	readonly revoke?: string;
}

export function addGrants(parent: Command, context: CliContext): void {
	const command = parent
		.command("grants")
		.allowExcessArguments(false)
		.description(texts.confirm.grants.about)
		.option("--revoke <id>", texts.confirm.grants.revoke);
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runGrants(context, flags));
}

const EXAMPLES = texts.confirm.grants.help;

function runGrants(context: CliContext, flags: Flags): Promise<void> {
	const need = flags.revoke === undefined ? "read" : "change";
	return withKeeper(context, need, flags, async ({ client, output, timezone }) => {
		const { grants } = await ask(client, "grantList");
		if (flags.revoke !== undefined) return revoke(client, output, grants, flags.revoke);
		if (output.json) return output.value({ grants });
		if (grants.length === 0) {
			output.note(texts.confirm.grants.none);
			return noteOther(context, flags, output);
		}
		print(output, grants, context.now(), timezone);
	});
}

async function revoke(
	client: Client,
	output: Output,
	grants: readonly WireGrant[],
	given: string,
): Promise<void> {
	const ids = grants.map(({ id }) => id);
	const id = ids.includes(given) ? given : given === "" ? undefined : theOne(ids, given);
	const grant = grants.find((each) => each.id === id);
	if (!grant)
		throw new KeryxError("store.not_found", texts.confirm.grants.notFound(JSON.stringify(given)), {
			field: "--revoke",
			hint: texts.confirm.grants.listHint,
		});
	if (grant.revoked_at !== null)
		throw new KeryxError("confirmation.settled", texts.confirm.grants.already(grant.id), {
			hint: texts.nothingToDo,
		});
	const answer = await ask(client, "grantRevoke", { id: grant.id });
	if (output.json) return output.value(answer);
	output.line(texts.confirm.grants.done(grant.id, grant.action));
}

function print(output: Output, grants: readonly WireGrant[], now: number, timezone: string): void {
	output.table(
		["id", "state", "scope", "action", "for", "conversation", "until", "given by"],
		grants.map((grant) => [
			grant.id,
			stateOf(grant, now),
			grant.scope,
			grant.pattern === null ? grant.action : `${grant.action} with ${grant.pattern}`,
			grant.asked_by ?? "everybody",
			grant.session_key ?? "",
			grant.until === null ? "" : output.isTerminal ? timeOf(grant.until, timezone) : isoOf(grant.until),
			grant.by,
		]),
		{ elastic: [3, 4, 5, 7] },
	);
}

function stateOf({ until, revoked_at }: WireGrant, now: number): "valid" | "expired" | "revoked" {
	if (revoked_at !== null) return "revoked";
	return until !== null && until * 1000 <= now ? "expired" : "valid";
}
