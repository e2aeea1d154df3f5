// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell
// What a verdict costs, counted in executed blocks of code, not in time.
import { expect, test } from "vitest";
import { startCounting } from "../../../test/support/blocks.ts";
import { TRIED_FACTS as facts, triedLines } from "../../../test/support/tried-lines.ts";

const cost = startCounting(/\/classifier\/|\/unbash\//);
const { classifyCommand } = await import("./index.ts");

/** About a millisecond's worth where nothing is compiled, as in a gateway that has just started; several times less later. */
const BLOCKS_A_LINE = 6_000;

test("an everyday line takes less than a millisecond of the processor's time", () => {
	const lines = triedLines("everyday");
	const blocks = cost(() => {
		for (const { command } of lines) classifyCommand(command, facts);
	});
	// Some: it counts what it means to.
	expect(blocks / lines.length).toBeGreaterThan(100);
	expect(blocks / lines.length).toBeLessThan(BLOCKS_A_LINE);
});

const ADVERSARIES = [
	"(",
	"{",
	"$(",
	"${a:-",
	"`",
	'"$(',
	"<(",
	"$((",
	"[[ ( ",
	"f() ",
	"if ",
	"a|",
	"a;",
	"! ",
	"<<a ",
	"{a,",
	"{a,b}",
	"{a,{b,c}}",
	"x=$x$x;",
	"f() { f; f; };",
	"alias a='a a';a;",
	"eval eval ",
	"sh -c sh ",
	"sudo ",
	"env -x ",
	"xargs ",
	"find . -exec ",
	"git -c a.b ",
	"echo '[' ",
	"x='[[[[[[' ",
	"psql -c '/*' ",
	"echo where  | psql;",
	"sed 's/a/b/' ",
	"\n\n\n",
	"[",
	"print",
	"print|",
	"alter table ",
	"* ",
	"~/",
	"../",
	"./.keryx ",
	"=@",
	"node -e '](' ",
	"NODE_OPTIONS='--no-warnings  ' ",
	"a=b ",
	"--force ",
	"x+=y;",
	"${x%/*}",
	"${x//a/b}",
	"x=$(ls);cat $x;",
	"/*",
	"[a]*",
	".*/",
	"@(a)",
	"**/",
	"a:b:",
	'"./x" ',
	'"a" ',
	"s/[",
	"1,2p;",
	'print > "x";',
	"-d @x ",
	"-F a=@b ",
	"for i in 1 2;do a;done;",
	"a&",
	"echo a > b;",
	"where a=a ",
	".shell ",
	"all:;a\n",
] as const;

const FRAMES: readonly ((text: string) => string)[] = [
	(text) => text,
	(text) => `psql -c '${text}'; python -c '${text}'`,
	(text) => `awk '${text}' x; x='${text}'; sed "$x" y; echo \${x%/*}`,
	(text) => `cat '${text}' > y; cat ${text}`,
	(text) => `PATH='${text}' CC='${text}' curl -d '${text}' x`,
];

/** For all frames. Work that grows with the square of a text of this length takes several times as many for one of them. */
const MOST_BLOCKS = 10_000_000;

test.each(ADVERSARIES)("a long run of %j is answered in time", (unit) => {
	const text = unit.replaceAll("'", "").repeat(Math.floor(10_000 / unit.length));
	const blocks = cost(() => {
		for (const frame of FRAMES) classifyCommand(frame(text), facts);
	});
	expect(blocks).toBeLessThan(MOST_BLOCKS);
});
