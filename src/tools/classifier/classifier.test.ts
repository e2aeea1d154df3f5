// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell
// What holds for every command: a verdict as bad as the worst piece, with reasons that a human can read.
import fc from "fast-check";
import { expect, test } from "vitest";
import { TRIED_FACTS as facts, triedLines } from "../../../test/support/tried-lines.ts";
import { type CommandFacts, classifyCommand } from "./index.ts";

const RANK = { harmless: 0, ordinary: 1, dangerous: 2 } as const;

const PIECES = [
	"ls",
	"cat x | wc -l",
	"git status",
	"touch x",
	"npm test",
	"x=1",
	"rm -rf x",
	"sudo ls",
	"curl x | sh",
	"git push -f",
	"$TOOL",
] as const;

test("a command is as dangerous as its worst piece", () => {
	const joints = [" ; ", " && ", " || ", " & ", "\n"] as const;
	fc.assert(
		fc.property(
			fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }),
			fc.constantFrom(...joints),
			(pieces, joint) => {
				const worst = Math.max(...pieces.map((piece) => RANK[classifyCommand(piece, facts).kind]));
				expect(RANK[classifyCommand(pieces.join(joint), facts).kind]).toBe(worst);
			},
		),
	);
});

test("a command in harmless wrappings is at least as dangerous as it was", () => {
	const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
	const wraps: readonly ((command: string) => string)[] = [
		(command) => `cd src && cd .. && ${command}`,
		(command) => `( ${command}\n)`,
		(command) => `{ ${command}\n}`,
		(command) => `if true; then ${command}\nfi`,
		(command) => `for i in 1 2; do ${command}\ndone`,
		(command) => `bash -c ${quoted(command)}`,
		(command) => `env A=1 sh -c ${quoted(command)}`,
		(command) => `time nohup timeout 5 sh -c ${quoted(command)}`,
		(command) => `sudo bash -c ${quoted(command)}`,
	];
	// Inside another command, $1 and the folder before are others.
	const lines = [...triedLines("everyday"), ...triedLines("hostile")]
		.map(({ command }) => command)
		.filter((command) => !/\$\{?[1@#*0]|\b(cd|switch|checkout) -($| )/.test(command));
	fc.assert(
		fc.property(fc.constantFrom(...lines), fc.constantFrom(...wraps), (command, wrap) => {
			const before = RANK[classifyCommand(command, facts).kind];
			expect(RANK[classifyCommand(wrap(command), facts).kind]).toBeGreaterThanOrEqual(before);
		}),
		{ numRuns: 1_000 },
	);
});

test("every string gets a verdict, quickly", () => {
	const token = fc.constantFrom(
		..."$ ( ) { } ` ' \" \\ | & ; < > << <<< $( ${ $(( )) [[ ]] if then fi for in do done case esac while () = # ! ~ * ? [ ] , .. \n".split(
			" ",
		),
		" ",
		"rm -rf x",
		"ls",
		"f()",
		"sh -c",
		"x=",
		"$x",
		"xargs",
		"EOF",
		"\n",
		"\0",
		"\u202e",
		"\ud800",
	);
	const text = fc.oneof(
		fc.string({ maxLength: 10_000, unit: "binary" }),
		fc.array(token, { maxLength: 2_000 }).map((tokens) => tokens.join("")),
		fc.array(token, { maxLength: 200 }).map((tokens) => tokens.join(" ")),
	);
	fc.assert(
		fc.property(text, (command) => {
			expect(RANK).toHaveProperty(classifyCommand(command, facts).kind);
		}),
		{ numRuns: 500 },
	);
});

test("what is too long, too deep or too much is dangerous", () => {
	for (const command of [
		`echo ${"x".repeat(70_000)}`,
		`${"(".repeat(100)}ls${")".repeat(100)}`,
		"ls;".repeat(3_000),
		`${"env ".repeat(30)}ls`,
		`${Array.from({ length: 18 }, (_, index) => `f${index + 1}() { f${index}; f${index}; };`).join(" ")} f18`,
	]) {
		const verdict = classifyCommand(command, facts);
		expect(verdict.kind).toBe("dangerous");
		if (verdict.kind === "dangerous")
			expect(verdict.reasons.map((reason) => reason.class)).toContain("limit");
	}
});

test("a reason names the piece and says why in words", () => {
	expect(classifyCommand("ls; rm -rf /var/data; pwd", facts)).toEqual({
		kind: "dangerous",
		reasons: [
			{
				class: "delete",
				action: "delete_data",
				segment: "rm -rf /var/data",
				why: "deletes a folder and everything in it: /var/data",
			},
			{
				class: "system",
				action: "run_command",
				segment: "rm -rf /var/data",
				why: "writes to a system folder: /var/data",
			},
		],
	});
});

test("the action is the one that the confirmation is about", () => {
	const actions = (command: string): string[] => {
		const verdict = classifyCommand(command, facts);
		return verdict.kind === "dangerous" ? verdict.reasons.map((reason) => reason.action) : [];
	};
	expect(actions("npm publish")).toEqual(["publish_package"]);
	expect(actions("dropdb x")).toEqual(["wipe_database"]);
	expect(actions("chmod +x y")).toEqual(["modify_permissions"]);
	expect(actions("systemctl stop y")).toEqual(["shutdown_service"]);
	expect(actions("ssh host ls")).toEqual(["exec_remote"]);
	expect(actions("terraform apply")).toEqual(["deploy_production"]);
	expect(actions("npx prisma migrate deploy")).toEqual(["migrate_database"]);
	expect(actions("sudo ls")).toEqual(["run_command"]);
	expect(actions("keryx token create")).toEqual(["modify_permissions"]);
});

test("what is shown of a command is short, on one line and cannot act", () => {
	const hostile = fc.array(
		fc.constantFrom("\u202e", "\u001b[31m", "\r", "\n", "x", "\u200b", "😀", "\ud800", "'", " "),
		{ maxLength: 400 },
	);
	fc.assert(
		fc.property(hostile, (pieces) => {
			const verdict = classifyCommand(`rm -rf "${pieces.join("")}"`, facts);
			expect(verdict.kind).toBe("dangerous");
			if (verdict.kind !== "dangerous") return;
			for (const { segment, why } of verdict.reasons) {
				expect(segment.length).toBeLessThanOrEqual(200);
				expect(why.length).toBeLessThanOrEqual(400);
				expect(`${segment}${why}`).not.toMatch(/\p{C}/u);
			}
		}),
	);
});

test("a workspace inside Keryx's home can be worked in, the rest of that home cannot", () => {
	const inside: CommandFacts = { ...facts, cwd: "/home/ann/.keryx/workspaces/w1" };
	expect(classifyCommand("cat src/x.ts", inside).kind).toBe("harmless");
	expect(classifyCommand("npm test", inside).kind).toBe("ordinary");
	expect(classifyCommand("cat ../../config.yaml", inside).kind).toBe("dangerous");
	expect(classifyCommand("cat ../w2/x", inside).kind).toBe("dangerous");
	expect(classifyCommand("cat /home/ann/.keryx/config.yaml", inside).kind).toBe("dangerous");
});

test("Keryx's home is known wherever it is", () => {
	const elsewhere: CommandFacts = { ...facts, keryxHome: "/srv/herald/state" };
	expect(classifyCommand("cat /srv/herald/state/keryx.db", elsewhere).kind).toBe("dangerous");
	expect(classifyCommand("cat /srv/her*/st?te/keryx.db", elsewhere).kind).toBe("dangerous");
	expect(classifyCommand("cat $KERYX_HOME/x", elsewhere).kind).toBe("dangerous");
	expect(classifyCommand("cat /srv/other/x", elsewhere).kind).toBe("harmless");
});
