// `keryx restore`: checks a backup, and replaces the store with it. Only while Keryx is not running.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { homeAt } from "../../app/home.ts";
import { markWalls } from "../../app/leave-home.ts";
import { keryxHome } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { type Restored, restoreBackup } from "../../keeping/index.ts";
import type { CliContext } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { createOutput, type Output } from "../io/output.ts";
import { whileWaiting } from "../io/progress.ts";
import { ago, counted } from "../io/words.ts";
import { texts } from "../texts.ts";
import { contentsInWords, readPassphrase } from "./backup.ts";

interface Flags {
	readonly check?: boolean;
	readonly yes?: boolean;
	readonly passphraseFile?: string;
}

export function addRestore(program: Command, context: CliContext): void {
	program
		.command("restore")
		.allowExcessArguments(false)
		.description(texts.restore.about)
		.argument("<file>", texts.restore.file)
		.option("--check", texts.restore.check)
		.option("--passphrase-file <file>", texts.restore.passphrase)
		.option("--yes", texts.restore.yes)
		.addHelpText("after", EXAMPLES)
		.action((file: string, flags: Flags) => runRestore(context, file, flags));
}

const EXAMPLES = texts.restore.help;

async function runRestore(context: CliContext, file: string, flags: Flags): Promise<void> {
	assertOutside(context);
	// The configuration is not read: it may be what is broken.
	const output = createOutput(context, { json: context.json });
	const { path: home, storePath } = homeAt(keryxHome(context.env));
	const passphrase = await readPassphrase(context, flags.passphraseFile);
	const restore = (checkOnly: boolean) =>
		whileWaiting(output, texts.restore.waiting, () =>
			restoreBackup({ file: resolve(file), home, storePath, passphrase, checkOnly, now: context.now() }),
		);
	if (flags.check !== true && flags.yes !== true && !(await agreed(context, home, file))) return;
	const isNew = !existsSync(storePath);
	const restored = await restore(flags.check === true);
	if (isNew && flags.check !== true) markWalls(home);
	if (output.json) return output.value(toWire(restored));
	tell(output, restored, { file, now: context.now(), checked: flags.check === true });
}

async function agreed(context: CliContext, home: string, file: string): Promise<boolean> {
	if (context.stdin.isTTY !== true)
		throw new KeryxError("argument.invalid", texts.restore.notAsked, { field: "--yes" });
	const terminal = createInterface({
		input: context.stdin as unknown as NodeJS.ReadableStream,
		output: process.stderr,
	});
	try {
		return /^y/i.test(await terminal.question(`${texts.restore.ask(home, file)} (y/N) `));
	} finally {
		terminal.close();
	}
}

function toWire({ madeAt, lastEvent: _events, ...rest }: Restored): object {
	return { ...rest, made_at: new Date(madeAt).toISOString() };
}

function tell(
	output: Output,
	restored: Restored,
	{ file, now, checked }: { readonly file: string; readonly now: number; readonly checked: boolean },
): void {
	const { madeAt, version, schema, kept, doubted, missed, files } = restored;
	const what = contentsInWords(restored);
	const made = new Date(madeAt).toISOString();
	const when = `${made} (${ago(made, now)})`;
	if (checked) {
		output.line(texts.restore.whole(file, what, when, version, schema));
		return;
	}
	output.line(texts.restore.done(what, when));
	if (kept !== null) output.line(texts.restore.kept(kept));
	if (files.length > 0) output.line(texts.restore.files(files.join(", ")));
	if (doubted > 0) output.line(texts.restore.doubted(counted(doubted, "message")));
	if (missed > 0) output.line(texts.restore.missed(counted(missed, "job")));
	output.line(texts.restore.rights);
	if (kept !== null) output.note(texts.restore.audit);
}
