// `keryx sessions export`: a session, a conversation or everything, as JSONL or Markdown, to a file or standard output.
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
import { texts } from "../../texts.ts";

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
		.description(texts.sessions.export.about)
		.option("--session <id>", texts.sessions.export.session)
		.option("--conversation <id|key>", texts.sessions.export.conversation)
		.option("--format <format>", texts.sessions.export.format, "jsonl")
		.option("-o, --output <file>", texts.sessions.export.output)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runExport(context, flags));
}

const EXAMPLES = texts.sessions.export.help;

async function runExport(context: CliContext, flags: Flags): Promise<void> {
	const format = readOneOf("--format", flags.format, FORMATS);
	if (flags.session !== undefined && flags.conversation !== undefined)
		throw new KeryxError("usage.invalid", texts.sessions.export.either);
	if (context.json && format === "markdown" && flags.output === undefined)
		throw new KeryxError("usage.invalid", texts.sessions.export.jsonMarkdown);
	await withConnection(context, "read", async ({ client, output }) => {
		const within = await exportScope(client, flags);
		const chunks = client.export({ format, ...within });
		const bytes = await withProgress(output, async (tell) => {
			let sum = 0;
			const written = (chunk: Uint8Array): void => {
				sum += chunk.length;
				tell(texts.sessions.export.progress(bytesInWords(sum)));
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

/** The file is complete or absent, even if the machine dies. */
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
		throw new KeryxError("output.failed", texts.sessions.export.failed(file, (cause as Error).message), {
			cause,
		});
	}
}
