// The words of one command and what it sets, in every way they may turn out.
import type { Assignment, Command } from "unbash";
import { plainField, unknownField } from "../field.ts";
import { UNKNOWN } from "../text.ts";
import type { EnvironmentChange, Field } from "../types.ts";
import { appended, type Reading, wordChoices, wordValues } from "./words.ts";

const MAX_CHOICES = 16;

/** Too many variants count as one that cannot be seen. */
export function commandLines(node: Command, reading: Reading): Field[][] {
	const words = [
		...(node.name ? [wordChoices(node.name, reading)] : []),
		...node.args.map((arg) =>
			arg.type === "Word"
				? wordChoices(arg, reading)
				: assigned(arg, reading).map(({ name, value }) => [{ ...value, text: `${name}=${value.text}` }]),
		),
	];
	const ways = words.reduce((count, choices) => Math.min(count * choices.length, MAX_CHOICES + 1), 1);
	if (ways > MAX_CHOICES)
		return [words.flatMap((choices) => (choices.length > 1 ? [unknownField([], true)] : (choices[0] ?? [])))];
	return words.reduce<Field[][]>((lines, choices) => appended(lines, choices), [[]]);
}

/** A list, a part of one and what is added to a value are not followed: the variable may be anything from then on. */
export function assigned(node: Assignment, reading: Reading): EnvironmentChange[] {
	const { value, name } = node;
	if (value.type === "Word" && !node.index && !node.append)
		return wordValues(value, reading).map(({ text, from, glob = false, many }) => ({
			name,
			value: { ...plainField(text), from, glob, splits: many === true },
		}));
	const words = value.type === "Word" ? [value] : value.elements;
	const from = words.flatMap((word) => wordValues(word, reading).flatMap((each) => each.from));
	reading.scope.assign(name, [{ text: UNKNOWN, from }]);
	return [{ name, value: unknownField(from, false) }];
}
