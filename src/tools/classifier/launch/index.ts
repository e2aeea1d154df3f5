// What an invocation runs in its turn. Pure: the walker goes on with what comes out.
import type { Inner } from "../inner.ts";
import type { WrittenFile } from "../scope.ts";
import type { Invocation } from "../types.ts";
import { afterPrefix, afterSubcommand, PREFIXES, RUNNERS } from "./prefixes.ts";
import { evalInner, SHELLS, shellInner, sourceInner, writtenProgram } from "./shells.ts";
import { SPAWNERS } from "./spawners.ts";

export { isDownload, SHELLS } from "./shells.ts";

export function innerOf(invocation: Invocation, files: ReadonlyMap<string, WrittenFile>): Inner[] {
	const { name, args } = invocation;
	const file = writtenProgram(invocation, files);
	if (file.length > 0) return file;
	if (SHELLS.has(name)) return shellInner(invocation, files);
	if (name === "eval") return evalInner(args);
	if (name === "source" || name === ".") return sourceInner(invocation, files);
	// It only tells what the name means.
	if (name === "command" && /^-[pvV]*[vV]/.test(args[0]?.text ?? "")) return [];
	const prefix = PREFIXES.get(name);
	const runs = RUNNERS.get(name);
	return [
		...(prefix ? afterPrefix(invocation, prefix) : []),
		...(runs ? afterSubcommand(invocation, runs) : []),
		...(SPAWNERS.get(name)?.(invocation) ?? []),
	];
}
