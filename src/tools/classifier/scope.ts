// What the command itself has said so far about variables, functions, aliases and files. A variable keeps every value that
// it was given: which branch runs is not known, and the worst one counts.
import type { CompoundCommand, CompoundList, Redirected } from "unbash";
import { unknownField } from "./field.ts";
import type { CommandFacts, Field } from "./types.ts";

const MAX_VALUES = 16;
const MAX_LENGTH = 4096;
const MAX_FILE = 65_536;

/** A value of a variable, and the commands whose output is in it. */
export interface Value {
	readonly text: string;
	readonly from: readonly string[];
}

export interface FunctionBody {
	readonly node: CompoundCommand | Redirected | CompoundList;
	readonly source: string;
}

/** A file that the command wrote before: its text when it can be seen. */
export interface WrittenFile {
	readonly text: string | null;
	readonly from: readonly string[];
}

export class Scope {
	readonly functions = new Map<string, FunctionBody[]>();
	readonly aliases = new Map<string, string>();
	readonly files = new Map<string, WrittenFile>();
	/** Words are split at other characters than white space. */
	splitsElsewhere = false;
	readonly #variables = new Map<string, Value[]>();

	constructor(facts: CommandFacts) {
		this.#variables.set("HOME", [{ text: facts.home, from: [] }]);
		this.#variables.set("KERYX_HOME", [{ text: facts.keryxHome, from: [] }]);
		this.#variables.set("PWD", [{ text: facts.cwd, from: [] }]);
		// The job that was started last is one of the command's own.
		this.#variables.set("!", [{ text: "%%", from: [] }]);
	}

	has(name: string): boolean {
		return this.#variables.has(name);
	}

	values(name: string): readonly Value[] {
		return this.#variables.get(name) ?? [unknownField([], true)];
	}

	assign(name: string, added: readonly Value[]): void {
		const values = [...(this.#variables.get(name) ?? [])];
		for (const value of added) {
			if (values.some((known) => known.text === value.text)) continue;
			values.push(value.text.length > MAX_LENGTH ? unknownField(value.from, true) : value);
		}
		const from = values.flatMap((value) => value.from);
		this.#variables.set(name, values.length > MAX_VALUES ? [unknownField(from.slice(0, 8), true)] : values);
	}

	define(name: string, body: FunctionBody): void {
		const known = this.functions.get(name) ?? [];
		if (!known.some(({ node }) => node === body.node)) this.functions.set(name, [...known, body]);
	}

	wrote(path: string, file: WrittenFile): void {
		const before = this.files.get(path) ?? { text: "", from: [] };
		const text = before.text === null || file.text === null ? null : `${before.text}\n${file.text}`;
		this.files.set(path, {
			text: text === null || text.length > MAX_FILE ? null : text,
			from: [...before.from, ...file.from].slice(0, MAX_VALUES),
		});
	}
}

/** $1, $2 and so on of a function or a script; null when they cannot be seen. */
export type Positional = readonly Field[] | null;
