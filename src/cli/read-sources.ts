// Reads what `keryx explain` is given: one source, an array of them, or one a line.
import { readFile } from "node:fs/promises";
import { KeryxError } from "../errors.ts";
import type { CliContext } from "./context.ts";

export interface Sources {
	/** What is printed with --json has the same shape. */
	readonly shape: "one" | "array" | "lines";
	/** Not yet checked. */
	readonly sources: readonly unknown[];
}

/** `-` is stdin. */
export async function readSources(path: string, { stdin }: CliContext): Promise<Sources> {
	const name = path === "-" ? "stdin" : path;
	const bytes =
		path === "-" ? await readAll(stdin) : await readFile(path).catch((error) => refuse(path, error));
	const text = decode(bytes, name);
	const trimmed = text.trim();
	if (trimmed === "") throw new KeryxError("input.invalid", `${name} holds no source`);
	const whole = parse(trimmed);
	if (!("problem" in whole)) {
		if (!Array.isArray(whole.value)) return { shape: "one", sources: [whole.value] };
		if (whole.value.length > 0) return { shape: "array", sources: whole.value };
		throw new KeryxError("input.invalid", `${name} holds no source`);
	}
	return { shape: "lines", sources: parseLines(text, name, whole.problem) };
}

/** Text that is no JSON as a whole is taken for JSON lines only if its first line is complete JSON by itself. */
function parseLines(text: string, name: string, problem: string): unknown[] {
	const sources: unknown[] = [];
	for (const [index, line] of text.split("\n").entries()) {
		if (line.trim() === "") continue;
		const parsed = parse(line);
		if (!("problem" in parsed)) sources.push(parsed.value);
		else if (sources.length === 0) throw new KeryxError("input.invalid", `${name} is not JSON: ${problem}`);
		else throw new KeryxError("input.invalid", `${name}, line ${index + 1}, is not JSON: ${parsed.problem}`);
	}
	return sources;
}

function parse(text: string): { value: unknown } | { problem: string } {
	try {
		return { value: JSON.parse(text, exactIds) };
	} catch (error) {
		if (error instanceof SyntaxError) return { problem: error.message };
		throw error;
	}
}

/** An id written as a number may be longer than a number can hold: it is taken as it is written, or two chats were one. */
function exactIds(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
	if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
	return context?.source && /^-?\d+$/.test(context.source) ? context.source : value;
}

async function readAll(stream: CliContext["stdin"]): Promise<Uint8Array> {
	const parts: Uint8Array[] = [];
	for await (const part of stream) parts.push(Buffer.from(part));
	return Buffer.concat(parts);
}

/** Strict: a byte that is replaced could turn one id into another. */
function decode(bytes: Uint8Array, name: string): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch (error) {
		throw new KeryxError("input.invalid", `${name} is not UTF-8 text`, { cause: error });
	}
}

function refuse(path: string, error: NodeJS.ErrnoException): never {
	const reason = error.code === "ENOENT" ? "there is no such file" : error.message;
	throw new KeryxError("input.unreadable", `${path} cannot be read: ${reason}`, { cause: error });
}
