// Words of the parsed command line -> what the program would get: quotes removed, variables inserted, braces expanded. Unseen parts stay
// in the text as UNKNOWN, SOME or BELOW.
import { forEachChild, type ParameterExpansionPart, type SyntaxNode, type Word, type WordPart } from "unbash";
import { baseName, isDark, isKnown, plainField, unknownField } from "../field.ts";
import { BELOW, SOME, UNKNOWN } from "../text.ts";
import type { Field } from "../types.ts";
import { braceWords } from "./braces.ts";
import { afterOperation } from "./expansion.ts";
import type { Positional, Scope, Value } from "./scope.ts";

const MAX_CHOICES = 16;

/** The context for reading words. */
export interface Reading {
	readonly scope: Scope;
	readonly positional: Positional;
	/** The output of a command substitution; null if it cannot be seen. */
	printed(part: WordPart): Value | null;
}

interface Piece {
	readonly text: string;
	readonly quoted: boolean;
	/** It came from a variable or a command, so the shell splits it at white space. */
	readonly expanded: boolean;
	readonly glob: boolean;
	readonly many: boolean;
	readonly from: readonly string[];
}

/** Every way the word may turn out, each as the words it becomes. Never empty. */
export function wordChoices(word: Word, reading: Reading): Field[][] {
	const parts = word.parts;
	if (!parts) return [[plainField(withTilde(word.value, word.text, reading.scope))]];
	const whole = positionalWords(parts, reading.positional);
	if (whole) return [whole];
	const variants = withoutBraces(parts);
	if (!variants) return [[unknownField([], true)]];
	let choices: Field[][] = [[]];
	for (const variant of variants) {
		const next = pieceChoices(variant, reading, false).map((pieces) => fieldsOf(pieces, reading.scope));
		if (choices.length * next.length > MAX_CHOICES) return [[unknownField(commandNames(word), true)]];
		choices = appended(choices, next);
	}
	return choices;
}

/** The values of a word that is not split: an assignment, a redirection's target, a here-string. */
export function wordValues(word: Word, reading: Reading): Value[] {
	if (!word.parts) return [{ text: withTilde(word.value, word.text, reading.scope), from: [] }];
	return partValues(word.parts, reading);
}

export function partValues(parts: readonly WordPart[], reading: Reading): Value[] {
	return pieceChoices(parts, reading, false).map((pieces) => ({
		text: pieces.map((piece) => piece.text).join(""),
		from: pieces.flatMap((piece) => piece.from),
		glob: pieces.some((piece) => piece.glob && piece.expanded),
		many: pieces.some((piece) => piece.many),
	}));
}

/** Combines each list with each of the next ones. Takes ownership of the lists, so that a long word costs only its length. */
export function appended<Item>(lists: Item[][], next: readonly Item[][]): Item[][] {
	const [only] = next;
	if (next.length !== 1 || !only)
		return lists.flatMap((before) => next.map((items) => [...before, ...items]));
	for (const list of lists) for (const item of only) list.push(item);
	return lists;
}

/** The commands that run somewhere in it. */
export function commandNames(node: SyntaxNode): string[] {
	const found = new Set<string>();
	const visit = (child: SyntaxNode): void => {
		if (found.size > 32) return;
		if (child.type === "Command" && child.name) found.add(baseName(child.name.value).toLowerCase());
		forEachChild(child, visit);
	};
	visit(node);
	return [...found];
}

/** Whether the word is put together from pieces or printed by a command: no way to write a program's name. */
export function isComposed(word: Word): boolean {
	let found = false;
	const visit = (node: SyntaxNode): void => {
		if (node.type === "CommandExpansion") found = true;
		if (node.type === "ParameterExpansion" && node.operation) found = true;
		if (!found) forEachChild(node, visit);
	};
	for (const part of word.parts ?? []) visit(part);
	return found;
}

/** Whether a function calls itself in a pipe or in the background, and so grows without end. */
export function multiplies(body: SyntaxNode, name: string): boolean {
	let found = false;
	const visit = (node: SyntaxNode): void => {
		const parallel =
			(node.type === "Statement" && node.background) ||
			(node.type === "Pipeline" && node.commands.length > 1);
		if (parallel && commandNames(node).includes(baseName(name).toLowerCase())) found = true;
		if (!found) forEachChild(node, visit);
	};
	visit(body);
	return found;
}

/** "$@" alone is every positional parameter unchanged. */
function positionalWords(parts: readonly WordPart[], positional: Positional): Field[] | null {
	const [only, more] = parts;
	if (!only || more || !positional) return null;
	const inner = only.type === "DoubleQuoted" ? (only.parts.length === 1 ? only.parts[0] : undefined) : only;
	if (inner?.type !== "SimpleExpansion" || (inner.text !== "$@" && inner.text !== "$*")) return null;
	return [...positional];
}

/** One list of parts for each word that the braces produce; null if they are unknown. */
function withoutBraces(parts: readonly WordPart[]): WordPart[][] | null {
	let variants: WordPart[][] = [[]];
	for (const part of parts) {
		if (part.type !== "BraceExpansion") {
			for (const variant of variants) variant.push(part);
			continue;
		}
		const words = braceWords(part.text);
		if (!words || words.length * variants.length > 64) return null;
		variants = variants.flatMap((variant) =>
			words.map((value): WordPart[] => [
				...variant,
				{ type: "Literal", pos: part.pos, end: part.end, value, text: value },
			]),
		);
	}
	return variants;
}

function pieceChoices(parts: readonly WordPart[], reading: Reading, quoted: boolean): Piece[][] {
	let choices: Piece[][] = [[]];
	for (const [index, part] of parts.entries()) {
		const next = partChoices(part, reading, quoted, index === 0);
		if (choices.length * next.length > MAX_CHOICES) return [[dark(parts.flatMap(commandNames), quoted)]];
		choices = appended(choices, next);
	}
	return choices;
}

function partChoices(part: WordPart, reading: Reading, quoted: boolean, first: boolean): Piece[][] {
	const { scope, positional } = reading;
	switch (part.type) {
		case "Literal":
			return [[literal(first && !quoted ? withTilde(part.value, part.text, scope) : part.value, quoted)]];
		case "SingleQuoted":
		case "AnsiCQuoted":
			return [[literal(part.value, true)]];
		case "DoubleQuoted":
		case "LocaleString":
			// The empty piece keeps the word there when there is nothing between the quotes.
			return pieceChoices(part.parts, reading, true).map((pieces) => [literal("", true), ...pieces]);
		case "Glob":
		case "ExtendedGlob":
			return [[{ ...literal(part.text, quoted), glob: !quoted }]];
		case "SimpleExpansion":
			return variable(part.text.slice(1), scope, positional).map((value) => [expanded(value, quoted)]);
		case "ParameterExpansion":
			return parameter(part, reading).map((value) => [expanded(value, quoted)]);
		case "ArithmeticExpansion":
			return [[literal(SOME, true)]];
		case "ProcessSubstitution":
			return [[{ ...literal(`/dev/fd/${UNKNOWN}`, true), from: commandNames(part) }]];
		case "CommandExpansion": {
			const printed = reading.printed(part);
			const from = commandNames(part);
			return [[printed ? expanded({ ...printed, from }, quoted) : dark(from, quoted)]];
		}
		case "BraceExpansion":
			return [[dark(commandNames(part), quoted)]];
	}
}

function parameter(part: ParameterExpansionPart, reading: Reading): readonly Value[] {
	const { scope, positional } = reading;
	const { operation } = part;
	if (part.prefix === "#" && !operation) return [{ text: SOME, from: [] }];
	if (part.prefix || part.index) return [{ text: UNKNOWN, from: [] }];
	const own = variable(part.parameter, scope, positional);
	if (!operation) return own;
	if (operation.type === "Default") {
		const other = wordValues(operation.operand, reading);
		return [...(operation.operator.includes("+") ? [{ text: "", from: [] }] : own), ...other];
	}
	const textOf = (name: "operand" | "pattern" | "replacement" | "offset" | "length"): string | null => {
		const word = (operation as unknown as Readonly<Record<string, Word | undefined>>)[name];
		const values = word ? wordValues(word, reading) : [];
		return values.length === 1 ? (values[0]?.text ?? null) : null;
	};
	return own.map((value) => afterOperation(part.parameter, value, operation, textOf));
}

function variable(name: string, scope: Scope, positional: Positional): readonly Value[] {
	if (/^[1-9]\d*$/.test(name) && positional) return [positional[Number(name) - 1] ?? { text: "", from: [] }];
	return scope.values(name);
}

function literal(text: string, quoted: boolean): Piece {
	return { text, quoted, expanded: false, glob: false, many: false, from: [] };
}

function expanded({ text, from, glob = false, many = false }: Value, quoted: boolean): Piece {
	return { text, quoted, expanded: true, glob, many, from };
}

function dark(from: readonly string[], quoted: boolean): Piece {
	return { text: UNKNOWN, quoted, expanded: true, glob: false, many: false, from };
}

function fieldsOf(pieces: readonly Piece[], scope: Scope): Field[] {
	const fields: Field[] = [];
	let open: Field | null = null;
	for (const piece of pieces) {
		const splits = piece.expanded && !piece.quoted;
		const hidden =
			splits && (isDark(piece.text) || piece.text.includes(BELOW) || piece.many || scope.splitsElsewhere);
		const texts =
			splits && !hidden
				? piece.text.split(/[ \t\n]+/)
				: [scope.splitsElsewhere && hidden && isKnown(piece.text) ? UNKNOWN : piece.text];
		for (const [index, text] of texts.entries()) {
			if (index > 0) {
				if (open) fields.push(open);
				open = null;
			}
			if (text === "" && splits) continue;
			const before: Field = open ?? plainField("");
			open = {
				text: before.text + text,
				splits: before.splits || hidden,
				glob: before.glob || piece.glob || (splits && /[*?[]/.test(text)),
				from: [...before.from, ...piece.from],
			};
		}
	}
	if (open) fields.push(open);
	return fields;
}

/** `~`, `~name`, `~+`; what `~-` is depends on where the shell was before. */
function withTilde(value: string, written: string, scope: Scope): string {
	if (!written.startsWith("~")) return value;
	const slash = value.indexOf("/");
	const user = slash < 0 ? value.slice(1) : value.slice(1, slash);
	const rest = slash < 0 ? "" : value.slice(slash);
	const home = scope.values("HOME")[0]?.text ?? UNKNOWN;
	if (user === "" || user === baseName(home)) return home + rest;
	if (user === "+") return (scope.values("PWD")[0]?.text ?? UNKNOWN) + rest;
	if (user === "root") return `/root${rest}`;
	return /^[a-z_][\w.-]*$/i.test(user) ? `/home/${user}${rest}` : UNKNOWN + rest;
}
