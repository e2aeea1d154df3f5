// `keryx confirm list`: waiting and answered requests.

import type { Command } from "commander";
import { CONFIRMATION_STATUSES } from "../../../domain/index.ts";
import type { Client, WireConfirmation } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import { readCount, readOneOf } from "../../io/arguments.ts";
import { cut } from "../../io/width.ts";
import { onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { addDbPath, type DbPathFlag, noteOther, withKeeper } from "../confirmd/reach.ts";
import { ask, PAGE } from "./calls.ts";
import { isoOf, standing } from "./text.ts";

/** Of what a requester says, on a terminal. */
const SHOWN = 120;

interface Flags extends DbPathFlag {
	readonly status?: string;
	readonly limit: string;
}

export function addList(parent: Command, context: CliContext): void {
	const command = parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.confirm.list.about)
		.option("--status <status>", texts.confirm.list.status(CONFIRMATION_STATUSES.join(", ")))
		.option("--limit <n>", texts.confirm.list.limit(PAGE), "20");
	addDbPath(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runList(context, flags));
}

const EXAMPLES = texts.confirm.list.help;

async function runList(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, PAGE]);
	const status =
		flags.status === undefined ? undefined : readOneOf("--status", flags.status, CONFIRMATION_STATUSES);
	await withKeeper(context, "read", flags, async ({ client, output }) => {
		const found =
			status === undefined
				? await pendingFirst(client, limit)
				: (await ask(client, "confirmList", { query: { status, limit } })).confirmations;
		if (output.json) return output.value({ confirmations: found });
		if (found.length === 0) {
			output.note(status === undefined ? texts.confirm.list.nothing : texts.confirm.list.noneWith(status));
			return noteOther(context, flags, output);
		}
		if (output.isTerminal)
			output.table(
				["id", "state", "action", "asked by", "conversation", "says"],
				found.map((each) => [
					each.id,
					standing(each, context.now()),
					onOneLine(each.action),
					each.asked_by,
					each.session_key,
					cut(onOneLine(each.description), SHOWN),
				]),
				{ elastic: [2, 3, 4, 5] },
			);
		else
			output.table(
				[],
				found.map((each) => [
					each.id,
					each.status,
					isoOf(each.expires_at),
					onOneLine(each.action),
					each.asked_by,
					each.session_key,
					onOneLine(each.description),
				]),
			);
		if (found.some(({ status: each }) => each === "pending")) output.note(texts.confirm.list.howTo);
	});
}

/** Waiting ones must not be hidden by newer decided ones. */
async function pendingFirst(client: Client, limit: number): Promise<readonly WireConfirmation[]> {
	const { confirmations: pending } = await ask(client, "confirmList", {
		query: { status: "pending", limit },
	});
	if (pending.length >= limit) return pending;
	const { confirmations: newest } = await ask(client, "confirmList", { query: { limit } });
	const waiting = new Set(pending.map(({ id }) => id));
	return [...pending, ...newest.filter(({ id }) => !waiting.has(id))].slice(0, limit);
}
