// Places where a shell evaluates a value as more than text: arithmetic, indexes, prompts. A value such as `a[$(cmd)]` runs its
// command there.
import type { SyntaxNode, Word } from "unbash";
import type { Scope, Value } from "./scope.ts";

const NUMERIC_TESTS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

const HIDDEN_COMMAND = /\[[^[\]]*(\$\(|`)/;

/** "doubt" when the value is not known to be a number, "unseen" when it surely can run something. */
export function evaluationOf(
	node: SyntaxNode,
	valuesOf: (word: Word) => readonly Value[],
	scope: Scope,
): "doubt" | "unseen" | null {
	const numeric = (word: Word | undefined): boolean =>
		word === undefined || valuesOf(word).every((value) => isNumber(value.text));
	if (node.type === "ArithmeticWord")
		return isNumber(node.value) || holdsNumber(node.value, scope) ? null : "doubt";
	if (node.type === "TestBinary")
		return NUMERIC_TESTS.has(node.operator) && !(numeric(node.left) && numeric(node.right)) ? "doubt" : null;
	if (node.type === "TestUnary") return node.operator === "-v" ? "doubt" : null;
	// In zsh, e:…: and +name after a pattern run a command for each file.
	if (node.type === "ExtendedGlob") return /e[^\w]|\+/.test(node.pattern) ? "unseen" : "doubt";
	if (node.type === "Assignment") {
		if (node.index) return "doubt";
		const words = node.value.type === "Word" ? [node.value] : node.value.elements;
		return words.some((word) => valuesOf(word).some((value) => HIDDEN_COMMAND.test(value.text)))
			? "unseen"
			: null;
	}
	if (node.type !== "ParameterExpansion") return null;
	const { index, operation, prefix } = node;
	if (operation?.type === "Unknown") return "unseen";
	if (operation?.type === "Transform" && operation.operand.value === "P") return "unseen";
	if (prefix === "!" || (index && !/^(\d+|@|\*)$/.test(index.value))) return "doubt";
	if (operation?.type === "Slice" && !(numeric(operation.offset) && numeric(operation.length)))
		return "doubt";
	if (operation?.type === "Default" && operation.operator.includes("="))
		scope.assign(node.parameter, valuesOf(operation.operand));
	return null;
}

function holdsNumber(name: string, scope: Scope): boolean {
	return /^\w+$/.test(name) && scope.has(name) && scope.values(name).every((value) => isNumber(value.text));
}

function isNumber(text: string): boolean {
	return /^\s*-?\d+\s*$/.test(text);
}
