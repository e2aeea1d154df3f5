// `keryx sessions import`: reads an export from a file or standard input as a stream, so its size does not matter.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { withProgress } from "../../io/progress.ts";
import { unreadable } from "../../io/read-text.ts";
import { bytesInWords, counted, listed } from "../../io/words.ts";
import { texts } from "../../texts.ts";

export function addImport(parent: Command, context: CliContext): void {
	parent
		.command("import")
		.allowExcessArguments(false)
		.description(texts.sessions.import.about)
		.argument("<file>", texts.sessions.import.file)
		.option("--origin <name>", texts.sessions.import.origin, "export")
		.addHelpText("after", EXAMPLES)
		.action((file: string, flags: { readonly origin: string }) => runImport(context, file, flags.origin));
}

const EXAMPLES = texts.sessions.import.help;

async function runImport(context: CliContext, file: string, origin: string): Promise<void> {
	const size = file === "-" ? undefined : await sizeOf(file);
	const bytes = file === "-" ? context.stdin : createReadStream(file);
	await withConnection(context, "change", async ({ client, output }) => {
		const counts = await withProgress(output, (tell) => client.import(counting(bytes, size, tell), origin));
		if (output.json) output.value(counts);
		else printCounts(output, counts);
	});
}

/** Checked first: a folder or a missing file is reported by name. */
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
		tell(
			texts.sessions.import.progress(
				bytesInWords(read),
				size ? texts.sessions.import.of(bytesInWords(size)) : "",
			),
		);
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
	if (present > 0) output.line(texts.sessions.import.present(counted(present, "message")));
	if (left_out > 0) output.line(texts.sessions.import.leftOut(counted(left_out, "message")));
}
