// ${name%pattern} and its like over a value: computed where every character is known, kept as a shape where the value is one, and
// unknown otherwise. A path of the shell itself that is cut short leads out of its folder, so it counts as unknown, too.
import type { ParameterOperation } from "unbash";
import { isDark, isKnown } from "../field.ts";
import { BELOW, SOME, UNKNOWN } from "../text.ts";
import type { Value } from "./scope.ts";

/** Variables that hold a folder above what the command works on. */
const FOLDERS: ReadonlySet<string> = new Set(["HOME", "PWD", "OLDPWD", "KERYX_HOME"]);

export function afterOperation(
	name: string,
	value: Value,
	operation: ParameterOperation,
	textOf: (operand: "operand" | "pattern" | "replacement" | "offset" | "length") => string | null,
): Value {
	const unknown: Value = { text: UNKNOWN, from: value.from };
	if (isDark(value.text)) return unknown;
	const folder = FOLDERS.has(name);
	if (operation.type === "Remove") {
		const pattern = textOf("operand");
		const fromEnd = operation.operator.startsWith("%");
		if (pattern === null || !isKnown(pattern) || (fromEnd && folder)) return unknown;
		const text = isShape(value)
			? shapeWithout(value, pattern, fromEnd)
			: cut(value.text, pattern, operation.operator);
		return text === null ? unknown : { ...value, text };
	}
	if (operation.type === "Replace") {
		const [pattern, replacement] = [textOf("pattern"), textOf("replacement")];
		if (pattern === null || replacement === null || folder) return unknown;
		const text = replaced(value, pattern, replacement, operation.operator);
		return text === null ? unknown : { ...value, text };
	}
	if (operation.type === "Slice") {
		const [offset, length] = [numberOf(textOf("offset")), numberOf(textOf("length"))];
		if (isShape(value) || folder || offset === null || Number.isNaN(offset) || Number.isNaN(length))
			return unknown;
		const rest = value.text.slice(offset);
		return { ...value, text: length === null ? rest : rest.slice(0, length) };
	}
	if (operation.type === "CaseModification" && !textOf("operand")) {
		const upper = operation.operator.startsWith("^");
		const changed = (text: string): string => (upper ? text.toUpperCase() : text.toLowerCase());
		const all = operation.operator.length === 2;
		return {
			...value,
			text: all ? changed(value.text) : changed(value.text.slice(0, 1)) + value.text.slice(1),
		};
	}
	return unknown;
}

function isShape({ text, glob }: Value): boolean {
	return glob === true || !isKnown(text);
}

function numberOf(text: string | null): number | null {
	return text === null ? null : /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : Number.NaN;
}

/** Removing an ending leaves a beginning: still a name, still below. Everything else may be something else. */
function shapeWithout({ text }: Value, pattern: string, fromEnd: boolean): string | null {
	if (text === SOME || text === BELOW) return text;
	if (!fromEnd)
		return pattern === "*/" ? lastPart(text) : text.startsWith(pattern) ? text.slice(pattern.length) : null;
	if (pattern === "/*")
		return text.includes("/") && !text.startsWith("/") ? text.slice(0, text.lastIndexOf("/")) : null;
	if (/^[\w.-]+$/.test(pattern)) return text.endsWith(pattern) ? text.slice(0, -pattern.length) : text;
	return pattern === ".*" && lastPart(text).includes(".") ? text.slice(0, text.lastIndexOf(".")) : null;
}

function lastPart(text: string): string {
	return text.slice(text.lastIndexOf("/") + 1);
}

/** Patterns of one star and fixed text, in one look at the value; null for others. */
function cut(text: string, pattern: string, operator: string): string | null {
	const fromEnd = operator.startsWith("%");
	const longest = operator.length === 2;
	const fixed = fromEnd ? pattern.replace(/\*$/, "") : pattern.replace(/^\*/, "");
	if (fixed === "" || /[*?[\](\\]/.test(fixed)) return null;
	if (fixed === pattern) {
		if (fromEnd) return text.endsWith(fixed) ? text.slice(0, -fixed.length) : text;
		return text.startsWith(fixed) ? text.slice(fixed.length) : text;
	}
	const at = fromEnd === longest ? text.indexOf(fixed) : text.lastIndexOf(fixed);
	if (at < 0) return text;
	return fromEnd ? text.slice(0, at) : text.slice(at + fixed.length);
}

function replaced(value: Value, pattern: string, replacement: string, operator: string): string | null {
	if (!isKnown(pattern) || !isKnown(replacement) || /[*?[(]/.test(pattern) || pattern === "") return null;
	// In an unseen name, a dot may form `..`, and a slash a folder elsewhere.
	if (isShape(value) && !(/^[.\w-]+$/.test(pattern) && /^(\.?[\w-]+)?$/.test(replacement))) return null;
	if (operator === "//") return value.text.replaceAll(pattern, () => replacement);
	const { text } = value;
	if (operator === "/#") return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
	if (operator === "/%") return text.endsWith(pattern) ? text.slice(0, -pattern.length) + replacement : text;
	return text.replace(pattern, () => replacement);
}
