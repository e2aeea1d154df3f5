// The detach key, and finding it in the input.

import { KeryxError } from "../../../errors.ts";
import { texts } from "../../texts.ts";

export interface DetachKey {
	/** Ctrl-] */
	readonly name: string;
	/** Everything that terminals send for it. */
	readonly sequences: readonly Buffer[];
}

/** Ctrl and one of these; each sends one byte. */
const KEYS = /^(?:ctrl-|\^)([a-z\\\]^_])$/i;
/** Enter, Tab, and the terminal's stop and continue keys. */
const NEEDED = "ijm";

/** `ctrl-]` and `^]` are the same. */
export function readDetachKey(text: string): DetachKey {
	const key = KEYS.exec(text)?.[1]?.toLowerCase();
	if (key === undefined || NEEDED.includes(key))
		throw new KeryxError("argument.invalid", texts.processes.attach.badKey(JSON.stringify(text)), {
			field: "--detach-key",
		});
	const code = key.charCodeAt(0);
	return {
		name: `Ctrl-${key.toUpperCase()}`,
		// The other two: where the program has asked its terminal to say more of a key than one byte can.
		sequences: [
			Buffer.from([key.toUpperCase().charCodeAt(0) & 0x1f]),
			Buffer.from(`\x1b[${code};5u`),
			Buffer.from(`\x1b[27;5;${code}~`),
		],
	};
}

/** Where it was pressed; -1: not pressed. */
export function pressedAt({ sequences }: DetachKey, typed: Buffer): number {
	const offsets = sequences.map((sequence) => typed.indexOf(sequence)).filter((offset) => offset >= 0);
	return offsets.length === 0 ? -1 : Math.min(...offsets);
}
