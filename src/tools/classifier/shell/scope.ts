// What the command has set so far: variables, functions, aliases and files. A variable keeps every value it was given: which branch runs
// is unknown, and the worst one counts.
import type { CompoundCommand, CompoundList, Redirected } from "unbash";
import { unknownField } from "../field.ts";
import type { CommandFacts, Field } from "../types.ts";
import { usualValues } from "./usual.ts";

const MAX_VALUES = 16;
const MAX_LENGTH = 4096;
const MAX_FILE = 65_536;
/** Every shell has them: a value that the command gives them comes on top. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(["HOME", "KERYX_HOME", "!"]);

/** A value of a variable or the output of a command, and the commands whose output is in it. */
export interface Value {
	readonly text: string;
	readonly from: readonly string[];
	/** It is a pattern that the shell has replaced by file names. */
	readonly glob?: boolean;
	/** Stands for any number of words that look like the text. */
	readonly many?: boolean;
}

export interface FunctionBody {
	readonly node: CompoundCommand | Redirected | CompoundList;
	readonly source: string;
}

/** A file that the command wrote before: its text when it can be seen. */
export interface WrittenFile {
	readonly text: string | null;
	readonly from: readonly string[];
	/** Its text is the source that it was compiled from. */
	readonly compiled?: boolean;
}

export class Scope {
	readonly functions = new Map<string, FunctionBody[]>();
	readonly aliases = new Map<string, string>();
	readonly files = new Map<string, WrittenFile>();
	/** The folder that the next command runs in; null when it cannot be known. */
	cwd: string | null;
	/** Where `cd -` and `popd` go back to, latest last; null for an unknown folder. */
	readonly before: (string | null)[] = [];
	/** Words are split at other characters than white space. */
	splitsElsewhere = false;
	/** An archive from the network was unpacked: what is started from the folder may be its. */
	unpackedFrom: readonly string[] = [];
	readonly #variables = new Map<string, readonly Value[]>();
	readonly #own = new Set<string>();
	/** Variables that evaluate what they are given as arithmetic. */
	readonly integers = new Set<string>();
	readonly #facts: CommandFacts;

	constructor(facts: CommandFacts) {
		this.cwd = facts.cwd;
		this.#facts = facts;
	}

	/** The command has set it. */
	isOwn(name: string): boolean {
		return this.#own.has(name);
	}

	values(name: string): readonly Value[] {
		if (name === "PWD" && !this.#own.has(name))
			return [this.cwd === null ? unknownField([], true) : { text: this.cwd, from: [] }];
		return this.#variables.get(name) ?? this.#usual(name) ?? [unknownField([], true)];
	}

	assign(name: string, added: readonly Value[]): void {
		const kept = this.#own.has(name)
			? this.#variables.get(name)
			: ALWAYS_THERE.has(name)
				? this.#usual(name)
				: undefined;
		this.#own.add(name);
		const values = [...(kept ?? [])];
		for (const value of added) {
			if (values.some((known) => known.text === value.text && known.glob === value.glob)) continue;
			values.push(value.text.length > MAX_LENGTH ? unknownField(value.from, true) : value);
		}
		const from = values.flatMap((value) => value.from);
		this.#variables.set(name, values.length > MAX_VALUES ? [unknownField(from.slice(0, 8), true)] : values);
	}

	#usual(name: string): readonly Value[] | undefined {
		return usualValues(name, this.#facts)?.map((text) => ({ text, from: [] }));
	}

	define(name: string, body: FunctionBody): void {
		const known = this.functions.get(name) ?? [];
		if (!known.some(({ node }) => node === body.node)) this.functions.set(name, [...known, body]);
	}

	/** Appending and replacing are not distinguished: both texts count. */
	wrote(path: string, file: WrittenFile): void {
		const before = this.files.get(path);
		const texts = [before?.text ?? "", file.text];
		const text = before?.text === null || file.text === null ? null : texts.join(before ? "\n" : "");
		this.files.set(path, {
			...file,
			text: text === null || text.length > MAX_FILE ? null : text,
			from: [...(before?.from ?? []), ...file.from].slice(0, MAX_VALUES),
		});
	}
}

/** $1, $2 and so on of a function or a script; null when they cannot be seen. */
export type Positional = readonly Field[] | null;
