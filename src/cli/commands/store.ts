// `keryx store`: migrates a store on a server, and moves stores.

import { resolve } from "node:path";
import type { Command } from "commander";
import { homeAt, isOnServer, storeUrlOf } from "../../app/home.ts";
import { tellMigration } from "../../app/report/store-migration.ts";
import { keryxHome } from "../../config/index.ts";
import { migrateStore, moveStore, NO_SECRETS, openStore, shownUrl, systemIds } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { addGroup } from "../io/group.ts";
import { withProgress } from "../io/progress.ts";
import { counted } from "../io/words.ts";
import { texts } from "../texts.ts";

export function addStore(program: Command, context: CliContext): void {
	const store = addGroup(program, "store", texts.store.about).addHelpText("after", texts.store.help);
	store
		.command("migrate")
		.allowExcessArguments(false)
		.description(texts.store.migrate.about)
		.action(() => runMigrate(context));
	store
		.command("move")
		.allowExcessArguments(false)
		.description(texts.store.move.about)
		.argument("<from>", texts.store.move.from)
		.argument("<to>", texts.store.move.to)
		.action((from: string, to: string) => runMove(context, from, to));
}

async function runMigrate(context: CliContext): Promise<void> {
	assertOutside(context);
	const { config, output } = openConfig(context);
	if (!isOnServer(config.values.store)) {
		if (output.json) return output.value({ migrated: false });
		return output.note(texts.store.migrate.file);
	}
	const url = storeUrlOf(homeAt(keryxHome(context.env)), config.values);
	const { from, to } = await migrateStore(url, tellMigration(output));
	if (output.json) return output.value({ migrated: from !== to, from, to });
	output.note(
		from === to ? texts.store.migrate.current(to) : texts.store.migrate.done(from ?? texts.store.none, to),
	);
}

async function runMove(context: CliContext, from: string, to: string): Promise<void> {
	assertOutside(context);
	const { output } = openConfig(context);
	const [source, target] = [from, to].map((given) => storeUrl(context, given)) as [string, string];
	const tables = await withProgress(output, async (tell) => {
		const moved = await moveStore({
			from: source,
			to: target,
			clock: systemClock,
			onProgress: ({ step, table, rows, of }) => tell(texts.store.move.progress(step, table, rows, of)),
		});
		await rebuildSearch(target, (rows) => tell(texts.store.move.search(counted(rows, "row"))));
		return moved;
	});
	if (output.json) return output.value({ from: shownUrl(source), to: shownUrl(target), tables });
	const rows = tables.reduce((sum, table) => sum + table.rows, 0);
	output.note(texts.store.move.done(counted(rows, "row"), counted(tables.length, "table"), shownUrl(target)));
}

/** `sqlite:` alone means the file in the home; any other path is relative to the current folder. */
function storeUrl(context: CliContext, given: string): string {
	if (given === "sqlite:") return homeAt(keryxHome(context.env)).storeUrl;
	return given.startsWith("sqlite:") ? `sqlite:${resolve(given.slice("sqlite:".length))}` : given;
}

/** The index is rebuilt from the messages, not moved. */
async function rebuildSearch(url: string, tell: (rows: number) => void): Promise<void> {
	const store = await openStore({
		url,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	try {
		let rows = 0;
		for (let cursor: string | null = ""; cursor !== null; ) {
			const step: { indexed: number; next: string | null } = await store.rebuildSearch({
				limit: 1000,
				...(cursor !== "" && { cursor }),
			});
			rows += step.indexed;
			tell(rows);
			cursor = step.next;
		}
	} finally {
		await store.close();
	}
}
