// read_file, list_files and find_in_files. Results are limited, and each says what was left out and how to get it.
import { z } from "zod";
import { bytesInWords, firstOf } from "../../domain/index.ts";
import { defineTool, type Tool, type ToolResult } from "../types.ts";
import { globMatcher, namePattern } from "./glob.ts";
import { type FileToolsOptions, type HelperAnswer, problemOf, runHelper } from "./helper.ts";
import { fileQuestion, plainPath } from "./question.ts";
import { FIND, LIST, READ, SAMPLE_BYTES } from "./scripts.ts";
import { decoded, type Encoding, encodingOf, kindOfBinary } from "./text.ts";

const MOST_CHARACTERS = 50_000;
const LONGEST_LINE = 2000;
const LONGEST_MATCH = 300;
/** A helper's maximum output, for names or lines. */
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_DEPTH = 64;

export const pathSchema = z
	.string()
	.min(1)
	.max(4096)
	.refine((text) => !text.includes("\0"), "must not contain a NUL character");
const globSchema = z
	.string()
	.min(1)
	.max(500)
	.refine((text) => !text.includes("\0"), "must not contain a NUL character");

const readInput = z.object({
	path: pathSchema.describe("in your workspace, or absolute"),
	offset: z.int().min(1).default(1).describe("first line, counted from 1"),
	limit: z.int().min(1).max(5000).default(1000).describe("number of lines"),
});

export function createReadTool(options: FileToolsOptions): Tool {
	return defineTool({
		name: "read_file",
		description:
			"Read a text file. Shows numbered lines, from offset on, at most limit of them. Says when a file is binary or not UTF-8.",
		input: readInput,
		repeatable: true,
		confirmation: ({ path }, caller) => fileQuestion(options, { like: "cat", path }, caller),
		async run({ path, offset, limit }, context) {
			const args = [plainPath(path), String(offset), String(limit), String(MOST_CHARACTERS * 4)];
			const { answer, stored } = await runHelper(
				options,
				{ shown: `read_file ${path}`, script: READ, args },
				context,
			);
			if ("problem" in answer) return problemOf(path, answer.problem, stored);
			return { ...readText(path, answer, { offset, limit }, options.processes), stored };
		},
	});
}

/** Secrets are hidden before a text is cut: part of one would remain otherwise. */
type Hiding = Pick<FileToolsOptions["processes"], "hide" | "hideLines">;

interface Window {
	readonly offset: number;
	readonly limit: number;
}

/** The whole file, or its start, the number of lines, and the requested lines. */
function readText(
	path: string,
	{ facts, data }: HelperAnswer,
	{ offset, limit }: Window,
	hiding: Hiding,
): ToolResult {
	const [kind, bytes, count] = facts;
	const size = Number(bytes);
	const isWhole = kind === "whole";
	const sample = isWhole ? data : wholeCharacters(data.subarray(0, SAMPLE_BYTES));
	const encoding = encodingOf(sample);
	if (encoding === null) {
		const binary = kindOfBinary(data);
		return problemOf(
			path,
			`it is a binary file${binary === null ? "" : `: ${binary}`}, ${bytesInWords(size)}. Use the terminal to look into it, or attach to send it.`,
		);
	}
	if (!isWhole && encoding.startsWith("utf-16"))
		return problemOf(
			path,
			`it is ${encoding}, ${bytesInWords(size)}: too large to show. Convert it in the terminal (iconv).`,
		);
	if (size === 0) return { content: `${path} is empty.` };
	const given = hiding.hideLines(
		isWhole ? decoded(data, encoding) : decoded(data.subarray(SAMPLE_BYTES), plain(encoding)),
	);
	const lines = given.split(/\r\n|\n/);
	if (lines.at(-1) === "") lines.pop();
	const total = isWhole ? lines.length : Number(count);
	const asked = isWhole ? lines.slice(offset - 1, offset - 1 + limit) : lines;
	if (asked.length === 0)
		return problemOf(path, `it has ${total} lines, so there is nothing at offset ${offset}.`);
	const shown = numbered(asked, offset, hiding);
	const last = offset + shown.length - 1;
	const notes = [
		...(encoding === "utf-8" ? [] : [`encoding ${encoding}`]),
		...(given.includes("\r\n") ? ["CRLF line endings"] : []),
		...(offset > 1 || last < total
			? [`lines ${offset} to ${last} of ${total}${last < total ? `; continue with offset ${last + 1}` : ""}`]
			: []),
	];
	return { content: `${shown.join("\n")}${notes.length === 0 ? "" : `\n[${notes.join("; ")}]`}` };
}

/** Only the whole file has a byte order mark. */
function plain(encoding: Encoding): Encoding {
	return encoding === "utf-8 with BOM" ? "utf-8" : encoding;
}

/** Without an incomplete character at the cut. */
function wholeCharacters(bytes: Buffer): Buffer {
	let end = bytes.length;
	for (let back = 1; back <= 3; back++) {
		const byte = bytes[bytes.length - back] ?? 0;
		if (byte < 0x80) break;
		if (byte >= 0xc0) {
			end = bytes.length - back;
			break;
		}
	}
	return bytes.subarray(0, end);
}

/** As many as fit, at least one. */
function numbered(lines: readonly string[], first: number, hiding: Hiding): string[] {
	const shown: string[] = [];
	let length = 0;
	for (const [index, line] of lines.entries()) {
		const text = `${String(first + index).padStart(6)}\t${cut(line, LONGEST_LINE, hiding)}`;
		length += text.length + 1;
		if (index > 0 && length > MOST_CHARACTERS) break;
		shown.push(text);
	}
	return shown;
}

function cut(whole: string, most: number, hiding: Hiding): string {
	const line = whole.length <= most ? whole : hiding.hide(whole);
	return line.length <= most
		? line
		: `${firstOf(line, most)} [... ${line.length - most} characters left out]`;
}

const listInput = z.object({
	path: pathSchema.default(".").describe("a folder"),
	pattern: globSchema.optional().describe("only these, as *.ts or src/**/*.test.ts, in all folders below"),
	depth: z.int().min(1).max(MOST_DEPTH).optional().describe("folders deep; default 1, with a pattern all"),
	limit: z.int().min(1).max(5000).default(500).describe("number of entries"),
});

export function createListTool(options: FileToolsOptions): Tool {
	return defineTool({
		name: "list_files",
		description:
			"List a folder: names, sizes, and where links lead. Does not look into .git and node_modules unless path names one.",
		input: listInput,
		repeatable: true,
		confirmation: ({ path }, caller) => fileQuestion(options, { like: "ls", path }, caller),
		async run({ path, pattern, depth, limit }, context) {
			const deep = depth ?? (pattern === undefined ? 1 : MOST_DEPTH);
			const args = [plainPath(path), String(deep), namePattern(pattern), String(MOST_BYTES)];
			const { answer, stored } = await runHelper(
				options,
				{ shown: `list_files ${path}`, script: LIST, args },
				context,
			);
			if ("problem" in answer) return problemOf(path, answer.problem, stored);
			const isFit = pathFilter(path, pattern);
			const entries = entriesIn(answer.data).filter((entry) => isFit(entry.path));
			const isCut = answer.data.length >= MOST_BYTES;
			const shown = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, limit);
			const left = entries.length - shown.length;
			const notes = [
				...(left > 0
					? [`${left} more${isCut ? " at least" : ""} left out; give a pattern or a larger limit`]
					: []),
				...(isCut && left === 0 ? ["not all folders were looked into; name one in path"] : []),
			];
			const lines = shown.map(inOneLine);
			if (lines.length === 0)
				lines.push(pattern === undefined ? `${path} is empty.` : `Nothing in ${path} fits ${pattern}.`);
			return { content: [...lines, ...notes.map((note) => `[${note}]`)].join("\n"), stored };
		},
	});
}

interface Entry {
	readonly kind: string;
	readonly size: string;
	readonly path: string;
	readonly target: string;
}

/** The last one may be cut off. */
function entriesIn(data: Buffer): Entry[] {
	const fields = data.toString().split("\0").slice(0, -1);
	const entries: Entry[] = [];
	for (let at = 0; at + 1 < fields.length; at += 2) {
		const [, kind = "", size = "", path = ""] = /^(\S) (\S+) (.*)$/s.exec(fields[at] as string) ?? [];
		if (path !== "") entries.push({ kind, size, path: withoutDots(path), target: fields[at + 1] as string });
	}
	return entries;
}

function inOneLine({ kind, size, path, target }: Entry): string {
	const name = oneLine(path);
	switch (kind) {
		case "d":
			return `${name}/`;
		case "l":
			return `${name} -> ${oneLine(target)}`;
		case "f":
			return size === "-" ? name : `${name} (${bytesInWords(Number(size))})`;
		default:
			return `${name} (not a regular file)`;
	}
}

/** A name may contain anything, including a line break. */
function oneLine(name: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
	return /[\0-\x1f\x7f]/.test(name) ? JSON.stringify(name) : name;
}

/** Patterns are compared with the path from the workspace, and from the requested folder. */
function pathFilter(folder: string, pattern: string | undefined): (path: string) => boolean {
	if (pattern === undefined) return () => true;
	const fits = globMatcher(pattern);
	const start = `${folder.replace(/^\.\/+/, "").replace(/\/+$/, "")}/`;
	return (path) => fits(path) || (path.startsWith(start) && fits(path.slice(start.length)));
}

const findInput = z.object({
	pattern: z
		.string()
		.min(1)
		.max(2000)
		.refine((text) => !/[\0\n]/.test(text), "must be one line")
		.describe("an extended regular expression (grep -E)"),
	path: pathSchema.default(".").describe("a folder, or one file"),
	files: globSchema.optional().describe("only in these, as *.ts or src/**/*.md"),
	literal: z.boolean().default(false).describe("the pattern is plain text"),
	ignore_case: z.boolean().default(false),
	context: z.int().min(0).max(10).default(0).describe("lines to show before and after"),
	limit: z.int().min(1).max(1000).default(200).describe("number of lines to show"),
});

export function createFindTool(options: FileToolsOptions): Tool {
	return defineTool({
		name: "find_in_files",
		description:
			"Find lines in files, with path and line number. Skips binary files, .git and node_modules, and follows no links.",
		input: findInput,
		repeatable: true,
		confirmation: ({ path }, caller) => fileQuestion(options, { like: "grep -r x", path }, caller),
		async run({ pattern, path, files, literal, ignore_case, context: around, limit }, context) {
			const flags = [
				literal ? "-F" : "-E",
				...(ignore_case ? ["-i"] : []),
				...(around > 0 ? ["-C", `${around}`] : []),
			];
			const args = [plainPath(path), pattern, namePattern(files), flags.join(" "), String(MOST_BYTES)];
			const { answer, stored } = await runHelper(
				options,
				{ shown: `find_in_files ${path}`, script: FIND, args },
				context,
			);
			if ("problem" in answer) return problemOf(path, answer.problem, stored);
			const isFit = pathFilter(path, files);
			const isCut = answer.data.length >= MOST_BYTES;
			const matches = matchesIn(answer.data, options.processes).filter((match) => isFit(match.path));
			const shown = fitting(matches.slice(0, limit));
			const left = matches.length - shown.length;
			const more = left > 0 || isCut ? [`[${left}${isCut ? " or more" : ""} further lines left out]`] : [];
			if (shown.length === 0) return { content: `Nothing was found in ${path}.`, stored };
			return { content: [...shown, ...more].join("\n"), stored };
		},
	});
}

interface Match {
	readonly path: string;
	readonly text: string;
}

/** With NUL after the path if grep supports it: then a path may contain line breaks. */
const MARKED = /(?<path>[^\0]*)\0(?<line>\d+)(?<sign>[:-])(?<text>[^\n]*)\n/g;
const UNMARKED = /^(?<path>.*?)(?<sign>[:-])(?<line>\d+)\k<sign>(?<text>.*)\n/gm;

/** An incomplete last line is left out. */
function matchesIn(data: Buffer, hiding: Hiding): Match[] {
	const output = data.toString();
	return [...output.matchAll(output.includes("\0") ? MARKED : UNMARKED)].map(({ groups = {} }) => {
		const { path = "", line, sign, text = "" } = groups;
		// Between matches with lines around them.
		const name = withoutDots(path.replace(/^--\n/, ""));
		return { path: name, text: `${oneLine(name)}${sign}${line}${sign} ${cut(text, LONGEST_MATCH, hiding)}` };
	});
}

/** ./ means nothing in a path. */
function withoutDots(path: string): string {
	return path.replaceAll(/(^|\/)(?:\.\/+)+/g, "$1");
}

function fitting(matches: readonly Match[]): string[] {
	const shown: string[] = [];
	let length = 0;
	for (const { text } of matches) {
		length += text.length + 1;
		if (length > MOST_CHARACTERS) break;
		shown.push(text);
	}
	return shown;
}
