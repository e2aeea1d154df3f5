// Shells, eval and source: text that becomes commands. Unseen text is reported.
import { baseName, isDark, isKnown, plainField } from "../field.ts";
import { absolutePath } from "../files/paths.ts";
import { operands } from "../options.ts";
import type { WrittenFile } from "../shell/scope.ts";
import type { Field, Invocation, Stdin } from "../types.ts";
import type { Inner } from "./inner.ts";

export const SHELLS: ReadonlySet<string> = new Set(
	`sh bash zsh dash ash ksh ksh93 mksh fish csh tcsh rbash yash osh ysh rc es pwsh powershell xonsh nu elvish`.split(
		" ",
	),
);

/** Shells of another family, whose text cannot be read here. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set(["fish", "pwsh", "powershell", "xonsh", "nu", "elvish"]);

const DOWNLOADS: ReadonlySet<string> = new Set(
	`curl wget wget2 fetch aria2c axel http https xh lynx w3m links nc ncat netcat socat ftp lftp scp sftp ssh gh gsutil openssl
	rsync`.split(/\s+/),
);

const HIDDEN = "runs text that cannot be checked before it runs";
const FETCHED = "runs code straight from the network";

export function isDownload(names: readonly string[]): boolean {
	return names.some((name) => DOWNLOADS.has(name));
}

export function unseen(from: readonly string[], why = HIDDEN): Inner {
	return isDownload(from)
		? { kind: "unseen", class: "download", why: FETCHED }
		: { kind: "unseen", class: "unseen", why };
}

/** The text, if fully known. */
export function scriptOf(field: Field, positional?: readonly Field[]): Inner {
	if (!isKnown(field.text) || field.glob) return unseen(field.from);
	return { kind: "script", script: field, ...(positional ? { positional } : {}) };
}

export function shellInner(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const { args, stdin } = invocation;
	for (let index = 0; index < args.length; index++) {
		const arg = args[index] as Field;
		if (/^--?(rcfile|init-file)(=|$)/.test(arg.text))
			return [unseen([], "makes a shell run another file first")];
		if (/^[-+][oO]$/.test(arg.text)) {
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

/** eval and similar: the words are joined and read again. */
export function evalInner(words: readonly Field[]): Inner[] {
	const plain = words[0]?.text === "--" ? words.slice(1) : words;
	if (plain.length === 0) return [];
	return [scriptOf(joined(plain))];
}

export function sourceInner(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const [file, ...rest] = operands(invocation.args);
	return file ? fileInner(file, invocation, files, rest) : [];
}

/** A file as a shell's input is not a named script. */
export function stdinInner(stdin: Stdin): Inner[] {
	switch (stdin.kind) {
		case "inherited":
			return [];
		case "text":
			return [scriptOf({ ...plainField(stdin.text), from: stdin.from })];
		case "file":
			return stdin.path.text === "/dev/null" ? [] : [unseen(stdin.path.from)];
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
	// bash -c -x 'text': options may come between.
	if (/^[-+]./.test(script.text)) return afterC(rest.slice(1));
	// With no words given, $1 is empty, or comes from where this is called: it is taken as unknown.
	return [scriptOf(script, positional.length > 0 ? positional : undefined)];
}

/** A script file is normal work, unless this command wrote it or it is not visible. */
export function fileInner(
	file: Field,
	invocation: Invocation,
	files: ReadonlyMap<string, WrittenFile>,
	positional: readonly Field[],
): Inner[] {
	if (/^\/dev\/(stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(file.text)) return stdinInner(invocation.stdin);
	if (/^\/dev\/fd\/|^\/proc\/[^/]+\/fd\//.test(file.text)) return [unseen(file.from)];
	if (isDark(file.text) || file.splits) return [unseen(file.from)];
	const written = writtenAt(file, invocation, files);
	if (!written) return [];
	if (written.text === null) return [unseen(written.from)];
	if (written.compiled || isOtherLanguage(written.text)) return [{ kind: "code", text: written.text }];
	return [scriptOf({ ...plainField(written.text), from: written.from }, positional)];
}

export function writtenAt(
	file: Field,
	{ cwd }: Invocation,
	files: ReadonlyMap<string, WrittenFile>,
): WrittenFile | undefined {
	const path = files.size === 0 ? null : absolutePath(file.text, cwd);
	return path === null ? undefined : files.get(path);
}

/** By the first line, `#!/usr/bin/env python3`. */
function isOtherLanguage(text: string): boolean {
	const first = /^#!\s*(\S+)(?:\s+(\S+))?/.exec(text);
	if (!first) return false;
	const program = baseName(first[1] ?? "") === "env" ? (first[2] ?? "") : (first[1] ?? "");
	return !SHELLS.has(baseName(program));
}
