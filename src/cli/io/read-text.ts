// Reading what a command is given as a file, or on stdin.

import { readFile } from "node:fs/promises";
import { KeryxError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { texts } from "../texts.ts";

/** The whole text; `-` is stdin. */
export async function readText(path: string, { stdin }: Pick<CliContext, "stdin">): Promise<string> {
	const bytes =
		path === "-" ? await readAll(stdin) : await readFile(path).catch((error) => unreadable(path, error));
	return decode(bytes, path === "-" ? "stdin" : path);
}

export function unreadable(path: string, error: NodeJS.ErrnoException): never {
	const reason = error.code === "ENOENT" ? texts.arguments.noFile : error.message;
	throw new KeryxError("input.unreadable", texts.arguments.unreadable(path, reason), { cause: error });
}

async function readAll(stream: CliContext["stdin"]): Promise<Uint8Array> {
	const parts: Uint8Array[] = [];
	for await (const part of stream) parts.push(Buffer.from(part));
	return Buffer.concat(parts);
}

/** Strict: a replaced byte could turn one id into another. */
function decode(bytes: Uint8Array, name: string): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch (error) {
		throw new KeryxError("input.invalid", texts.arguments.notText(name), { cause: error });
	}
}
