// git, when it only tells.
import { mayBeOption } from "../field.ts";
import type { Field } from "../types.ts";

const READING: ReadonlySet<string> = new Set([
	"status",
	"log",
	"diff",
	"show",
	"blame",
	"annotate",
	"shortlog",
	"describe",
	"rev-parse",
	"rev-list",
	"ls-files",
	"ls-tree",
	"cat-file",
	"name-rev",
	"merge-base",
	"for-each-ref",
	"show-ref",
	"show-branch",
	"diff-tree",
	"diff-index",
	"diff-files",
	"grep",
	"check-ignore",
	"check-attr",
	"cherry",
	"range-diff",
	"count-objects",
	"whatchanged",
	"version",
	"var",
]);
/** Options that write a file or run a program, also when shortened. */
const UNSAFE = /^--(ou|op|ext|exe|textc|filt|batch-c)|^-O/;
const LISTING =
	/^(-[arvl]+|-vv|--(list|all|remotes|show-current|verbose|merged|no-merged|contains|no-contains|points-at|sort|format|column|no-column|color|no-color|abbrev|ignore-case)(=.*)?|-n\d*|-i)$/;

export function gitReads(args: readonly Field[]): boolean {
	let at = 0;
	while (/^(--no-pager|-P|-C|--no-optional-locks|--literal-pathspecs)$/.test(args[at]?.text ?? ""))
		at += args[at]?.text === "-C" ? 2 : 1;
	const verb = args[at]?.text ?? "";
	const rest = args.slice(at + 1);
	const texts = rest.map((arg) => arg.text);
	if (rest.some((arg) => mayBeOption(arg) || UNSAFE.test(arg.text))) return false;
	if (READING.has(verb)) return verb !== "grep" || !texts.some((text) => /^-[a-zA-Z]*O/.test(text));
	switch (verb) {
		case "--version":
			return rest.length === 0;
		case "branch":
			return lists(texts, /^--list$/);
		case "tag":
			return lists(texts, /^(-l|--list)$/) && !texts.some((text) => /^-[arv]/.test(text));
		case "remote":
			return texts.every((text) => /^(-v|--verbose)$/.test(text)) || texts[0] === "get-url";
		case "stash":
			return /^(list|show)$/.test(texts[0] ?? "");
		case "worktree":
			return texts[0] === "list";
		case "submodule":
			return texts[0] === "status";
		case "reflog":
			return texts.length === 0 || texts[0] === "show";
		case "config":
			return /^(--get|get)$/.test(texts[0] ?? "") && texts.length === 2;
		default:
			return false;
	}
}

/** Operands name what to make, unless the list is filtered by them. */
function lists(texts: readonly string[], asked: RegExp): boolean {
	const filtered = texts.some(
		(text) => asked.test(text) || /^--((no-)?(merged|contains)|points-at)$/.test(text),
	);
	return texts.every((text) => LISTING.test(text) || (filtered && !text.startsWith("-")));
}
