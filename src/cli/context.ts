// A command's context: nothing below main.ts uses globals.
import { type Environment, keryxHome, type LoadedConfig, loadConfig } from "../config/index.ts";
import { createOutput, type Output, type Streams } from "./io/output.ts";

export interface CliContext extends Streams {
	readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
	readonly env: Environment;
	/** Milliseconds since 1970. The CLI may read the clock; the domain gets the time as an argument. */
	readonly now: () => number;
	readonly json: boolean;
	/** The value of --timeout; default: the usual. */
	readonly timeoutMs?: () => number | undefined;
	/** Exits with this code once the output is written; for a command that reports bad input and continues. */
	readonly exitWith: (code: number) => void;
}

/** The current configuration and an output that hides its secrets. Warnings are printed. */
export function openConfig(context: CliContext, file?: string): { config: LoadedConfig; output: Output } {
	const config = loadConfig({ home: keryxHome(context.env), env: context.env, file });
	const output = createOutput(context, { json: context.json, hide: (text) => config.secrets.hide(text) });
	for (const warning of config.warnings) output.warn(warning);
	return { config, output };
}
