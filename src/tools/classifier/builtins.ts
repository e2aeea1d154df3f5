// What the shell's own commands change for the commands after them: the folder, variables, aliases, positional words.
import { hasShort, isKnown, operands, optionValue, unknownField } from "./field.ts";
import { absolutePath } from "./paths.ts";
import type { Positional, Scope } from "./scope.ts";
import type { EnvironmentChange, Field, Invocation } from "./types.ts";

export interface ShellState {
	readonly scope: Scope;
	readonly cwd: string | null;
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
export function assignedVariables(name: string, args: readonly Field[]): EnvironmentChange[] {
	if (READERS.has(name) || name === "printf") {
		const variables = name === "printf" ? [optionValue(args, "-v")] : operands(args);
		return variables.flatMap((word) => (word ? [{ name: word.text, value: unknownField([], true) }] : []));
	}
	if (!DECLARATIONS.has(name)) return [];
	return args.flatMap((arg) => {
		const set = /^(\w+)\+?=(.*)$/s.exec(arg.text);
		return set ? [{ name: set[1] ?? "", value: { ...arg, text: set[2] ?? "" } }] : [];
	});
}

export function changeState(invocation: Invocation, state: ShellState): StateChange {
	const { name, args, sets } = invocation;
	const same: StateChange = { cwd: state.cwd, positional: state.positional, scripts: [], hidden: null };
	const lasting = name === "" || DECLARATIONS.has(name);
	if (lasting && sets.some((set) => set.name === "IFS" && /[^ \t\n]/.test(set.value.text)))
		state.scope.splitsElsewhere = true;
	if (DECLARATIONS.has(name)) {
		if (name !== "export" && hasShort(args, "n"))
			return { ...same, hidden: "gives a variable a second name, so what it holds cannot be followed" };
		if (args.some((arg) => /^\0/.test(arg.text)))
			return { ...same, hidden: "sets variables that cannot be seen before it runs" };
		return same;
	}
	if (READERS.has(name)) {
		for (const usual of ["REPLY", "MAPFILE", "OPTARG"]) state.scope.assign(usual, [unknownField([], true)]);
		return same;
	}
	switch (name) {
		case "cd":
		case "pushd":
		case "chdir":
			return { ...same, cwd: folderAfter(operands(args)[0], state) };
		case "popd":
			return { ...same, cwd: null };
		case "set":
			return operands(args).length > 0 || args.some((arg) => arg.text === "--")
				? { ...same, positional: null }
				: same;
		case "shift":
			return { ...same, positional: null };
		case "alias":
			return { ...same, ...aliases(args, state.scope) };
		default:
			return same;
	}
}

function folderAfter(folder: Field | undefined, state: ShellState): string | null {
	if (!folder) return state.home;
	if (folder.text === "-" || !isKnown(folder.text) || folder.glob) return null;
	return absolutePath(folder.text, state.cwd);
}

function aliases(args: readonly Field[], scope: Scope): Pick<StateChange, "scripts" | "hidden"> {
	const scripts: string[] = [];
	for (const arg of operands(args)) {
		const set = /^([^=]+)=(.*)$/s.exec(arg.text);
		if (!isKnown(arg.text)) return { scripts, hidden: "gives a command another meaning that cannot be seen" };
		if (!set) continue;
		const [, name = "", text = ""] = set;
		scope.aliases.set(name, text);
		scripts.push(text);
	}
	return { scripts, hidden: null };
}
