// The output of a command, if its arguments determine it: the text itself, or a shape that each of its words has.
import { baseName, isDark, isKnown } from "../field.ts";
import { absolutePath, isWithin } from "../files/paths.ts";
import { isSecretPath } from "../files/secrets.ts";
import { operands, optionValue } from "../options.ts";
import { BELOW, SOME } from "../text.ts";
import type { Field, Invocation } from "../types.ts";
import { FILTERS, SET_UP, SILENT, WORDS } from "./prints.ts";
import type { Value, WrittenFile } from "./scope.ts";

export const NOTHING: Value = { text: "", from: [] };

/** Null when it cannot be seen. */
export function outputOf(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Value | null {
	const { name, path, args, redirections } = invocation;
	// Where the output goes to a file, nothing is printed.
	if (redirections.some(({ operator, descriptor }) => operator.includes(">") && descriptor === 1))
		return NOTHING;
	if (name === "" || SILENT.has(name)) return NOTHING;
	// A program of the same name from elsewhere may print anything.
	if (path !== name && !/^(\/usr(\/local)?)?\/s?bin\/[^/]+$/.test(path)) return null;
	const printer = PRINTERS.get(name);
	if (printer) return printer(invocation, files);
	if (FILTERS.has(name)) return filtered(invocation);
	const line = args.map((arg) => arg.text).join(" ");
	if (args.some(({ text }) => isDark(text) || text.includes(BELOW))) return null;
	if (SET_UP.test(`${name} ${line}`.trim())) return { text: ":", from: [] };
	const found = WORDS.find(([names, pattern]) => names.test(name) && pattern.test(line));
	return found ? shape(found[2]) : null;
}

type Printer = (invocation: Invocation, files: ReadonlyMap<string, WrittenFile>) => Value | null;

const PRINTERS: ReadonlyMap<string, Printer> = new Map<string, Printer>([
	["echo", echoed],
	["printf", formatted],
	["cat", concatenated],
	["pwd", ({ cwd }) => (cwd === null ? null : { text: cwd, from: [] })],
	["ls", listed],
	["find", found],
	["fd", ({ args }) => (operands(args).length > 1 || hasFolder(args) ? null : shape(BELOW))],
	["rg", matchedFiles],
	["grep", matchedFiles],
	["egrep", matchedFiles],
	["fgrep", matchedFiles],
	["git", gitPrinted],
	["mktemp", temporary],
	["basename", named],
	["dirname", ({ args, cwd }) => inside(partOf(args, parentOf), cwd)],
	["realpath", resolved],
	["readlink", (invocation) => (invocation.args[0]?.text === "-f" ? resolved(invocation) : null)],
]);

function hasFolder(args: readonly Field[]): boolean {
	return args.some(({ text }) => /^(--search-path|--base-directory|-C|-x|-X|--exec|--format)/.test(text));
}

function shape(text: string): Value {
	return { text, from: [], many: true };
}

function echoed({ args }: Invocation): Value | null {
	const from = args.findIndex((arg) => !/^-[neE]+$/.test(arg.text));
	const words = args.slice(from < 0 ? args.length : from);
	if (words.some((word) => word.glob)) return relativeNames(words);
	if (words.some((word) => isDark(word.text) || word.splits)) return null;
	const text = words.map((word) => word.text).join(" ");
	return text.includes("\\") ? null : { text, from: [] };
}

function formatted({ args }: Invocation): Value | null {
	const [format, ...values] = args;
	if (!format || !isKnown(format.text) || format.text.startsWith("-")) return null;
	if (/^%s(\\n|\\0)?$/.test(format.text)) {
		if (values.some((value) => value.glob)) return relativeNames(values);
		if (values.some((value) => isDark(value.text) || value.splits)) return null;
		return { text: values.map((value) => value.text).join("\n"), from: [] };
	}
	if (values.length > 0 || /%|\\[^nt]/.test(format.text)) return null;
	return { text: format.text.replaceAll("\\n", "\n").replaceAll("\\t", "\t"), from: [] };
}

/** Patterns for files below this folder give names below it. */
function relativeNames(words: readonly Field[]): Value | null {
	const below = words.every(({ text }) => isKnown(text) && !/^[/~-]|(^|\/)\.\.(\/|$)/.test(text));
	return below ? shape(BELOW) : null;
}

/** Its input, or a file that this command wrote with a known text. */
function concatenated(
	{ args, stdin, cwd }: Invocation,
	files: ReadonlyMap<string, WrittenFile>,
): Value | null {
	const names = operands(args).filter((arg) => arg.text !== "-");
	if (names.length === 0) return stdinValue(stdin);
	const [only, more] = names;
	const path = only && !more && isKnown(only.text) ? absolutePath(only.text, cwd) : null;
	const text = path === null ? null : (files.get(path)?.text ?? null);
	return text === null ? null : { text, from: [] };
}

function stdinValue(stdin: Invocation["stdin"]): Value | null {
	if (stdin.kind === "text") return isDark(stdin.text) ? null : { text: stdin.text, from: stdin.from };
	return stdin.kind === "pipe" && stdin.each !== null ? { ...shape(stdin.each), from: stdin.from } : null;
}

/** Commands that only drop or sort lines keep their shape. */
function filtered({ name, args, stdin }: Invocation): Value | null {
	const wanted = FILTERS.get(name);
	if (!wanted?.test(args.map((arg) => arg.text).join(" "))) return null;
	if (stdin.kind === "text")
		return isKnown(stdin.text) && name === "tee" ? { text: stdin.text, from: [] } : null;
	return stdinValue(stdin);
}

/** The names in a folder; files, patterns and what -d names are printed as they were given. */
function listed({ args }: Invocation): Value | null {
	const given = operands(args);
	const asGiven =
		args.some((arg) => /^-[a-zA-Z]*d/.test(arg.text)) ||
		given.some((arg) => arg.glob || isSecretPath(arg.text));
	if (!asGiven) return shape(BELOW);
	if (given.every((arg) => !/^[/~]|(^|\/)\.\.(\/|$)/.test(arg.text) && !isDark(arg.text)))
		return shape(BELOW);
	const [only, more] = given;
	if (!only || more || isDark(only.text)) return null;
	return shape(`${only.text.replace(/[^/]*[*?[].*$/s, "").replace(/\/+$/, "")}/${BELOW}`);
}

function found({ args }: Invocation): Value | null {
	if (args.some((arg) => /^-(printf|exec|execdir|ok|okdir|fprint.*|fls|ls|files0-from)$/.test(arg.text)))
		return null;
	const end = args.findIndex((arg) => /^[-(!]/.test(arg.text));
	const [root, more] = end < 0 ? args : args.slice(0, end);
	if (!root) return shape(BELOW);
	if (more || isDark(root.text)) return null;
	return /^\.?\/?$/.test(root.text) && root.text !== "/"
		? shape(BELOW)
		: shape(`${root.text.replace(/\/+$/, "")}/${BELOW}`);
}

/** -l and --files print paths as they were given, -c on one file a number; without files it is a filter. */
function matchedFiles(invocation: Invocation): Value | null {
	const { name, args, stdin } = invocation;
	const texts = args.map((arg) => arg.text);
	const has = (letter: string, long: RegExp): boolean =>
		texts.some((text) => (/^-[a-zA-Z]+$/.test(text) && text.includes(letter)) || long.test(text));
	if (texts.some((text) => /^--(label|path-separator|replace|heading|format|null)/.test(text))) return null;
	const given = operands(args).slice(texts.includes("--files") ? 0 : 1);
	const namesOnly = has("l", /^--files-with(out)?-match(es)?$/) || has("L", /^--files$/);
	if (namesOnly) {
		const below = given.every(({ text }) => !/^[/~]|(^|\/)\.\.(\/|$)/.test(text) && !isDark(text));
		return below ? shape(BELOW) : null;
	}
	if (has("c", /^--count$/) && given.length < 2 && !has("r", /^--recursive$/)) return shape(SOME);
	if (given.length > 0 || has("o", /^--only-matching$/)) return null;
	return stdin.kind === "pipe" && !(name === "rg" && has("r", /^--replace/)) ? stdinValue(stdin) : null;
}

const GIT_SHAPES: readonly (readonly [RegExp, string])[] = [
	[/^(diff|show|log|diff-tree)\b.* --name-only|^ls-files(?! .*-(s|-stage))/, BELOW],
	[
		/^rev-parse (--show-prefix$|--abbrev-ref )|^branch --show-current$|^branch --format=%\(refname:short\)$|^symbolic-ref |^describe|^tag$/,
		BELOW,
	],
	[
		/^rev-parse (--short(=\d+)? |--verify |-q )*[\w^~@{}.-]+$|^merge-base |^rev-list (.*--count|-n ?1|--max-parents=0)|^hash-object|^write-tree/,
		SOME,
	],
];
/** Options that put other text into the output. */
const GIT_TEXT =
	/--(line-prefix|no-index|git-path|show-cdup|parseopt|sq|prefix|stdin|src-prefix|dst-prefix)|--(format|pretty)(?!=( |$|%\(refname:short\)))/;

function gitPrinted({ args, cwd }: Invocation): Value | null {
	const texts = args.map((arg) => arg.text);
	const line = texts.filter((text) => text !== "--no-pager").join(" ");
	if (/^rev-parse --show-(toplevel|superproject-working-tree)$/.test(line) && cwd !== null)
		return { text: cwd, from: [] };
	if (/^rev-parse --(git-dir|git-common-dir|absolute-git-dir)$/.test(line) && cwd !== null)
		return { text: `${cwd}/.git`, from: [] };
	if (GIT_TEXT.test(line)) return null;
	const match = GIT_SHAPES.find(([pattern]) => pattern.test(line));
	return match ? shape(match[1]) : null;
}

function temporary({ args }: Invocation): Value | null {
	const [template] = operands(args);
	const folder = optionValue(args, "-p", "--tmpdir");
	if (template?.text.includes("/") || folder) {
		const base = folder?.text ?? (template?.text ?? "").replace(/\/[^/]*$/, "");
		return isDark(base) ? null : { text: `${base}/${SOME}`, from: [] };
	}
	const here = template && !args.some((arg) => /^-[a-z]*t|^--tmpdir/.test(arg.text));
	return { text: here ? SOME : `/tmp/${SOME}`, from: [] };
}

/** The last part of a path, without a named extension. */
function named({ args }: Invocation): Value | null {
	const [path, ending, more] = args;
	if (!path || more || args.some(({ text }) => /^-./.test(text) || isDark(text))) return null;
	return partOf([path], (text) => {
		const last = baseName(text.replace(/\/+$/, ""));
		return ending && last !== ending.text && last.endsWith(ending.text)
			? last.slice(0, -ending.text.length)
			: last;
	});
}

function partOf(args: readonly Field[], cut: (path: string) => string): Value | null {
	const [path, more] = operands(args);
	if (!path || more || isDark(path.text) || args.some(({ text }) => /^-[^fem]/.test(text))) return null;
	if (path.text.includes(BELOW) || path.glob) return shape(BELOW);
	return { text: cut(path.text), from: [] };
}

function parentOf(path: string): string {
	return path.replace(/\/?[^/]*\/*$/, "") || ".";
}

function resolved({ args, cwd }: Invocation): Value | null {
	return inside(
		partOf(args, (path) => absolutePath(path, cwd) ?? path),
		cwd,
	);
}

/** Only what stays in the folder: the way up leads to places that nobody named. */
function inside(value: Value | null, cwd: string | null): Value | null {
	if (!value || cwd === null) return null;
	const path = absolutePath(value.text, cwd);
	return path !== null && isWithin(path, cwd) ? value : null;
}
