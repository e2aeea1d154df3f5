// Places where a shell evaluates a value as more than text: arithmetic, indexes, names of variables, prompts. A value such as
// `a[$(cmd)]` runs its command there.
import type { SyntaxNode, Word, WordPart } from "unbash";
import { isDark } from "../field.ts";
import { operands, optionValues } from "../options.ts";
import { BELOW, SOME } from "../text.ts";
import type { Field, Invocation } from "../types.ts";
import type { Scope, Value } from "./scope.ts";

const NUMERIC_TESTS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

const HIDDEN_COMMAND = /\[[^[\]]*(\$\(|`|\$\{)/;

/** "doubt" when the value is not known to be a number, "unseen" when it may run something. */
export type Evaluation = "doubt" | "unseen" | null;

export function evaluationOf(
	node: SyntaxNode,
	valuesOf: (word: Word) => readonly Value[],
	scope: Scope,
): Evaluation {
	const judged = (...words: readonly (Word | undefined)[]): Evaluation =>
		worst(words.flatMap((word) => (word ? valuesOf(word).map((value) => evaluated(value, scope)) : [])));
	if (node.type === "ArithmeticWord")
		return worst([
			named(node.value, scope),
			...(node.parts ?? []).filter((part) => part.type !== "Literal").map((part) => judged(asWord(part))),
		]);
	if (node.type === "TestBinary")
		return NUMERIC_TESTS.has(node.operator) ? judged(node.left, node.right) : null;
	if (node.type === "TestUnary") {
		if (node.operator !== "-v" && node.operator !== "-R") return null;
		return valuesOf(node.operand).some((value) => isHidden(value)) ? "unseen" : "doubt";
	}
	// In zsh, e:…: and +name after a pattern run a command for each file.
	if (node.type === "ExtendedGlob") return /e[^\w]|\+/.test(node.pattern) ? "unseen" : "doubt";
	if (node.type === "Assignment") {
		if (node.index) return worst(["doubt", judged(node.index)]);
		const words = node.value.type === "Word" ? [node.value] : node.value.elements;
		if (scope.integers.has(node.name)) return judged(...words);
		const hidden = words.some((word) => valuesOf(word).some((value) => HIDDEN_COMMAND.test(value.text)));
		return hidden ? "unseen" : null;
	}
	if (node.type !== "ParameterExpansion") return null;
	const { index, operation, prefix } = node;
	if (operation?.type === "Unknown") return "unseen";
	if (operation?.type === "Transform" && operation.operand.value === "P") return "unseen";
	if (operation?.type === "Default" && operation.operator.includes("="))
		scope.assign(node.parameter, valuesOf(operation.operand));
	const indexed = index && !/^(@|\*)$/.test(index.value) ? judged(index) : null;
	const sliced = operation?.type === "Slice" ? judged(operation.offset, operation.length) : null;
	const indirect = prefix === "!" ? worst(["doubt", named(node.parameter, scope)]) : null;
	return worst([indirect, indexed, sliced]);
}

function asWord(part: WordPart): Word {
	return { type: "Word", text: "", value: "", pos: part.pos, end: part.end, parts: [part] };
}

const DECLARATIONS: ReadonlySet<string> = new Set(["declare", "typeset", "local", "readonly", "export"]);
const TAKES_NAMES: ReadonlySet<string> = new Set(["read", "mapfile", "readarray", "getopts", "unset", "let"]);
const OPTIONS_WITH_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
	["printf", ["-v"]],
	["test", ["-v", "-R"]],
	["[", ["-v", "-R"]],
	["wait", ["-p"]],
	["mapfile", ["-O", "-n", "-s"]],
	["readarray", ["-O", "-n", "-s"]],
	["read", ["-a"]],
]);

/** Builtins that take the name of a variable evaluate the index in it. */
export function evaluatedWord({ name, args }: Invocation): Field | undefined {
	const taken: Field[] = [...optionValues(args, ...(OPTIONS_WITH_NAMES.get(name) ?? []))];
	if (TAKES_NAMES.has(name)) taken.push(...operands(args));
	if (DECLARATIONS.has(name)) {
		// With -i the value is evaluated, too.
		const numeric = args.some((arg) => /^-[a-zA-Z]*i/.test(arg.text));
		for (const arg of operands(args))
			taken.push(numeric ? arg : { ...arg, text: arg.text.split("=", 1)[0] ?? "" });
	}
	return taken.find((field) => (isDark(field.text) && name !== "getopts") || HIDDEN_COMMAND.test(field.text));
}

function worst(found: readonly Evaluation[]): Evaluation {
	if (found.includes("unseen")) return "unseen";
	return found.includes("doubt") ? "doubt" : null;
}

/** Text that is evaluated as a number. Output of another command may be anything; outside values are taken as they are. */
function evaluated(value: Value, scope: Scope): Evaluation {
	if (/^\s*-?\d+\s*$/.test(value.text) || value.text === SOME) return null;
	if (isHidden(value)) return value.from.length > 0 || HIDDEN_COMMAND.test(value.text) ? "unseen" : "doubt";
	return worst(["doubt", named(value.text, scope)]);
}

function isHidden({ text }: Value): boolean {
	return isDark(text) || text.includes(BELOW) || HIDDEN_COMMAND.test(text);
}

/** The variables named in it, as `n` and `a[i]`. */
function named(text: string, scope: Scope): Evaluation {
	if (/^\s*-?\d*\s*$/.test(text) || text === SOME) return null;
	const found = (text.match(/[A-Za-z_]\w*/g) ?? []).slice(0, 32).map((name): Evaluation => {
		if (!scope.isOwn(name)) return "doubt";
		return worst(
			scope.values(name).map((value): Evaluation => {
				if (/^\s*-?\d+\s*$/.test(value.text) || value.text === SOME) return null;
				return isHidden(value) && (value.from.length > 0 || HIDDEN_COMMAND.test(value.text))
					? "unseen"
					: "doubt";
			}),
		);
	});
	return worst(found);
}
