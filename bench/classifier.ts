// How long a verdict over a command line takes: the everyday lines of the reference, and the worst text that fits.
import { performance } from "node:perf_hooks";
import { classifyCommand } from "../src/tools/index.ts";
import { TRIED_FACTS, triedLines } from "../test/support/tried-lines.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const ROUNDS = 7;
/** What the parser, loops and long lists of commands make the most of. */
const HEAVY = [
	"a;",
	"x=$(ls);cat $x;",
	"for i in 1 2;do a;done;",
	"<<a ",
	"alias a='a a';a;",
	"f() { f; f; };",
];
const LONGEST = 10_000;

export function measureClassifier(): Row[] {
	const lines = triedLines("everyday").map(({ command }) => command);
	for (const line of lines) classifyCommand(line, TRIED_FACTS);
	const times = lines.map((line) => Math.min(...Array.from({ length: ROUNDS }, () => timeOf(line))));
	const worst = HEAVY.map((unit) => timeOf(unit.repeat(Math.floor(LONGEST / unit.length))));
	return [
		atMost(1, measured("a verdict over an everyday line, median", median(times), "ms")),
		measured("a verdict over an everyday line, slowest", Math.max(...times), "ms"),
		measured("a verdict over 10,000 characters of the worst kind, slowest", Math.max(...worst), "ms"),
	];
}

function timeOf(command: string): number {
	const began = performance.now();
	classifyCommand(command, TRIED_FACTS);
	return performance.now() - began;
}
