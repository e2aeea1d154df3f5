// What a command prints, where that can be told from its words, and the files that it leaves behind.
import { baseName, hasShort, isKnown, operands, optionValue } from "./field.ts";
import { isDownload } from "./launch/index.ts";
import { absolutePath } from "./paths.ts";
import type { Scope } from "./scope.ts";
import type { Invocation } from "./types.ts";

/** Null when it cannot be seen. */
export function outputOf({ name, args, stdin }: Invocation): string | null {
	if (args.some((arg) => !isKnown(arg.text) || arg.glob)) return null;
	if (name === "echo") {
		const from = args.findIndex((arg) => !/^-[neE]+$/.test(arg.text));
		const text = args
			.slice(from < 0 ? args.length : from)
			.map((arg) => arg.text)
			.join(" ");
		return text.includes("\\") ? null : text;
	}
	if (name === "printf") {
		const [format, ...values] = args.map((arg) => arg.text);
		if (format === undefined || format.startsWith("-")) return null;
		if (/^%s(\\n)?$/.test(format)) return values.join("\n");
		return values.length > 0 || /[%]|\\[^n]/.test(format) ? null : format.replaceAll("\\n", "\n");
	}
	if (name === "cat" && operands(args).every((arg) => arg.text === "-"))
		return stdin.kind === "text" && isKnown(stdin.text) ? stdin.text : null;
	return null;
}

/** So that a script which the command writes and then runs is looked at. */
export function rememberFiles(invocation: Invocation, output: string | null, scope: Scope): void {
	const { name, args, redirections, stdin, cwd } = invocation;
	const wrote = (file: string, text: string | null, from: readonly string[]): void => {
		const path = isKnown(file) ? absolutePath(file, cwd) : null;
		if (path !== null) scope.wrote(path, { text, from });
	};
	for (const { operator, target } of redirections)
		if (operator.includes(">") && !/^(\d+|-|\/dev\/.*)$/.test(target.text))
			wrote(target.text, output, [name, ...(stdin.kind === "pipe" ? stdin.from : [])]);
	if (name === "tee")
		for (const file of operands(args))
			wrote(file.text, stdin.kind === "text" ? stdin.text : null, stdin.kind === "pipe" ? stdin.from : []);
	if (!isDownload([name])) return;
	const file = optionValue(args, "-o", "-O", "--output", "--output-document");
	if (file && !/^-|^https?:/.test(file.text)) wrote(file.text, null, [name]);
	if (name === "wget" || hasShort(args, "O") || args.some((arg) => arg.text === "--remote-name"))
		for (const arg of operands(args)) wrote(baseName(arg.text.replace(/[?#].*$/, "")), null, [name]);
}
