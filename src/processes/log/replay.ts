// Replays a program's screen to a late viewer. A terminal answers some sequences by typing; replayed output must not cause that, because
// the program would read the answer as input.

// What a terminal parses: control sequence, string (title, clipboard, ...), escape, a lone escape, control characters, and C1 controls in
// UTF-8.
const PART =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal reads
	/\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x1b|[\x00-\x07\x10-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]/g;

/** Text, colours, cursor moves, erasing, and modes. */
const KEPT =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
	/^\x1b(?:\[[\d;:]*[@A-HJ-MPSTXZ`abdefghlmrsu]|\[\?[\d;]*[hlJK]|\[>[\d;]*[mu]|\[[<=][\d;]*u|[78=>DEM]|[()][0-9A-B])$/;

/** The same bytes without sequences that query the terminal, set its title, or access its clipboard. */
export function replayable(data: Buffer, { fromMiddle }: { readonly fromMiddle: boolean }): Buffer {
	const text = data.toString("latin1");
	// A part starts with its first full line: before it is half a sequence.
	const start = fromMiddle ? text.indexOf("\n") + 1 : 0;
	return Buffer.from(
		text.slice(start).replace(PART, (part) => (KEPT.test(part) ? part : "")),
		"latin1",
	);
}
