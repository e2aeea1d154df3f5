// The files that a command leaves behind, so that one which it writes and then runs is looked at.
import { baseName, isDark, isKnown, plainField } from "../field.ts";
import { absolutePath } from "../files/paths.ts";
import { tarWords } from "../files/special.ts";
import { fileUse, isWriting } from "../files/use.ts";
import { isDownload } from "../launch/index.ts";
import { operands, optionValue } from "../options.ts";
import type { Field, Invocation, Stdin } from "../types.ts";
import type { Scope, Value, WrittenFile } from "./scope.ts";

interface Written {
	readonly file: Field;
	readonly as: WrittenFile;
}

export function rememberFiles(invocation: Invocation, output: Value | null, scope: Scope): void {
	for (const { file, as } of [...redirected(invocation, output), ...writtenByWords(invocation, scope)]) {
		if (!isKnown(file.text) || file.text.startsWith("/dev/")) continue;
		const path = absolutePath(file.text, invocation.cwd);
		if (path !== null) scope.wrote(path, as);
	}
	if (isUnpacking(invocation)) {
		const from = archiveSources(invocation, scope);
		if (isDownload(from)) scope.unpackedFrom = from;
	}
}

function redirected({ name, redirections, stdin }: Invocation, output: Value | null): Written[] {
	const text = output && isKnown(output.text) ? output.text : null;
	return redirections
		.filter(({ operator, descriptor }) => isWriting(operator) && descriptor !== 2)
		.map(({ target }) => ({ file: target, as: { text, from: [name, ...sourcesOf(stdin)] } }));
}

const COPIES = /^(g?cp|g?mv|ln|link|g?install|rsync|ditto)$/;
const COMPILERS =
	/^(gcc|cc|g\+\+|c\+\+|clang|clang\+\+|tcc|rustc|ghc|javac|gfortran|nasm|zig|nim|ldc2|dmd|crystal|swiftc|kotlinc|scalac|tsc|esbuild)$/;
/** They create, remove or open a file, and leave only seen text in it. */
const NO_TEXT = /^(touch|mkdir|rm|rmdir|unlink|truncate|vim|vi|nvim|nano|code|emacs|mktemp)$/;

function writtenByWords(invocation: Invocation, scope: Scope): Written[] {
	const { name, args, stdin, redirections } = invocation;
	if (name === "tee") {
		const as = { text: textOf(stdin), from: sourcesOf(stdin) };
		return operands(args).map((file) => ({ file, as }));
	}
	if (COPIES.test(name)) return passedOn(invocation, scope);
	if (COMPILERS.test(name)) return compiled(invocation, scope);
	if (NO_TEXT.test(name)) return [];
	const opened = new Set(redirections.map(({ target }) => target));
	const from = isDownload([name]) ? [name] : sourcesOf(stdin);
	return [...fileUse(invocation).writes, ...fetched(invocation)]
		.filter((file) => !opened.has(file))
		.map((file) => ({ file, as: { text: null, from } }));
}

/** Programs that fetch say with one of these where to. */
function fetched({ name, args }: Invocation): Field[] {
	const file = isDownload([name]) ? optionValue(args, "-o", "-O", "--output", "--out") : undefined;
	return file && !/^-|^https?:/.test(file.text) ? [file] : [];
}

/** The text goes with the file, also into a folder and under a new name. */
function passedOn({ args, cwd, stdin }: Invocation, scope: Scope): Written[] {
	const given = operands(args);
	const folder = optionValue(args, "-t", "--target-directory");
	const target = folder ?? given.at(-1);
	if (!target) return [];
	return (folder ? given : given.slice(0, -1)).flatMap((source): Written[] => {
		const as = /^\/dev\/(stdin|fd\/0)$/.test(source.text)
			? { text: textOf(stdin), from: [] }
			: writtenAt(source, cwd, scope);
		if (!as) return [];
		const inside = { ...target, text: `${target.text}/${baseName(source.text)}` };
		return [
			{ file: target, as },
			{ file: inside, as },
		];
	});
}

/** A program built from a source that the command wrote. */
function compiled({ args, cwd, stdin }: Invocation, scope: Scope): Written[] {
	const sources = operands(args).flatMap((file) => {
		const source =
			file.text === "-" ? { text: textOf(stdin), from: sourcesOf(stdin) } : writtenAt(file, cwd, scope);
		return source ? [source] : [];
	});
	if (sources.length === 0) return [];
	const texts = sources.map(({ text }) => text);
	const text = texts.includes(null) ? null : texts.join("\n");
	const out = optionValue(args, "-o", "--out", "--outfile");
	const usual = ["a.out", ...operands(args).map((file) => baseName(file.text).replace(/\.\w+$/, ""))];
	const as = { text, from: sources.flatMap(({ from }) => from), compiled: true };
	return (out ? [out.text] : usual).map((name) => ({ file: plainField(name), as }));
}

function isUnpacking({ name, args }: Invocation): boolean {
	if (/^(g|bsd)?tar$/.test(name)) return tarWords(args).unpacks;
	return /^(unzip|7z|7za|bsdcpio|cpio|unrar|gunzip|unxz|unzstd)$/.test(name);
}

function archiveSources({ args, cwd, stdin }: Invocation, scope: Scope): readonly string[] {
	return [...sourcesOf(stdin), ...operands(args).flatMap((file) => writtenAt(file, cwd, scope)?.from ?? [])];
}

function writtenAt(file: Field, cwd: string | null, { files }: Scope): WrittenFile | undefined {
	return isDark(file.text) ? undefined : files.get(absolutePath(file.text, cwd) ?? "");
}

function textOf(stdin: Stdin): string | null {
	return stdin.kind === "text" && isKnown(stdin.text) ? stdin.text : null;
}

function sourcesOf(stdin: Stdin): readonly string[] {
	return stdin.kind === "pipe" || stdin.kind === "text" ? stdin.from : [];
}
