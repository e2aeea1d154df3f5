import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Command, Help } from "commander";
import { describe, expect, test } from "vitest";
import type { CliContext } from "./context.ts";
import { COMMANDS, runProgram } from "./program.ts";

function contextOf(write: (text: string) => void): CliContext {
	return {
		env: {},
		stdin: (async function* () {})(),
		stdout: { write: (text) => write(String(text)) },
		stderr: { write },
		now: () => 0,
		json: false,
		exitWith: () => {},
	};
}

async function said(...words: string[]): Promise<string> {
	let text = "";
	// The help and the version end the program by an error with code 0.
	await expect(
		runProgram(
			contextOf((part) => (text += part)),
			words,
		),
	).rejects.toMatchObject({ exitCode: 0 });
	return text;
}

describe("the list of commands", () => {
	test.each(COMMANDS.map((listed) => [listed.term.split(" ")[0], listed] as const))(
		"says of %s what it says of itself",
		async (name, { term, about, load }) => {
			const program = new Command("keryx");
			(await load())(
				program,
				contextOf(() => {}),
			);
			expect(program.commands.map((command) => command.name())).toEqual([name]);
			const [command] = program.commands as [Command];
			expect([new Help().subcommandTerm(command), command.description()]).toEqual([term, about]);
		},
	);

	test("a command's own help is loaded, whatever stands before its name", async () => {
		const help = await said("why", "--help");
		expect(help).toContain("Usage: keryx why [options] <message>");
		expect(await said("--timeout", "5", "--json", "why", "--help")).toBe(help);
	});

	test("a word that is no command is refused with the nearest one, loaded or not", async () => {
		await expect(
			runProgram(
				contextOf(() => {}),
				["sned"],
			),
		).rejects.toMatchObject({
			code: "usage.invalid",
			message: 'unknown command "sned"; did you mean send?',
		});
	});
});

test.each(["--version", "--help"])("%s loads nothing but the program itself", async (word) => {
	const hook = `import { registerHooks } from "node:module";
		const found = new Set();
		registerHooks({ load: (url, context, next) => { found.add(/\\/src\\/(\\w+)/.exec(url)?.[1]); return next(url, context); } });
		process.on("exit", () => process.stderr.write([...found].filter(Boolean).sort().join(" ")));`;
	const { stderr } = await promisify(execFile)(process.execPath, [
		"--disable-warning=ExperimentalWarning",
		"--import",
		`data:text/javascript,${encodeURIComponent(hook)}`,
		new URL("main.ts", import.meta.url).pathname,
		word,
	]);
	expect(stderr).toBe("app called cli errors");
});
