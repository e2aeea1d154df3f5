// What a program has drawn, shown again to somebody who comes later. A terminal answers some sequences by typing; what is replayed
// must not make it, since nobody asks any more and the program would take the answer for input.

// The parts of what a terminal reads: control sequence, string (title, clipboard, ...), escape, a lone escape, control characters,
// and the second set of controls as UTF-8 writes it.
const PART =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal reads
	/\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x1b|[\x00-\x07\x10-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]/g;

/** Text, colours, moves, erasing, and what is switched on and off. */
const KEPT =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
	/^\x1b(?:\[[\d;:]*[@A-HJ-MPSTXZ`abdefghlmrsu]|\[\?[\d;]*[hlJK]|\[>[\d;]*[mu]|\[[<=][\d;]*u|[78=>DEM]|[()][0-9A-B])$/;

/** The same bytes without what asks the terminal something, names it, or reaches for its clipboard. */
export function replayable(data: Buffer, { fromMiddle }: { readonly fromMiddle: boolean }): Buffer {
	const text = data.toString("latin1");
	// What begins in the middle begins with the next line: before it stands half of something.
	const start = fromMiddle ? text.indexOf("\n") + 1 : 0;
	return Buffer.from(
		text.slice(start).replace(PART, (part) => (KEPT.test(part) ? part : "")),
		"latin1",
	);
}
