// How a command ends: the exit code, and the error message. No stack trace unless asked for.
import { CommanderError } from "commander";
import { KeryxError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { createOutput, escapeText } from "./output.ts";

/** As documented in docs/reference/cli.md. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Prints the error and returns the exit code. With --json it is one object on stdout, and stderr stays empty. */
export function reportError(error: unknown, context: CliContext): number {
	// Help and the version are no errors; commander has printed them.
	if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
	const known = toKeryxError(error);
	if (context.json) createOutput(context, { json: true }).value({ error: known });
	else {
		const lines = [...`keryx: ${known.message}`.split("\n"), `what to do: ${known.hint}`];
		context.stderr.write(`${lines.map(escapeText).join("\n")}\n`);
	}
	if (INPUT_FAULTS.has(known.code.split(".")[0] ?? "")) return EXIT.usage;
	if (known.code === "internal" && context.env.KERYX_DEBUG)
		context.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
	return EXIT.failure;
}

/** Code families that mean wrong input; any other is a failure of Keryx. */
const INPUT_FAULTS: ReadonlySet<string> = new Set([
	"source",
	"address",
	"profile",
	"policy",
	"override",
	"argument",
	"config",
	"input",
	"import",
	"usage",
]);

function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	if (error instanceof CommanderError)
		return new KeryxError("usage.invalid", error.message.replace(/^error: /, ""));
	return new KeryxError("internal", error instanceof Error ? error.message : String(error), { cause: error });
}
