// `keryx backup`: writes the store to one file. A running Keryx does it itself, and keeps answering.

import { resolve } from "node:path";
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { whileWaiting } from "../io/progress.ts";
import { readText } from "../io/read-text.ts";
import { bytesInWords, counted } from "../io/words.ts";
import { texts } from "../texts.ts";

interface Flags {
	readonly passphraseFile?: string;
}

export function addBackup(program: Command, context: CliContext): void {
	program
		.command("backup")
		.allowExcessArguments(false)
		.description(texts.backup.about)
		.argument("<file>", texts.backup.file)
		.option("--passphrase-file <file>", texts.backup.passphrase)
		.addHelpText("after", EXAMPLES)
		.action((file: string, flags: Flags) => runBackup(context, file, flags));
}

const EXAMPLES = texts.backup.help;

async function runBackup(context: CliContext, file: string, flags: Flags): Promise<void> {
	assertOutside(context);
	const passphrase = await readPassphrase(context, flags.passphraseFile);
	await withConnection(context, "change", async ({ client, output }) => {
		const made = await whileWaiting(output, texts.backup.waiting, () =>
			client.makeBackup({ path: resolve(file), ...(passphrase !== null && { passphrase }) }),
		);
		if (output.json) return output.value(made);
		const what = contentsInWords(made);
		const how = made.encrypted ? texts.backup.encrypted : "";
		output.line(texts.backup.done(made.path, bytesInWords(made.bytes), what, how));
		output.note(texts.backup.without);
	});
}

export function contentsInWords(facts: {
	readonly conversations: number;
	readonly messages: number;
}): string {
	return `${counted(facts.conversations, "conversation")} and ${counted(facts.messages, "message")}`;
}

const SHORTEST = 8;

/** The file's first line; null: no file given. */
export async function readPassphrase(context: CliContext, file: string | undefined): Promise<string | null> {
	if (file === undefined) return null;
	const [passphrase = ""] = (await readText(file, context)).split(/\r?\n/, 1);
	if (passphrase.length >= SHORTEST) return passphrase;
	throw new KeryxError("argument.invalid", texts.backup.shortPassphrase(SHORTEST), {
		field: "--passphrase-file",
	});
}
