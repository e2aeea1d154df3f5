// Shells, eval and source: text that becomes commands. What cannot be seen is said so.
import { isKnown, operands, plainField } from "../field.ts";
import type { Inner } from "../inner.ts";
import { absolutePath } from "../paths.ts";
import type { WrittenFile } from "../scope.ts";
import type { Field, Invocation, Stdin } from "../types.ts";

export const SHELLS: ReadonlySet<string> = new Set([
	"sh",
	"bash",
	"zsh",
	"dash",
	"ash",
	"ksh",
	"ksh93",
	"mksh",
	"fish",
	"csh",
	"tcsh",
	"rbash",
	"pwsh",
	"powershell",
	"xonsh",
	"nu",
	"elvish",
]);

/** Their text is no shell's of this family, so it cannot be read here. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set(["fish", "pwsh", "powershell", "xonsh", "nu", "elvish"]);

const DOWNLOADS: ReadonlySet<string> = new Set([
	"curl",
	"wget",
	"wget2",
	"fetch",
	"aria2c",
	"http",
	"https",
	"xh",
	"lynx",
	"w3m",
	"links",
	"nc",
	"ncat",
	"netcat",
	"socat",
	"ftp",
	"lftp",
	"scp",
	"sftp",
	"ssh",
	"gh",
	"gsutil",
]);

const HIDDEN = "runs text that cannot be seen before it runs";
const FETCHED = "runs what it gets from the network, unseen";

export function isDownload(names: readonly string[]): boolean {
	return names.some((name) => DOWNLOADS.has(name));
}

export function unseen(from: readonly string[]): Inner {
	return isDownload(from)
		? { kind: "unseen", rule: "download", why: FETCHED }
		: { kind: "unseen", rule: "unseen", why: HIDDEN };
}

/** The text when all of it is known. */
export function scriptOf(field: Field, positional?: readonly Field[]): Inner {
	if (!isKnown(field.text) || field.glob) return unseen(field.from);
	return { kind: "script", script: field, ...(positional ? { positional } : {}) };
}

export function shellInner(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const { args, stdin } = invocation;
	for (let index = 0; index < args.length; index++) {
		const arg = args[index] as Field;
		if (/^--?(rcfile|init-file)$|^[-+][oO]$/.test(arg.text)) {
			index++;
			continue;
		}
		if (arg.text === "--") continue;
		if (arg.text === "-" || arg.text === "-s") return stdinInner(stdin);
		if (/^--(command|init-command)=/.test(arg.text))
			return [scriptOf({ ...arg, text: arg.text.replace(/^[^=]*=/, "") })];
		if (/^-[A-Za-z]*c[A-Za-z]*$|^--command$/.test(arg.text))
			return OTHER_LANGUAGES.has(invocation.name) ? [unseen([])] : afterC(args.slice(index + 1));
		if (/^-[A-Za-z]*s/.test(arg.text)) return stdinInner(stdin);
		if (/^[-+]./.test(arg.text)) continue;
		return fileInner(arg, invocation, files, args.slice(index + 1));
	}
	return stdinInner(stdin);
}

/** eval and its like: the words are joined and read again. */
export function evalInner(words: readonly Field[]): Inner[] {
	const plain = words[0]?.text === "--" ? words.slice(1) : words;
	if (plain.length === 0) return [];
	return [scriptOf(joined(plain))];
}

export function sourceInner(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const [file, ...rest] = operands(invocation.args);
	return file ? fileInner(file, invocation, files, rest) : [];
}

export function stdinInner(stdin: Stdin): Inner[] {
	switch (stdin.kind) {
		case "inherited":
			return [];
		case "text":
			return [scriptOf({ ...plainField(stdin.text), from: stdin.from })];
		case "file":
			return isKnown(stdin.path.text) ? [] : [unseen(stdin.path.from)];
		case "pipe":
			return [unseen(stdin.from)];
	}
}

export function joined(words: readonly Field[]): Field {
	return {
		text: words.map((word) => word.text).join(" "),
		splits: false,
		glob: false,
		from: words.flatMap((word) => word.from),
	};
}

function afterC(rest: readonly Field[]): Inner[] {
	const [script, , ...positional] = rest.filter((arg, index) => index > 0 || arg.text !== "--");
	if (!script) return [];
	// bash -c -x 'text': options may stand between.
	if (/^[-+]./.test(script.text)) return afterC(rest.slice(1));
	// With no words given, $1 is empty, or comes from where this is called: it is taken as unknown.
	return [scriptOf(script, positional.length > 0 ? positional : undefined)];
}

/** A script file is work like any other, unless this command wrote it or it is no file. */
function fileInner(
	file: Field,
	invocation: Invocation,
	files: ReadonlyMap<string, WrittenFile>,
	positional: readonly Field[],
): Inner[] {
	if (/^\/dev\/(stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(file.text)) return stdinInner(invocation.stdin);
	if (!isKnown(file.text))
		return file.text.startsWith("/dev/fd/") || file.splits ? [unseen(file.from)] : darkFile(file);
	const path = absolutePath(file.text, invocation.cwd);
	const written = path === null ? undefined : files.get(path);
	if (!written) return [];
	if (written.text === null) return [unseen(written.from)];
	return [scriptOf({ ...plainField(written.text), from: written.from }, positional)];
}

/** The option that takes code, for what is looked at as if it were given so. */
const INLINE: readonly (readonly [RegExp, string])[] = [
	[/^(python[\d.]*|pypy[\d.]*)$/, "-c"],
	[/^(node|nodejs|bun|tsx|ts-node|perl[\d.]*|ruby[\d.]*|lua[\d.]*)$/, "-e"],
	[/^php[\d.]*$/, "-r"],
];

/** A program that the command wrote or fetched before, run by its path or by an interpreter. */
export function writtenProgram(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const { path, name, args, cwd } = invocation;
	if (files.size === 0) return [];
	if (path.includes("/")) {
		const at = absolutePath(path, cwd);
		if (at !== null && files.has(at)) return fileInner(plainField(path), invocation, files, args);
	}
	const option = INLINE.find(([language]) => language.test(name))?.[1];
	const file = operands(args)[0];
	const at = option && file ? absolutePath(file.text, cwd) : null;
	const written = at === null ? undefined : files.get(at);
	if (!option || !written) return [];
	if (written.text === null) return [unseen(written.from)];
	return [{ kind: "command", words: [plainField(path), plainField(option), plainField(written.text)] }];
}

/** "$DIR/x.sh" names a file at least; "$X" may be anything. */
function darkFile(file: Field): Inner[] {
	return isKnown(file.text.slice(file.text.lastIndexOf("/") + 1)) ? [] : [unseen(file.from)];
}
