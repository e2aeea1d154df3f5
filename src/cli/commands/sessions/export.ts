import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Client } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { readOneOf } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { withProgress } from "../../io/progress.ts";
import { bytesInWords } from "../../io/words.ts";
import { namedConversation } from "../../named-conversation.ts";

const FORMATS = ["jsonl", "markdown"] as const;

interface Flags {
	readonly session?: string;
	readonly conversation?: string;
	readonly format: string;
	readonly output?: string;
}

export function addExport(parent: Command, context: CliContext): void {
	parent
		.command("export")
		.allowExcessArguments(false)
		.description("one session, one conversation or everything, to read or to import elsewhere")
		.option("--session <id>", "only this session")
		.option("--conversation <id|key>", "only this conversation")
		.option("--format <format>", "jsonl, which can be imported again, or markdown", "jsonl")
		.option("-o, --output <file>", "write it here; without, to stdout")
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runExport(context, flags));
}

const EXAMPLES = `
The file is private (0600) and there only when it is complete: it is written beside, then renamed.

Examples:
  $ keryx sessions export -o keryx.jsonl
  $ keryx sessions export --session 20260310_120000_1f3a90bc --format markdown | less
  $ keryx sessions export | gzip > keryx.jsonl.gz

Exit codes: 0 done, 1 failure (no such session, no space), 2 wrong usage.`;

async function runExport(context: CliContext, flags: Flags): Promise<void> {
	const format = readOneOf("--format", flags.format, FORMATS);
	if (flags.session !== undefined && flags.conversation !== undefined)
		throw new KeryxError("usage.invalid", "--session and --conversation exclude each other");
	if (context.json && format === "markdown" && flags.output === undefined)
		throw new KeryxError("usage.invalid", "--json and --format markdown exclude each other without -o");
	await withConnection(context, "read", async ({ client, output }) => {
		const within = await exportScope(client, flags);
		const chunks = client.export({ format, ...within });
		const bytes = await withProgress(output, async (tell) => {
			let sum = 0;
			const written = (chunk: Uint8Array): void => {
				sum += chunk.length;
				tell(`exported ${bytesInWords(sum)}`);
			};
			if (flags.output === undefined) await print(output, chunks, written);
			else await writePrivately(flags.output, chunks, written);
			return sum;
		});
		if (flags.output === undefined) return;
		if (output.json) output.value({ file: flags.output, bytes });
		else output.line(`${flags.output}: ${bytesInWords(bytes)}`);
	});
}

async function print(
	output: Output,
	chunks: AsyncIterable<Uint8Array>,
	written: (chunk: Uint8Array) => void,
): Promise<void> {
	const decoder = new TextDecoder();
	for await (const chunk of chunks) {
		output.raw(decoder.decode(chunk, { stream: true }));
		written(chunk);
	}
}

async function exportScope(
	client: Client,
	{ session, conversation }: Flags,
): Promise<{ session: string } | { conversation: string } | Record<never, never>> {
	if (session !== undefined) return { session };
	if (conversation === undefined) return {};
	return { conversation: (await namedConversation(client, conversation)).id };
}

/** The file is there whole or not at all, also when the machine dies. */
async function writePrivately(
	file: string,
	chunks: AsyncIterable<Uint8Array>,
	written: (chunk: Uint8Array) => void,
): Promise<void> {
	const partial = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString("hex")}.part`);
	const handle = await writing(file, open(partial, "wx", 0o600));
	try {
		try {
			for await (const chunk of chunks) {
				await writing(file, writeAll(handle, chunk));
				written(chunk);
			}
			await writing(file, handle.sync());
		} finally {
			await handle.close();
		}
		await writing(file, rename(partial, file));
	} catch (error) {
		await rm(partial, { force: true });
		throw error;
	}
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
	for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}

async function writing<Value>(file: string, work: Promise<Value>): Promise<Value> {
	try {
		return await work;
	} catch (cause) {
		throw new KeryxError("output.failed", `${file} cannot be written: ${(cause as Error).message}`, {
			cause,
		});
	}
}
