// Commands that a human is asked about, each with the class that must say so: the page of hostile lines.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TRIED_FACTS, triedLines } from "../../../test/support/tried-lines.ts";
import { type CommandClass, classifyCommand, type DangerReason, ONCE_ONLY } from "./index.ts";

const LINES = triedLines("hostile");
const FAMILIES = Map.groupBy(LINES, ({ family }) => family);

function reasonsOf(command: string): readonly DangerReason[] {
	const verdict = classifyCommand(command, TRIED_FACTS);
	return verdict.kind === "dangerous" ? verdict.reasons : [];
}

const met = new Set<CommandClass>();

describe("a hostile line asks, and says why", () => {
	test.each([...FAMILIES.keys()])("%s", (family) => {
		const passed = (FAMILIES.get(family) ?? []).filter(({ command, verdict }) => {
			const classes = reasonsOf(command).map((reason) => reason.class);
			for (const each of classes) met.add(each);
			return !classes.some((each) => each === verdict);
		});
		expect(passed).toEqual([]);
	});

	test("the classes that a human can only say yes to once are all met", () => {
		expect([...ONCE_ONLY].filter((each) => !met.has(each))).toEqual([]);
	});
});

test("there are enough of them, and none is there twice", () => {
	expect(LINES.length).toBeGreaterThanOrEqual(3_000);
	expect(new Set(LINES.map(({ command }) => command)).size).toBe(LINES.length);
});

/** In single quotes, as a shell takes it back. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What does not parse may do so with more text around it, and $1 or the folder before are others there. */
const PARSED = LINES.filter(
	({ verdict, command }) => verdict !== "syntax" && !/\$\{?[1@]|^cd - /.test(command),
);
/** One command of plain words: other programs can start it as it stands. */
const SIMPLE = PARSED.filter(({ command }) =>
	/^(?!(if|for|while|until|case|select|time|coproc|function|!|\[\[) )[a-z][\w./-]* [^;|&<>(){}\n#`$]*$/.test(
		command,
	),
);

type Wrap = (command: string) => string;
const WRAPS: readonly (readonly [string, Wrap])[] = [
	["after another command", (command) => `true; ${command}`],
	["before another command", (command) => `${command}\ntrue`],
	["after a change of the folder", (command) => `cd src && cd .. && ${command}`],
	["in a subshell", (command) => `( ${command}\n)`],
	["in a group", (command) => `{ ${command}\n}`],
	["in a branch", (command) => `if true; then ${command}\nfi`],
	["in a loop", (command) => `while true; do ${command}\ndone`],
	["in a function", (command) => `work() { ${command}\n}; work`],
	["in a function that nothing calls", (command) => `work() { ${command}\n}`],
	["in a substitution", (command) => `echo "$( ${command}\n)"`],
	["in the background", (command) => `{ ${command}\n} & wait`],
	["in a trap", (command) => `trap ${quoted(command)} EXIT`],
	["for another shell", (command) => `bash -c ${quoted(command)}`],
	["for a shell that env starts", (command) => `env A=1 bash -c ${quoted(command)}`],
	[
		"for a shell that time, nohup and timeout start",
		(command) => `time nohup timeout 5 sh -c ${quoted(command)}`,
	],
	["for a shell that sudo starts", (command) => `sudo sh -c ${quoted(command)}`],
	["for eval", (command) => `eval ${quoted(command)}`],
	["on the input of a shell", (command) => `sh <<< ${quoted(command)}`],
	["in a file that a shell runs", (command) => `echo ${quoted(command)} > run.sh; sh run.sh`],
	["in a shell in a shell", (command) => `bash -c ${quoted(`bash -c ${quoted(command)}`)}`],
];
const PREFIXES: readonly string[] = [
	"env A=1",
	"time",
	"nohup",
	"timeout 5",
	"sudo",
	"command",
	"exec",
	"nice -n 5",
	"stdbuf -oL",
	"A=1",
	"\\",
];
/** Each way meets every eighth line, and the next way the lines after those: together they meet every line more than twice. */
const SHARE = 8;

describe("a dangerous line stays dangerous", () => {
	test.each(WRAPS)("%s", (name, wrap) => {
		const part = WRAPS.findIndex(([other]) => other === name) % SHARE;
		const passed = PARSED.filter((_, index) => index % SHARE === part).filter(
			({ command }) => reasonsOf(wrap(command)).length === 0,
		);
		expect(passed).toEqual([]);
	});

	test.each(PREFIXES)("after %s", (prefix) => {
		const part = PREFIXES.indexOf(prefix) % SHARE;
		const passed = SIMPLE.filter((_, index) => index % SHARE === part).filter(
			({ command }) => reasonsOf(`${prefix}${prefix === "\\" ? "" : " "}${command}`).length === 0,
		);
		expect(passed).toEqual([]);
	});

	test("in any two of these ways together", () => {
		fc.assert(
			fc.property(
				fc.constantFrom(...PARSED),
				fc.constantFrom(...WRAPS),
				fc.constantFrom(...WRAPS),
				({ command }, [, outer], [, inner]) => {
					expect(reasonsOf(outer(inner(command)))).not.toEqual([]);
				},
			),
			{ numRuns: 300 },
		);
	});
});
