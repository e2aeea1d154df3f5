// What an invocation runs in turn: sudo, env, xargs, ssh, a shell with a script.
// Pure: the walker continues with the result.
// Never here: a verdict.

import type { Scope } from "../shell/scope.ts";
import type { Invocation } from "../types.ts";
import { carriedInner } from "./carried.ts";
import type { Inner } from "./inner.ts";
import { LAUNCH_OPTIONS } from "./launch-options.ts";
import { afterPrefix, afterSubcommand, PREFIXES, RUNNERS } from "./prefixes.ts";
import { evalInner, SHELLS, shellInner, sourceInner, unseen } from "./shells.ts";
import { loaderInner, SPAWNERS } from "./spawners.ts";
import { writtenProgram } from "./written.ts";

export { WATCHERS } from "./launch-options.ts";
export { isDownload, SHELLS } from "./shells.ts";

export function innerOf(invocation: Invocation, scope: Scope): Inner[] {
	const { name, args } = invocation;
	const { files } = scope;
	const file = writtenProgram(invocation, scope);
	if (SHELLS.has(name)) return [...file, ...shellInner(invocation, files)];
	if (name === "eval") return evalInner(args);
	if (name === "source" || name === ".") return sourceInner(invocation, files);
	// It only tells what the name means.
	if (name === "command" && /^-[pvV]*[vV]/.test(args[0]?.text ?? "")) return [];
	const prefix = PREFIXES.get(name);
	const runs = RUNNERS.get(name);
	const known = [
		...(prefix ? afterPrefix(invocation, prefix) : []),
		...(runs ? afterSubcommand(invocation, runs) : []),
		...(SPAWNERS.get(name)?.(invocation) ?? []),
		...loaderInner(invocation),
	];
	return [...file, ...doors(invocation), ...known, ...(known.length === 0 ? carriedInner(invocation) : [])];
}

function doors({ name, args }: Invocation): Inner[] {
	const option = LAUNCH_OPTIONS.find(
		({ names, word }) =>
			names.test(name) && args.some((arg, index) => word.test(`${arg.text} ${args[index + 1]?.text ?? ""} `)),
	);
	return option ? [unseen([], option.why)] : [];
}
