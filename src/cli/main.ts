// The `keryx` command: runs the program, and turns failures into messages and exit codes.
// This folder reads arguments, prints, and calls a running Keryx over its socket.
// Never here: a rule that the API or a chat needs too.
import type { CliContext } from "./context.ts";
import { reportError } from "./io/report.ts";
import { runProgram } from "./program.ts";

// A reader such as `head` closes the pipe early; that is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit();
	throw error;
});

const words = process.argv.slice(2);
const context: CliContext = {
	env: process.env,
	stdin: process.stdin,
	stdout: process.stdout,
	stderr: process.stderr,
	now: () => Date.now(),
	// Known before the arguments are parsed, because their errors must have the requested form.
	json: asksForJson(words),
	exitWith: (code) => {
		process.exitCode = code;
	},
};

try {
	await runProgram(context, words);
} catch (error) {
	context.exitWith(reportError(error, context));
}

/** Words after `--` are arguments, whatever they look like. */
function asksForJson(words: readonly string[]): boolean {
	const json = words.indexOf("--json");
	const end = words.indexOf("--");
	return json !== -1 && (end === -1 || json < end);
}
