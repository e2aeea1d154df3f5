// Shell builtins and their effect on later commands: the folder, variables, aliases, positional parameters.
import { isDark, isKnown, unknownField } from "../field.ts";
import { absolutePath } from "../files/paths.ts";
import { hasShort, operands, optionValue, optionValues } from "../options.ts";
import { UNKNOWN } from "../text.ts";
import type { EnvironmentChange, Field, Invocation, Stdin } from "../types.ts";
import type { Positional, Scope } from "./scope.ts";

export interface ShellState {
	readonly scope: Scope;
	readonly home: string;
	readonly positional: Positional;
}

export interface StateChange {
	readonly cwd: string | null;
	readonly positional: Positional;
	/** Text that becomes a command later. */
	readonly scripts: readonly string[];
	/** Why what comes after cannot be judged. */
	readonly hidden: string | null;
}

const DECLARATIONS: ReadonlySet<string> = new Set(["export", "declare", "typeset", "local", "readonly"]);
const READERS: ReadonlySet<string> = new Set(["read", "mapfile", "readarray", "getopts", "vared"]);

/** `export A=b` and its like set variables as words, `read A` by their name. */
export function assignedVariables(
	name: string,
	args: readonly Field[],
	stdin: Stdin,
	sets: readonly EnvironmentChange[],
): EnvironmentChange[] {
	if (READERS.has(name) || name === "printf") {
		const variables =
			name === "printf" ? [optionValue(args, "-v")] : [...operands(args), ...optionValues(args, "-a")];
		const value = readValue(name, stdin, variables.length < 2 && splitsAtSpace(sets));
		return variables.flatMap((word) => (word ? [{ name: word.text, value }] : []));
	}
	if (!DECLARATIONS.has(name)) return [];
	return args.flatMap((arg) => {
		const set = /^(\w+)\+?=(.*)$/s.exec(arg.text);
		return set ? [{ name: set[1] ?? "", value: { ...arg, text: set[2] ?? "" } }] : [];
	});
}

/** With a separator other than white space, a field may be any piece of the line. */
function splitsAtSpace(sets: readonly EnvironmentChange[]): boolean {
	return sets.every((set) => set.name !== "IFS" || set.value.text === "");
}

/** One line of the input, or a part of it if there are more variables. Named after its source. */
function readValue(name: string, stdin: Stdin, whole: boolean): Field {
	if (name === "getopts") return unknownField([], true);
	const from = stdin.kind === "pipe" || stdin.kind === "text" ? [name, ...stdin.from] : [name];
	const each = stdin.kind === "pipe" ? stdin.each : null;
	if (each !== null && name === "read" && whole) return { text: each, splits: true, glob: false, from };
	return unknownField(from, true);
}

export function changeState(invocation: Invocation, state: ShellState): StateChange {
	const { name, args, sets, stdin } = invocation;
	const { scope } = state;
	const same: StateChange = { cwd: scope.cwd, positional: state.positional, scripts: [], hidden: null };
	const lasting = name === "" || DECLARATIONS.has(name);
	if (lasting && sets.some((set) => set.name === "IFS" && /[^ \t\n]/.test(set.value.text)))
		scope.splitsElsewhere = true;
	if (name === "shopt" && args.some((arg) => arg.text === "dotglob") && hasShort(args, "s"))
		return { ...same, hidden: "makes patterns find hidden files" };
	if (DECLARATIONS.has(name)) {
		if (hasShort(args, "i"))
			for (const arg of operands(args)) scope.integers.add(arg.text.split("=", 1)[0] ?? "");
		if (name !== "export" && hasShort(args, "n"))
			return { ...same, hidden: "gives a variable a second name, so its value cannot be checked" };
		if (args.some((arg) => arg.text.startsWith(UNKNOWN)))
			return { ...same, hidden: "sets variables that cannot be checked before it runs" };
		return same;
	}
	if (READERS.has(name)) {
		for (const usual of ["REPLY", "MAPFILE", "OPTARG"]) scope.assign(usual, [readValue(name, stdin, true)]);
		return same;
	}
	switch (name) {
		case "cd":
		case "pushd":
		case "chdir": {
			const cwd = folderAfter(operands(args)[0], scope, state.home);
			scope.before.push(scope.cwd);
			return { ...same, cwd };
		}
		case "popd":
			return { ...same, cwd: scope.before.pop() ?? null };
		case "set":
			return operands(args).length > 0 || args.some((arg) => arg.text === "--")
				? { ...same, positional: null }
				: same;
		case "shift":
			return { ...same, positional: null };
		case "alias":
			return { ...same, ...aliases(args, scope) };
		default:
			return same;
	}
}

/** An unseen folder below the current one may be worked in like its parent. */
function folderAfter(folder: Field | undefined, scope: Scope, home: string): string | null {
	if (!folder) return home;
	if (folder.text === "-") return scope.before.at(-1) ?? null;
	// An argument that may turn out empty leads home.
	return isDark(folder.text) || folder.splits ? null : absolutePath(folder.text, scope.cwd);
}

function aliases(args: readonly Field[], scope: Scope): Pick<StateChange, "scripts" | "hidden"> {
	const scripts: string[] = [];
	for (const arg of operands(args)) {
		const set = /^([^=]+)=(.*)$/s.exec(arg.text);
		if (!isKnown(arg.text))
			return { scripts, hidden: "gives a command another meaning that cannot be checked" };
		if (!set) continue;
		const [, name = "", text = ""] = set;
		scope.aliases.set(name, text);
		scripts.push(text);
	}
	return { scripts, hidden: null };
}
