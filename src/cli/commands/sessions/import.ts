import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { withProgress } from "../../io/progress.ts";
import { unreadable } from "../../io/read-text.ts";
import { bytesInWords, counted, listed } from "../../io/words.ts";

export function addImport(parent: Command, context: CliContext): void {
	parent
		.command("import")
		.allowExcessArguments(false)
		.description("take an export back; what is there already is passed over")
		.argument("<file>", "what `keryx sessions export` wrote; - reads stdin")
		.option("--origin <name>", "where it comes from, in a word: remembered with what is imported", "export")
		.addHelpText("after", EXAMPLES)
		.action((file: string, flags: { readonly origin: string }) => runImport(context, file, flags.origin));
}

const EXAMPLES = `
An import that was cut off is run again. The first wrong line ends it with its number; the
conversations before it are there.

Examples:
  $ keryx sessions import keryx.jsonl
  $ gunzip < keryx.jsonl.gz | keryx sessions import - --origin laptop

Exit codes: 0 done, 1 failure, 2 wrong usage, a file that cannot be read, or a line that is wrong.`;

async function runImport(context: CliContext, file: string, origin: string): Promise<void> {
	const size = file === "-" ? undefined : await sizeOf(file);
	const bytes = file === "-" ? context.stdin : createReadStream(file);
	await withConnection(context, "change", async ({ client, output }) => {
		const counts = await withProgress(output, (tell) => client.import(counting(bytes, size, tell), origin));
		if (output.json) output.value(counts);
		else printCounts(output, counts);
	});
}

/** Asked before anything is begun: a folder, or nothing at all, is told by its name. */
async function sizeOf(file: string): Promise<number> {
	const found = await stat(file).catch((error: NodeJS.ErrnoException) => unreadable(file, error));
	if (found.isDirectory()) unreadable(file, new Error("it is a folder"));
	return found.size;
}

async function* counting(
	chunks: AsyncIterable<Uint8Array | string>,
	size: number | undefined,
	tell: (text: string) => void,
): AsyncGenerator<Uint8Array> {
	let read = 0;
	for await (const chunk of chunks) {
		const bytes = Buffer.from(chunk);
		read += bytes.length;
		tell(`imported ${bytesInWords(read)}${size ? ` of ${bytesInWords(size)}` : ""}`);
		yield bytes;
	}
}

function printCounts(output: Output, counts: Readonly<Record<string, number>>): void {
	const { conversations = 0, sessions = 0, messages = 0, blobs = 0, present = 0, left_out = 0 } = counts;
	const added = [
		counted(conversations, "conversation"),
		counted(sessions, "session"),
		counted(messages, "message"),
		...(blobs > 0 ? [counted(blobs, "attachment")] : []),
	];
	output.line(`Added: ${listed(added, "and")}.`);
	if (present > 0) output.line(`There already: ${counted(present, "message")}.`);
	if (left_out > 0)
		output.line(`Left out, since their sessions have gone on here: ${counted(left_out, "message")}.`);
}
