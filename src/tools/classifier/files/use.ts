// The files an invocation reads, lists and writes, by its words.
import { parsedWords } from "../options.ts";
import type { Field, Invocation } from "../types.ts";
import { FILE_PROGRAMS, type FileProgram } from "./programs.ts";
import { SPECIAL } from "./special.ts";

export interface FileUse {
	readonly reads: readonly Field[];
	readonly writes: readonly Field[];
	/** Only their names or metadata are shown. */
	readonly lists: readonly Field[];
	/** Words of a program not known to take files: some may be files. */
	readonly maybe: readonly Field[];
}

const cache = new WeakMap<Invocation, FileUse>();

export function fileUse(invocation: Invocation): FileUse {
	const known = cache.get(invocation);
	if (known) return known;
	const use = withRedirections(invocation, usedByWords(invocation));
	cache.set(invocation, use);
	return use;
}

export function isWriting(operator: string): boolean {
	return operator.includes(">");
}

function withRedirections({ redirections }: Invocation, use: FileUse): FileUse {
	if (redirections.length === 0) return use;
	const reads = [...use.reads];
	const writes = [...use.writes];
	for (const { operator, target } of redirections) {
		// A descriptor, not a file.
		if (operator.endsWith("&") && /^(\d+-?|-)$/.test(target.text)) continue;
		if (isWriting(operator)) writes.push(target);
		if (operator.includes("<")) reads.push(target);
	}
	return { ...use, reads, writes };
}

const NONE: FileUse = { reads: [], writes: [], lists: [], maybe: [] };

function usedByWords(invocation: Invocation): FileUse {
	const { name, args } = invocation;
	if (args.length === 0) return NONE;
	const special = SPECIAL.get(name);
	if (special) return { ...NONE, ...special(invocation) };
	const program = FILE_PROGRAMS.get(name);
	return program ? usedByProgram(args, program) : { ...NONE, maybe: args };
}

function usedByProgram(args: readonly Field[], program: FileProgram): FileUse {
	const words = parsedWords(args, program.takesValue);
	const valuesOf = (options: ReadonlySet<string>): Field[] =>
		options.size === 0
			? []
			: words.values.filter(({ option }) => options.has(option)).map(({ value }) => value);
	const skip = words.values.some(({ option }) => program.instead.has(option)) ? 0 : program.skip;
	const files = words.operands.slice(skip);
	const reads = valuesOf(program.reads);
	const writes = valuesOf(program.writes);
	switch (program.operands) {
		case "read":
			return { ...NONE, reads: [...reads, ...files], writes };
		case "list":
			return { ...NONE, lists: files, reads, writes };
		case "write":
			return { ...NONE, reads, writes: [...writes, ...files] };
		case "move":
			return { ...NONE, reads: [...reads, ...files.slice(0, -1)], writes: [...writes, ...files] };
		case "copy": {
			const into = writes.length > 0 && [...program.writes].some((option) => option === "-t");
			const last = into || files.length < 2 ? [] : files.slice(-1);
			return {
				...NONE,
				reads: [...reads, ...(last.length > 0 ? files.slice(0, -1) : files)],
				writes: [...writes, ...last],
			};
		}
		case "text":
			return { ...NONE, reads, writes };
	}
}
