// Reading what was given to a command.
import { KeryxError } from "../errors.ts";

/** A whole number within bounds. */
export function readCount(option: string, text: string, [least, most]: readonly [number, number]): number {
	const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
	if (count >= least && count <= most) return count;
	throw new KeryxError(
		"argument.invalid",
		`${option} must be a whole number from ${least} to ${most}; it is ${JSON.stringify(text)}`,
		{ field: option },
	);
}

export function readOneOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
	const word = words.find((one) => one === text);
	if (word !== undefined) return word;
	throw new KeryxError(
		"argument.invalid",
		`${option} must be one of ${words.join(", ")}; it is ${JSON.stringify(text)}`,
		{ field: option },
	);
}
