// Programs whose words need more than a table to say which files they use.
import { plainField, unknownField } from "../field.ts";
import { readAwk } from "../languages/awk.ts";
import { readSed } from "../languages/sed.ts";
import { hasLong, hasShort, operands, optionValues, parsedWords } from "../options.ts";
import type { Field, Invocation } from "../types.ts";
import { curlReads, curlWords, curlWrites, wgetReads, wgetWords, wgetWrites } from "./http.ts";

interface Used {
	readonly reads?: readonly Field[];
	readonly writes?: readonly Field[];
	readonly lists?: readonly Field[];
	readonly maybe?: readonly Field[];
}
type Special = (invocation: Invocation) => Used;

export const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
	["dd", ({ args }) => ({ reads: valuesOf(args, "if="), writes: valuesOf(args, "of=") })],
	...each("find gfind", findFiles),
	...each("fd fdfind", fdFiles),
	...each("sed gsed", sedFiles),
	...each("awk gawk mawk nawk original-awk", awkFiles),
	...each("tar gtar bsdtar", tarFiles),
	["zip", zipFiles],
	["git", gitFiles],
	["curl", curlFiles],
	...each("wget wget2", wgetFiles),
	...each("perl ruby", inPlace),
	[
		"openssl",
		({ args }) => ({
			reads: optionValues(args, "-in", "-inkey", "-key", "-CAfile"),
			writes: optionValues(args, "-out", "-keyout"),
		}),
	],
	...each("test [ [[", () => ({})),
	...each("gcc cc g++ c++ clang clang++ rustc tsc javac", ({ args }) => ({
		writes: optionValues(args, "-o", "--out-dir", "--outDir", "-d"),
		maybe: operands(args),
	})),
	...each("pip pip3", ({ args }) => ({
		writes: optionValues(args, "--target", "--prefix", "--root"),
		maybe: operands(args),
	})),
	[
		"aria2c",
		({ args }) => ({
			writes: [
				...optionValues(args, "-d", "--dir"),
				...optionValues(args, "-d", "--dir").flatMap((folder) =>
					optionValues(args, "-o", "--out").map((file) => ({ ...file, text: `${folder.text}/${file.text}` })),
				),
			],
		}),
	],
	["pandoc", ({ args }) => ({ writes: optionValues(args, "-o", "--output"), maybe: operands(args) })],
	["info", ({ args }) => ({ writes: optionValues(args, "-o", "--output") })],
]);

function each(names: string, special: Special): [string, Special][] {
	return names.split(" ").map((name) => [name, special]);
}

function valuesOf(args: readonly Field[], prefix: string): Field[] {
	return args
		.filter((arg) => arg.text.startsWith(prefix))
		.map((arg) => ({ ...arg, text: arg.text.slice(prefix.length) }));
}

/** The folders come first; the rest is an expression. */
function findFiles({ args }: Invocation): Used {
	const lists: Field[] = [];
	for (const arg of args) {
		if (/^-[HLPO]|^-D$/.test(arg.text)) continue;
		if (/^[-(!]/.test(arg.text)) break;
		lists.push(arg);
	}
	const after = (pattern: RegExp): Field[] =>
		args.filter((_, index) => pattern.test(args[index - 1]?.text ?? ""));
	return { lists, reads: after(/^-files0-from$/), writes: after(/^-f(print0?|printf|ls)$/) };
}

const FD_VALUES = new Set([
	"-e",
	"-E",
	"-t",
	"-d",
	"-S",
	"-c",
	"-j",
	"-x",
	"-X",
	"--extension",
	"--exclude",
	"--type",
	"--max-depth",
	"--changed-within",
]);

function fdFiles({ args }: Invocation): Used {
	const { operands: words, values } = parsedWords(args, FD_VALUES);
	const folders = values.filter(({ option }) => /^--(search-path|base-directory)$/.test(option));
	return { lists: [...words.slice(1), ...folders.map(({ value }) => value)] };
}

const SED_VALUES = new Set(["-e", "-f", "-l", "--expression", "--file", "--line-length"]);

/** The scripts of sed, and the files after them. */
export function sedWords(args: readonly Field[]): {
	scripts: Field[];
	scriptFiles: Field[];
	files: readonly Field[];
} {
	const { operands: words, values } = parsedWords(
		args.filter((arg) => !/^-i$/.test(arg.text)),
		SED_VALUES,
	);
	const scripts = values.filter(({ option }) => /^(-e|--expression)$/.test(option)).map(({ value }) => value);
	const scriptFiles = values.filter(({ option }) => /^(-f|--file)$/.test(option)).map(({ value }) => value);
	if (scripts.length > 0 || scriptFiles.length > 0) return { scripts, scriptFiles, files: words };
	// BSD's -i takes a suffix that may be empty.
	const start = words[0]?.text === "" && args.some((arg) => arg.text === "-i") ? 1 : 0;
	return { scripts: words.slice(start, start + 1), scriptFiles, files: words.slice(start + 1) };
}

function sedFiles({ args }: Invocation): Used {
	const { scripts, scriptFiles, files } = sedWords(args);
	const programs = scripts.map((script) => readSed(script.text));
	const inPlace = hasShort(args, "i") || hasLong(args, "in-place");
	return {
		reads: [...files, ...scriptFiles, ...programs.flatMap(({ reads }) => reads.map(plainField))],
		writes: [...(inPlace ? files : []), ...programs.flatMap(({ writes }) => writes.map(plainField))],
	};
}

const AWK_VALUES = new Set([
	"-F",
	"-v",
	"-f",
	"-i",
	"-l",
	"-e",
	"-E",
	"--file",
	"--source",
	"--assign",
	"--field-separator",
	"--include",
	"--load",
	"--exec",
]);

/** The programs of awk, the files that hold one, and the files that it works on. */
export function awkWords(args: readonly Field[]): {
	programs: Field[];
	programFiles: Field[];
	files: readonly Field[];
} {
	const { operands: words, values } = parsedWords(args, AWK_VALUES);
	const given = (pattern: RegExp): Field[] =>
		values.filter(({ option }) => pattern.test(option)).map(({ value }) => value);
	const programs = given(/^(-e|--source)$/);
	const programFiles = given(/^(-f|--file|-E|--exec)$/);
	const inline = programs.length === 0 && programFiles.length === 0;
	return {
		programs: inline ? words.slice(0, 1) : programs,
		programFiles,
		files: (inline ? words.slice(1) : words).filter((word) => !/^\w+=/.test(word.text)),
	};
}

function awkFiles({ args }: Invocation): Used {
	const { programs, programFiles, files } = awkWords(args);
	const read = programs.map((program) => readAwk(program.text));
	const field = (name: string | null): Field =>
		name === null ? unknownField(["awk"], false) : plainField(name);
	const inPlace = optionValues(args, "-i", "--include").some((value) => /inplace/.test(value.text));
	return {
		reads: [...files, ...programFiles, ...read.flatMap(({ reads }) => reads.map(field))],
		writes: [...(inPlace ? files : []), ...read.flatMap(({ writes }) => writes.map(field))],
	};
}

const TAR_VALUES = new Set([
	"-f",
	"-C",
	"-I",
	"-T",
	"-X",
	"-F",
	"-H",
	"-b",
	"-g",
	"-K",
	"-L",
	"-N",
	"-V",
	"--file",
	"--directory",
	"--exclude",
	"--files-from",
	"--exclude-from",
	"--use-compress-program",
	"--to-command",
	"--checkpoint-action",
	"--owner",
	"--group",
	"--mode",
	"--transform",
	"--xform",
	"--format",
	"--info-script",
	"--new-volume-script",
	"--listed-incremental",
	"--starting-file",
	"--newer",
	"--rsh-command",
	"--rmt-command",
]);

/** Whether tar packs, and its words with the dash that the first one may lack. */
export function tarWords(args: readonly Field[]): { packs: boolean; unpacks: boolean; words: Field[] } {
	const [first, ...rest] = args;
	const bare = first && /^[A-Za-z]+$/.test(first.text);
	const words = bare ? [{ ...first, text: `-${first.text}` }, ...rest] : [...args];
	const long = (name: string): boolean => words.some((word) => word.text === `--${name}`);
	return {
		packs: hasShort(words, "cruA") || long("create") || long("append") || long("update"),
		unpacks: hasShort(words, "x") || long("extract") || long("get"),
		words,
	};
}

function tarFiles({ args }: Invocation): Used {
	const { packs, unpacks, words } = tarWords(args);
	const { operands: files, values } = parsedWords(words, TAR_VALUES);
	const given = (pattern: RegExp): Field[] =>
		values.filter(({ option }) => pattern.test(option)).map(({ value }) => value);
	const archive = given(/^(-f|--file)$/).filter(({ text }) => text !== "-");
	const folders = given(/^(-C|--directory)$/);
	const lists = given(/^(-T|--files-from|-X|--exclude-from)$/);
	if (!packs) return { reads: [...archive, ...lists], writes: unpacks ? folders : [] };
	// Packed files may be named relative to another folder.
	const from = folders.flatMap((folder) =>
		files.map((file) =>
			file.text.startsWith("/") ? file : { ...file, text: `${folder.text}/${file.text}` },
		),
	);
	return { reads: [...(folders.length > 0 ? from : files), ...lists], writes: archive };
}

const ZIP_VALUES = new Set(["-x", "-i", "-n", "-P", "-s", "-t", "-tt", "-TT", "-b", "-O"]);

function zipFiles({ args }: Invocation): Used {
	const { operands: words } = parsedWords(args, ZIP_VALUES);
	return { writes: words.slice(0, 1), reads: words.slice(1) };
}

/** Verbs whose words are messages, revisions and files of the repository. */
const GIT_OWN =
	/^(commit|tag|stash|add|rm|mv|check-ignore|status|log|diff|push|pull|fetch|merge|rebase|branch|checkout|switch|restore|reset|config|remote|show-ref|rev-parse)$/;

function gitFiles({ args }: Invocation): Used {
	const words = operands(args);
	const verb = words.find((word) => /^[a-z]+(-[a-z]+)*$/.test(word.text))?.text ?? "";
	const after = words.slice(words.findIndex((word) => word.text === verb) + 1);
	const outside = args.some((arg) => arg.text === "--no-index");
	const writes = optionValues(args, "--output");
	if (/^(archive|format-patch|bundle)$/.test(verb))
		writes.push(...optionValues(args, "-o", "--output-directory"));
	if (verb === "clone") writes.push(...after.slice(1));
	if (verb === "init") writes.push(...after);
	if (verb === "worktree" && after[0]?.text === "add") writes.push(...after.slice(1, 2));
	if (verb === "apply") writes.push(...optionValues(args, "--directory"));
	return {
		writes,
		reads: [
			...(outside ? after : []),
			...optionValues(args, "--contents", "-F", "--file", "--pathspec-from-file"),
		],
		lists: optionValues(args, "-C", "--git-dir", "--work-tree"),
		maybe: GIT_OWN.test(verb) ? [] : words,
	};
}

function curlFiles({ args }: Invocation): Used {
	const words = curlWords(args);
	return { reads: curlReads(words), writes: curlWrites(words, args) };
}

function wgetFiles({ args }: Invocation): Used {
	const words = wgetWords(args);
	return { reads: wgetReads(words), writes: wgetWrites(words) };
}

function inPlace({ args }: Invocation): Used {
	const files = operands(args);
	return hasShort(args, "i") ? { writes: files, maybe: files } : { maybe: args };
}
