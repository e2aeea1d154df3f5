// Which paths an invocation writes, and which of its words name files that it reads.

import { hasLong, hasShort, operands, optionValue } from "./field.ts";
import { isDownload, SHELLS } from "./launch/index.ts";
import type { Field, Invocation } from "./types.ts";

/** Every operand is written. */
const WRITE_ALL: ReadonlySet<string> = new Set([
	"tee",
	"touch",
	"truncate",
	"mkdir",
	"mkfifo",
	"mknod",
	"rmdir",
	"unlink",
	"rm",
	"shred",
	"nano",
	"vim",
	"vi",
	"nvim",
	"emacs",
	"ed",
	"ex",
	"patch",
	"sponge",
	"mktemp",
]);
/** The last operand is written. */
const WRITE_LAST: ReadonlySet<string> = new Set([
	"cp",
	"gcp",
	"install",
	"ln",
	"rsync",
	"scp",
	"ditto",
	"link",
	"uniq",
	"xxd",
]);

/** Words of a command that are text or patterns and never files. */
const TEXT_ONLY: ReadonlySet<string> = new Set([
	"echo",
	"printf",
	"ls",
	"stat",
	"file",
	"test",
	"[",
	"which",
	"type",
	"basename",
	"dirname",
	"realpath",
	"readlink",
	"mkdir",
	"touch",
	"cd",
	"pushd",
	"tree",
	"du",
	"export",
]);
const PATTERN_FIRST: ReadonlySet<string> = new Set([
	"grep",
	"egrep",
	"fgrep",
	"zgrep",
	"rg",
	"ag",
	"ack",
	"sed",
	"awk",
	"gawk",
	"jq",
]);

export function isWriting(operator: string): boolean {
	return operator.includes(">");
}

export function writtenPaths(invocation: Invocation): Field[] {
	const { name, args, redirections } = invocation;
	const written = redirections
		.filter(
			({ operator, target }) =>
				isWriting(operator) && !(operator.endsWith("&") && /^(\d+-?|-)$/.test(target.text)),
		)
		.map(({ target }) => target);
	const given = operands(args);
	if (WRITE_ALL.has(name)) written.push(...given);
	// mv takes the file away from where it was.
	if (name === "mv" || name === "gmv") written.push(...given);
	if (WRITE_LAST.has(name)) {
		const folder = optionValue(args, "-t", "--target-directory");
		written.push(...(folder ? [folder] : given.slice(-1)));
	}
	if ((name === "sed" || name === "gsed") && (hasShort(args, "i") || hasLong(args, "in-place")))
		written.push(...given);
	if ((name === "perl" || name === "ruby") && hasShort(args, "i")) written.push(...given);
	if (name === "dd") written.push(...valuesOf(args, "of="));
	if (name === "sort" || name === "tree") written.push(...present(optionValue(args, "-o", "--output")));
	if (isDownload([name]))
		written.push(
			...present(optionValue(args, "-o", "-O", "--output", "--output-document", "-P", "--output-dir")),
		);
	if (name === "tar" || name === "bsdtar" || name === "gtar" || name === "git")
		written.push(
			...present(optionValue(args, "-C", "--directory")).filter(
				() => name !== "git" && !hasShort(args, "ct"),
			),
		);
	if (name === "unzip") written.push(...present(optionValue(args, "-d")));
	return written;
}

/** The words that name something to be read, copied or sent. */
export function readPaths(invocation: Invocation): Field[] {
	const { name, args, redirections } = invocation;
	const read = redirections.filter(({ operator }) => !isWriting(operator)).map(({ target }) => target);
	if (TEXT_ONLY.has(name)) return read;
	// A message is no file, and --env-file is use, not reading out.
	if (
		name === "git" &&
		args.some((arg) => /^(commit|tag|stash|add|rm|check-ignore|status|log|diff)$/.test(arg.text))
	)
		return read;
	const skip = PATTERN_FIRST.has(name) && !hasShort(args, "ef") ? operands(args)[0] : undefined;
	const words = args.filter(
		(arg, index) => arg !== skip && !/^--env-file/.test(arg.text) && args[index - 1]?.text !== "--env-file",
	);
	const copiesTo = name === "cp" || name === "mv" || name === "ln" ? words[words.length - 1] : undefined;
	return [...read, ...words.filter((word) => word !== copiesTo || words.length < 2)];
}

/** Programs whose words hold a program. */
export function holdsCode(name: string): boolean {
	return (
		SHELLS.has(name) ||
		/^(python[\d.]*|pypy3?|node|nodejs|deno|bun|perl|ruby|php|lua|osascript|rscript|tclsh|awk|gawk)$/.test(
			name,
		)
	);
}

function present(field: Field | undefined): Field[] {
	return field ? [field] : [];
}

function valuesOf(args: readonly Field[], prefix: string): Field[] {
	return args
		.filter((arg) => arg.text.startsWith(prefix))
		.map((arg) => ({ ...arg, text: arg.text.slice(prefix.length) }));
}
