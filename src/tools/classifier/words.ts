// Words of the parsed command line -> what the program would get: quotes undone, variables of the command put in, braces
// expanded. What cannot be seen stays in the text as UNKNOWN.
import { forEachChild, type SyntaxNode, type Word, type WordPart } from "unbash";
import { braceWords } from "./braces.ts";
import { baseName, isKnown, plainField, unknownField } from "./field.ts";
import type { Positional, Scope, Value } from "./scope.ts";
import { UNKNOWN } from "./text.ts";
import type { Field } from "./types.ts";

const MAX_CHOICES = 16;

interface Piece {
	readonly text: string;
	readonly quoted: boolean;
	/** It came from a variable or a command, so the shell splits it at white space. */
	readonly expanded: boolean;
	readonly glob: boolean;
	readonly from: readonly string[];
}

/** Every way the word may turn out, each as the words it becomes. Never empty. */
export function wordChoices(word: Word, scope: Scope, positional: Positional): Field[][] {
	const parts = word.parts;
	if (!parts) return [[plainField(withTilde(word.value, word.text, scope))]];
	const whole = positionalWords(parts, positional);
	if (whole) return [whole];
	const variants = withoutBraces(parts);
	if (!variants) return [[unknownField([], true)]];
	let choices: Field[][] = [[]];
	for (const variant of variants) {
		const next = pieceChoices(variant, scope, positional, false).map((pieces) => fieldsOf(pieces, scope));
		if (choices.length * next.length > MAX_CHOICES) return [[unknownField(commandNames(word), true)]];
		choices = appended(choices, next);
	}
	return choices;
}

/** The values of a word that is not split: an assignment's, a redirection's target, a here-string. */
export function wordValues(word: Word, scope: Scope, positional: Positional): Value[] {
	if (!word.parts) return [{ text: withTilde(word.value, word.text, scope), from: [] }];
	return partValues(word.parts, scope, positional);
}

export function partValues(parts: readonly WordPart[], scope: Scope, positional: Positional): Value[] {
	return pieceChoices(parts, scope, positional, false).map((pieces) => ({
		text: pieces.map((piece) => piece.text).join(""),
		from: pieces.flatMap((piece) => piece.from),
	}));
}

/** Each list with each of the next ones after it. Takes the lists over, so that a long word costs no more than its length. */
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

/** "$@" alone is every positional word as it is. */
function positionalWords(parts: readonly WordPart[], positional: Positional): Field[] | null {
	const [only, more] = parts;
	if (!only || more || !positional) return null;
	const inner = only.type === "DoubleQuoted" ? (only.parts.length === 1 ? only.parts[0] : undefined) : only;
	if (inner?.type !== "SimpleExpansion" || (inner.text !== "$@" && inner.text !== "$*")) return null;
	return [...positional];
}

/** One list of parts for each word that the braces make; null when they cannot be told. */
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

function pieceChoices(
	parts: readonly WordPart[],
	scope: Scope,
	positional: Positional,
	quoted: boolean,
): Piece[][] {
	let choices: Piece[][] = [[]];
	for (const [index, part] of parts.entries()) {
		const next = partChoices(part, scope, positional, quoted, index === 0);
		if (choices.length * next.length > MAX_CHOICES) return [[dark(parts.flatMap(commandNames), quoted)]];
		choices = appended(choices, next);
	}
	return choices;
}

function partChoices(
	part: WordPart,
	scope: Scope,
	positional: Positional,
	quoted: boolean,
	first: boolean,
): Piece[][] {
	switch (part.type) {
		case "Literal":
			return [[literal(first && !quoted ? withTilde(part.value, part.text, scope) : part.value, quoted)]];
		case "SingleQuoted":
		case "AnsiCQuoted":
			return [[literal(part.value, true)]];
		case "DoubleQuoted":
		case "LocaleString":
			// The empty piece keeps the word there when there is nothing between the quotes.
			return pieceChoices(part.parts, scope, positional, true).map((pieces) => [
				literal("", true),
				...pieces,
			]);
		case "Glob":
		case "ExtendedGlob":
			return [[{ ...literal(part.text, quoted), glob: !quoted }]];
		case "SimpleExpansion":
			return variable(part.text.slice(1), scope, positional, quoted);
		case "ParameterExpansion": {
			if (part.prefix || part.index) return [[dark([], quoted)]];
			if (!part.operation) return variable(part.parameter, scope, positional, quoted);
			if (part.operation.type !== "Default") return [[dark([], quoted)]];
			const other = wordValues(part.operation.operand, scope, positional);
			const own = part.operation.operator.includes("+")
				? [[literal("", quoted)]]
				: variable(part.parameter, scope, positional, quoted);
			return [...own, ...other.map((value) => [expanded(value, quoted)])];
		}
		case "ArithmeticExpansion":
			return [[dark([], true)]];
		case "ProcessSubstitution":
			return [[{ ...literal(`/dev/fd/${UNKNOWN}`, true), from: commandNames(part) }]];
		case "CommandExpansion":
			return [[dark(commandNames(part), quoted)]];
		case "BraceExpansion":
			return [[dark(commandNames(part), quoted)]];
	}
}

function variable(name: string, scope: Scope, positional: Positional, quoted: boolean): Piece[][] {
	if (/^[1-9]\d*$/.test(name) && positional) {
		const field = positional[Number(name) - 1];
		return [[expanded(field ?? { text: "", from: [] }, quoted)]];
	}
	return scope.values(name).map((value) => [expanded(value, quoted)]);
}

function literal(text: string, quoted: boolean): Piece {
	return { text, quoted, expanded: false, glob: false, from: [] };
}

function expanded(value: Value, quoted: boolean): Piece {
	return { text: value.text, quoted, expanded: true, glob: false, from: value.from };
}

function dark(from: readonly string[], quoted: boolean): Piece {
	return { text: UNKNOWN, quoted, expanded: true, glob: false, from };
}

function fieldsOf(pieces: readonly Piece[], scope: Scope): Field[] {
	const fields: Field[] = [];
	let open: Field | null = null;
	for (const piece of pieces) {
		const splits = piece.expanded && !piece.quoted;
		const hidden = splits && (!isKnown(piece.text) || scope.splitsElsewhere);
		const texts =
			splits && !hidden
				? piece.text.split(/[ \t\n]+/)
				: [hidden && isKnown(piece.text) ? UNKNOWN : piece.text];
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

function withTilde(value: string, written: string, scope: Scope): string {
	if (!/^~(\/|$)/.test(written)) return value;
	return (scope.values("HOME")[0]?.text ?? UNKNOWN) + value.slice(1);
}
