// `keryx archive`: conversations that retention has archived, and would archive.

import type { Command } from "commander";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { readCount } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { withProgress } from "../io/progress.ts";
import { bytesInWords, counted, onOneLine } from "../io/words.ts";
import { texts } from "../texts.ts";

const MOST_DAYS = 36_500;
const SHOWN = 20;
const LONGEST_TITLE = 60;

interface ListFlags {
	readonly limit: string;
	readonly after?: string;
}

export function addArchive(program: Command, context: CliContext): void {
	const archive = addGroup(program, "archive", texts.archive.about).addHelpText("after", texts.archive.help);
	archive
		.command("list")
		.allowExcessArguments(false)
		.description(texts.archive.list.about)
		.option("--limit <n>", texts.sessions.list.limit(200), "50")
		.option("--after <name>", texts.archive.list.after)
		.action((flags: ListFlags) => runList(context, flags));
	archive
		.command("show")
		.allowExcessArguments(false)
		.description(texts.archive.show.about)
		.argument("<archive>", texts.archive.show.name)
		.action((name: string) => runShow(context, name));
	archive
		.command("restore")
		.allowExcessArguments(false)
		.description(texts.archive.restore.about)
		.argument("<archive>", texts.archive.show.name)
		.action((name: string) => runRestore(context, name));
	archive
		.command("run")
		.allowExcessArguments(false)
		.description(texts.archive.run.about)
		.option("--dry-run", texts.archive.run.dry)
		.option("--days <n>", texts.archive.run.days)
		.action((flags: { readonly dryRun?: boolean; readonly days?: string }) => runNow(context, flags));
}

function runList(context: CliContext, { limit, after }: ListFlags): Promise<void> {
	return withConnection(context, "read", async ({ client, output }) => {
		const { archives, next } = await client.archives({
			limit: readCount("--limit", limit, [1, 200]),
			...(after !== undefined && { after }),
		});
		if (output.json) return output.value({ archives, next });
		if (archives.length === 0) return output.note(texts.archive.list.none);
		output.table(
			["conversation", "archived", "last used", "size", "about"],
			archives.map(({ conversation, archived_at, last_activity_at, bytes, title, problem }) => [
				conversation,
				archived_at.slice(0, 10),
				last_activity_at?.slice(0, 10) ?? "",
				bytesInWords(bytes),
				problem === null ? onOneLine(title).slice(0, LONGEST_TITLE) : texts.archive.list.damaged,
			]),
			{ elastic: [4] },
		);
		if (next !== null) output.note(texts.archive.list.more(next));
	});
}

function runShow(context: CliContext, name: string): Promise<void> {
	return withConnection(context, "read", async ({ client, output }) => {
		const shown = await client.archive({ archive: name, limit: 200 });
		if (output.json) return output.value(shown);
		output.heading(`${shown.archive.title} (${shown.archive.key})`);
		for (const { at, role, text } of shown.messages) {
			output.line();
			output.line(`${at}  ${role}`);
			output.text(text);
		}
		if (shown.more) output.note(texts.archive.show.more);
	});
}

function runRestore(context: CliContext, name: string): Promise<void> {
	assertOutside(context);
	return withConnection(context, "change", async ({ client, output }) => {
		const { conversation, messages } = await client.restoreArchive({ archive: name });
		if (output.json) return output.value({ conversation, messages });
		output.line(
			messages === 0
				? texts.archive.restore.present(conversation)
				: texts.archive.restore.done(conversation, counted(messages, "message")),
		);
	});
}

async function runNow(
	context: CliContext,
	flags: { readonly dryRun?: boolean; readonly days?: string },
): Promise<void> {
	const days = flags.days === undefined ? {} : { days: readCount("--days", flags.days, [1, MOST_DAYS]) };
	if (flags.dryRun !== true) assertOutside(context);
	await withConnection(context, flags.dryRun ? "read" : "change", async ({ client, output }) => {
		if (flags.dryRun) {
			const plan = await client.retentionPlan(days);
			if (output.json) return output.value(plan);
			output.line(texts.archive.run.planned(counted(plan.count, "conversation"), plan.before));
			for (const id of plan.first.slice(0, SHOWN)) output.line(texts.archive.run.next(id));
			if (plan.count > SHOWN) output.line(texts.archive.run.more(plan.count - SHOWN));
			return;
		}
		const total = { archived: 0, ended: 0, kept: 0, failed: 0, problem: null as string | null };
		await withProgress(output, async (tell) => {
			for (let more = true; more; ) {
				const pass = await client.runRetention(days);
				total.archived += pass.archived;
				total.ended += pass.ended;
				total.kept = pass.kept;
				total.failed = pass.failed;
				total.problem = pass.problem;
				tell(texts.archive.run.progress(counted(total.archived, "conversation")));
				// Kept ones come again: without progress this would never end.
				more = pass.more && pass.archived + pass.ended > 0;
			}
		});
		if (output.json) {
			output.value(total);
			if (total.failed > 0) context.exitWith(1);
			return;
		}
		output.line(texts.archive.run.done(counted(total.archived, "conversation")));
		if (total.ended > 0) output.line(texts.archive.run.ended(counted(total.ended, "conversation")));
		if (total.failed > 0) {
			output.line(texts.archive.run.failed(counted(total.failed, "conversation"), total.problem));
			context.exitWith(1);
		}
		if (total.kept > 0) output.line(texts.archive.run.kept(counted(total.kept, "conversation")));
	});
}
