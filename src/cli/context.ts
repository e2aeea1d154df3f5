// What a command is given: the surroundings of the process, so that nothing below main.ts reaches for globals.
import { type Environment, keryxHome, type LoadedConfig, loadConfig } from "../config/index.ts";
import { createOutput, type Output, type Streams } from "./io/output.ts";

export interface CliContext extends Streams {
	readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
	readonly env: Environment;
	/** Milliseconds since 1970. The CLI may read the clock; the domain is told the time. */
	readonly now: () => number;
	readonly json: boolean;
	/** What --timeout says; left out, or undefined, the usual. */
	readonly timeoutMs?: () => number | undefined;
	/** Ends with this code once the output is written; for a command that reports bad input and goes on. */
	readonly exitWith: (code: number) => void;
}

/** The configuration in force and an output that hides its secrets. Its warnings are printed. */
export function openConfig(context: CliContext, file?: string): { config: LoadedConfig; output: Output } {
	const config = loadConfig({ home: keryxHome(context.env), env: context.env, file });
	const output = createOutput(context, { json: context.json, hide: (text) => config.secrets.hide(text) });
	for (const warning of config.warnings) output.warn(warning);
	return { config, output };
}
