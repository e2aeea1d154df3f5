// Programs given as text on the command line or on standard input.
import { isDark, isKnown } from "../field.ts";
import { awkWords, sedWords } from "../files/special.ts";
import { readAwk } from "../languages/awk.ts";
import { judgeCode } from "../languages/code.ts";
import { type Interpreter, interpreterOf } from "../languages/interpreters.ts";
import { readSed } from "../languages/sed.ts";
import { isDownload } from "../launch/index.ts";
import { operands, optionValues } from "../options.ts";
import { UNKNOWN } from "../text.ts";
import type { CommandFacts, Field, Finding, Invocation, Rule } from "../types.ts";

export const codeRule: Rule = {
	class: "code",
	action: "run_command",
	look(invocation, facts) {
		const { name } = invocation;
		if (/^([gmn]?awk|original-awk)$/.test(name)) return awk(invocation);
		if (/^g?sed$/.test(name)) return sed(invocation);
		if (/^(rails|artisan|manage\.py|bin\/rails)$/.test(name)) return runner(invocation, facts);
		const interpreter = interpreterOf(name);
		if (!interpreter) return null;
		for (const field of [...inlineCode(invocation, interpreter), ...moduleCode(invocation)]) {
			if (!isKnown(field.text)) return hidden(field.from);
			const found = judgeCode(field.text, facts, interpreter.templates ?? false);
			if (found) return found;
		}
		return null;
	},
};

function inlineCode({ args, stdin }: Invocation, { inline, stdin: fromStdin, values }: Interpreter): Field[] {
	const found: Field[] = [];
	let file = false;
	for (const [index, arg] of args.entries()) {
		const before = args[index - 1]?.text ?? "";
		const { text } = arg;
		if (inline.test(before)) {
			found.push(arg);
			continue;
		}
		if (values?.test(before)) continue;
		if (/^--(eval|print)=/.test(text)) found.push({ ...arg, text: text.replace(/^[^=]*=/, "") });
		// -e'code' and -c'code' with no space between.
		else if (/^-[a-zA-Z]*[ecrE][^a-zA-Z0-9-]/.test(text) || (/^-[ecrE]./.test(text) && /[\s(;'"]/.test(text)))
			found.push({ ...arg, text: text.slice(2) });
		else if (/^-m$/.test(before) || /^-m./.test(text) || (!/^-/.test(text) && text !== "run")) {
			if (/^\/dev\/(fd\/|stdin$)|^\/proc\/[^/]+\/fd\//.test(text)) {
				const input = /^\/dev\/(stdin|fd\/0)$/.test(text) && stdin.kind === "text";
				found.push({ ...arg, text: input ? stdin.text : UNKNOWN });
			} else if (!file && (isDark(text) || arg.splits)) found.push({ ...arg, text: UNKNOWN });
			file = true;
		}
	}
	if (found.length > 0 || file || !fromStdin) return found;
	if (operands(args).length === 0 && args.some((arg) => /^(--version|--help|-V|-v|-h)$/.test(arg.text)))
		return [];
	return stdinCode(stdin);
}

function stdinCode(stdin: Invocation["stdin"]): Field[] {
	const plain = { splits: false, glob: false };
	switch (stdin.kind) {
		case "inherited":
			return [];
		case "text":
			return [{ ...plain, text: stdin.text, from: stdin.from }];
		case "pipe":
			return [{ ...plain, text: UNKNOWN, from: stdin.from }];
		case "file":
			return stdin.path.text === "/dev/null" ? [] : [{ ...plain, text: UNKNOWN, from: stdin.path.from }];
	}
}

/** Modules of Python that run the words or the input they get. */
function moduleCode({ args, stdin }: Invocation): Field[] {
	const at = args.findIndex((arg) => arg.text === "-m");
	const rest = at < 0 ? [] : args.slice(at + 2);
	switch (at < 0 ? "" : (args[at + 1]?.text ?? "")) {
		case "timeit":
			return [...operands(rest), ...optionValues(rest, "-s", "--setup")];
		case "code":
		case "asyncio":
			return stdinCode(stdin);
		case "pdb":
			return optionValues(rest, "-c");
		default:
			return [];
	}
}

function runner({ args, stdin }: Invocation, facts: CommandFacts): Finding | null {
	const texts = args.map((arg) => arg.text);
	const at = texts.findIndex((text) => /^(runner|r|shell|tinker)$/.test(text));
	if (at >= 0) {
		const code = args.slice(at + 1).find((arg) => /\s|[.(]/.test(arg.text) && !/^-/.test(arg.text));
		if (code && !isKnown(code.text)) return hidden(code.from);
		if (code) return judgeCode(code.text, facts, false);
	}
	const console = texts.some((text) => /^(console|c|shell|tinker)$/.test(text)) && stdin.kind !== "inherited";
	return console ? { why: "gives code to a console" } : null;
}

function hidden(from: readonly string[]): Finding {
	return isDownload(from)
		? { class: "download", why: "runs code straight from the network" }
		: { class: "unseen", why: "runs code that cannot be checked before it runs" };
}

function sed({ args }: Invocation): Finding | null {
	for (const script of sedWords(args).scripts) {
		if (isDark(script.text) && (script.from.length > 0 || script.text.startsWith(UNKNOWN)))
			return { class: "unseen", why: "gives sed a program that cannot be checked before it runs" };
		const { runs, understood } = readSed(script.text);
		if (runs) return { why: "has sed run a command" };
		if (!understood) return { why: "gives sed a program that cannot be checked" };
	}
	return null;
}

function awk({ args }: Invocation): Finding | null {
	if (args.some((arg) => /^(-l|--load|-E|--exec)(=|$)/.test(arg.text))) return { why: "has awk load code" };
	for (const program of awkWords(args).programs) {
		if (
			isDark(program.text) &&
			(program.from.length > 0 ||
				program.text.startsWith(UNKNOWN) ||
				program.text.replace(/\s+/g, "").includes(`{${UNKNOWN}`))
		)
			return { class: "unseen", why: "gives awk a program that cannot be checked before it runs" };
		if (readAwk(program.text).runs || /\bsystem\s*\(|\/inet\d?\/|@load/.test(program.text))
			return { why: "has awk run a command or use the network" };
	}
	return null;
}
