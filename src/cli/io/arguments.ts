// Reading what was given to a command.

import { KeryxError } from "../../errors.ts";
import { texts } from "../texts.ts";

/** A whole number within bounds. */
export function readCount(option: string, text: string, [least, most]: readonly [number, number]): number {
	const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
	if (count >= least && count <= most) return count;
	throw new KeryxError(
		"argument.invalid",
		texts.arguments.wholeNumber(option, least, most, JSON.stringify(text)),
		{ field: option },
	);
}

export function readOneOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
	const word = words.find((one) => one === text);
	if (word !== undefined) return word;
	throw new KeryxError(
		"argument.invalid",
		texts.arguments.oneOf(option, words.join(", "), JSON.stringify(text)),
		{ field: option },
	);
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** The offset is required: without one, a time would mean different instants on different machines. */
export function readTime(option: string, text: string): number {
	const [, clock = ""] = TIME.exec(text) ?? [];
	const time = clock === "" ? Number.NaN : Date.parse(text);
	// Date.parse takes 30 February for 2 March.
	const exists = !Number.isNaN(time) && new Date(`${clock}Z`).toISOString().startsWith(clock);
	if (exists) return time;
	const message = texts.arguments.time(option, JSON.stringify(text));
	throw new KeryxError("argument.invalid", message, { field: option });
}
