// A command line -> everything that it would run, each piece once, in order. The walk never throws and its work is bounded:
// what is too long, too deep or too much is reported as dangerous instead.
import {
	type Command,
	type For,
	type Function as FunctionNode,
	forEachChild,
	type ParsedScript,
	type Pipeline,
	parse,
	type Redirected,
	type Redirection as RedirectionNode,
	type Select,
	type SyntaxNode,
	type Word,
} from "unbash";
import { assignedVariables, changeState } from "./builtins.ts";
import { Effort } from "./effort.ts";
import { evaluationOf } from "./evaluation.ts";
import { baseName, isKnown, plainField, unknownField } from "./field.ts";
import { innerOf, isDownload } from "./launch/index.ts";
import { outputOf, rememberFiles } from "./output.ts";
import { type Positional, Scope, type Value } from "./scope.ts";
import { UNKNOWN } from "./text.ts";
import type {
	CommandFacts,
	CommandRule,
	EnvironmentChange,
	Field,
	Invocation,
	Redirection,
	Stdin,
} from "./types.ts";
import { appended, commandNames, multiplies, partValues, wordChoices, wordValues } from "./words.ts";

const MAX_CHOICES = 16;

export interface Sink {
	invocation(invocation: Invocation): void;
	danger(rule: CommandRule, segment: string, why: string): void;
	/** Not dangerous, but it cannot be said that it only reads. */
	doubt(): void;
}

interface Context {
	readonly source: string;
	readonly stdin: Stdin;
	readonly depth: number;
	/** Functions and aliases that are being followed. */
	readonly calls: readonly string[];
	/** Shared by what sees the same $1, $2; set and shift change it. */
	readonly frame: { positional: Positional };
}

interface Call {
	readonly words: readonly Field[];
	readonly sets: readonly EnvironmentChange[];
	readonly redirections: readonly Redirection[];
	readonly stdin: Stdin;
	readonly many: boolean;
	readonly segment: string;
}

export function walkCommand(command: string, facts: CommandFacts, sink: Sink): void {
	new Walker(facts, sink).script(command, {
		source: command,
		stdin: { kind: "inherited" },
		depth: 0,
		calls: [],
		frame: { positional: null },
	});
}

class Walker {
	readonly #sink: Sink;
	readonly #scope: Scope;
	readonly #home: string;
	#cwd: string | null;
	readonly #effort = new Effort();
	#full = false;

	constructor(facts: CommandFacts, sink: Sink) {
		this.#sink = sink;
		this.#scope = new Scope(facts);
		this.#home = facts.home;
		this.#cwd = facts.cwd;
	}

	script(text: string, context: Context): void {
		const refused = this.#effort.refuseText(text, context.depth);
		if (refused) {
			this.#stop(text, refused);
			return;
		}
		let parsed: ParsedScript;
		try {
			parsed = parse(text);
		} catch {
			this.#stop(text, "is nested too deeply to be looked through");
			return;
		}
		this.#parsed(parsed, text, context);
	}

	#parsed(script: ParsedScript, text: string, context: Context): void {
		if (this.#full) return;
		const [error] = script.errors ?? [];
		if (error) {
			this.#sink.danger("syntax", text, "cannot be read as a command");
			return;
		}
		const inner = { ...context, source: script.source ?? context.source };
		for (const statement of script.commands) this.#visit(statement, inner);
	}

	/** Gives what it prints when that can be seen. */
	#visit(node: SyntaxNode, context: Context): string | null {
		if (this.#full) return null;
		if (node.type === "Command") return this.#command(node, context);
		if (node.type === "Pipeline") return this.#pipeline(node, context);
		if (node.type === "Statement") return this.#visit(node.command, context);
		if (node.type === "Redirected") return this.#redirected(node, context);
		if (node.type === "Function") this.#function(node, context);
		else if (node.type === "Subshell") this.#apart(() => this.#children(node, context));
		else if (node.type === "For" || node.type === "Select") this.#loop(node, context);
		else if ("script" in node) this.#substitution(node.script, node.text, context);
		else {
			this.#evaluation(node, context);
			this.#children(node, context);
		}
		return null;
	}

	#redirected(node: Redirected, context: Context): string | null {
		for (const redirect of node.redirects) this.#visit(redirect, context);
		const { redirections, stdin } = this.#redirections(node.redirects, context);
		const segment = context.source.slice(node.pos, node.end);
		this.#run({ words: [], sets: [], redirections, stdin, many: false, segment }, context);
		return this.#visit(node.command, { ...context, stdin });
	}

	#loop(node: For | Select, context: Context): void {
		for (const word of node.wordlist ?? []) this.#visit(word, context);
		const values = node.wordlist?.flatMap((word) => this.#fields(word, context)).flat();
		const segment = context.source.slice(node.pos, node.end);
		const sets = (values ?? [unknownField([], true)]).map((value) => ({ name: node.name.value, value }));
		this.#run({ words: [], sets, redirections: [], stdin: context.stdin, many: false, segment }, context);
		this.#visit(node.body, context);
	}

	#substitution(script: ParsedScript | undefined, text: string, context: Context): void {
		if (script) this.#apart(() => this.#parsed(script, text, context));
		else this.#sink.danger("syntax", text, "cannot be read as a command");
	}

	#evaluation(node: SyntaxNode, context: Context): void {
		const evaluated = evaluationOf(node, (word) => this.#values(word, context), this.#scope);
		if (evaluated === "doubt") this.#sink.doubt();
		if (evaluated !== "unseen") return;
		const segment = context.source.slice(node.pos, node.end);
		this.#sink.danger("unseen", segment, "runs text that is hidden in a value");
	}

	#children(node: SyntaxNode, context: Context): void {
		forEachChild(node, (child) => void this.#visit(child, context));
	}

	/** What changes the folder in a subshell does not change it outside. */
	#apart(inside: () => void): void {
		const before = this.#cwd;
		inside();
		this.#cwd = before;
	}

	#pipeline(node: Pipeline, context: Context): string | null {
		if (node.commands.length === 1 && node.commands[0]) return this.#visit(node.commands[0], context);
		let { stdin } = context;
		const from = new Set(stdin.kind === "pipe" || stdin.kind === "text" ? stdin.from : []);
		let output: string | null = null;
		for (const command of node.commands) {
			this.#apart(() => {
				output = this.#visit(command, { ...context, stdin });
			});
			for (const name of commandNames(command)) from.add(name);
			stdin =
				output === null ? { kind: "pipe", from: [...from] } : { kind: "text", text: output, from: [...from] };
		}
		return output;
	}

	#function(node: FunctionNode, context: Context): void {
		const name = node.name.value;
		this.#scope.define(name, { node: node.body, source: context.source });
		if (multiplies(node.body, name))
			this.#sink.danger(
				"bomb",
				context.source.slice(node.pos, node.end),
				"starts itself again and again until the machine stops",
			);
		this.#apart(() =>
			this.#visit(node.body, { ...context, calls: [...context.calls, name], frame: { positional: null } }),
		);
	}

	#command(node: Command, context: Context): string | null {
		this.#children(node, context);
		const segment = context.source.slice(node.pos, node.end);
		const sets = node.prefix.flatMap((item) =>
			item.type === "Assignment" ? this.#assignment(item, context) : [],
		);
		const { redirections, stdin } = this.#redirections(node.redirects, context);
		let output: string | null = null;
		const choices = this.#choices(node, context);
		for (const words of choices) {
			const said = this.#run({ words, sets, redirections, stdin, many: false, segment }, context);
			output = choices.length === 1 ? said : null;
		}
		return output;
	}

	/** Every way the words may turn out; too many ways are one that cannot be seen. */
	#choices(node: Command, context: Context): Field[][] {
		const words = [
			...(node.name ? [this.#fields(node.name, context)] : []),
			...node.args.map((arg) =>
				arg.type === "Word"
					? this.#fields(arg, context)
					: this.#assignment(arg, context).map(({ name, value }) => [
							{ ...value, text: `${name}=${value.text}` },
						]),
			),
		];
		const ways = words.reduce((count, choices) => Math.min(count * choices.length, MAX_CHOICES + 1), 1);
		if (ways > MAX_CHOICES)
			return [
				words.flatMap((choices) => (choices.length > 1 ? [unknownField([], true)] : (choices[0] ?? []))),
			];
		return words.reduce<Field[][]>((lines, choices) => appended(lines, choices), [[]]);
	}

	#fields(word: Word, context: Context): Field[][] {
		return wordChoices(word, this.#scope, context.frame.positional);
	}

	#values(word: Word, context: Context): Value[] {
		return wordValues(word, this.#scope, context.frame.positional);
	}

	#assignment(node: Extract<SyntaxNode, { type: "Assignment" }>, context: Context): EnvironmentChange[] {
		const plain = node.value.type === "Word" && !node.index && !node.append;
		if (!plain || node.value.type !== "Word") {
			const values = node.value.type === "Word" ? this.#values(node.value, context) : [];
			this.#scope.assign(node.name, [{ text: UNKNOWN, from: values.flatMap((value) => value.from) }]);
			return [{ name: node.name, value: unknownField([], false) }];
		}
		return this.#values(node.value, context).map(({ text, from }) => ({
			name: node.name,
			value: { ...plainField(text), from },
		}));
	}

	#redirections(
		nodes: readonly RedirectionNode[],
		context: Context,
	): { redirections: Redirection[]; stdin: Stdin } {
		const redirections: Redirection[] = [];
		let { stdin } = context;
		for (const node of nodes) {
			if (node.type === "HereDoc") {
				const parts = node.body.parts;
				const values = parts
					? partValues(parts, this.#scope, context.frame.positional)
					: [{ text: node.body.text, from: [] }];
				stdin = textStdin(values);
				continue;
			}
			const values: Value[] = node.target ? this.#values(node.target, context) : [unknownField([], false)];
			if (node.type === "HereString") {
				stdin = textStdin(values);
				continue;
			}
			for (const { text, from } of values) {
				const glob = /[*?[]/.test(text);
				redirections.push({ operator: node.operator, target: { text, from, splits: false, glob } });
			}
			const [target] = redirections.slice(-1);
			if (node.operator === "<" && !node.descriptor && target) stdin = { kind: "file", path: target.target };
		}
		return { redirections, stdin };
	}

	#run(call: Call, context: Context): string | null {
		if (this.#full) return null;
		const refused = this.#effort.refuseWords(call.words, call.stdin, context.depth);
		if (refused) {
			this.#stop(call.segment, refused);
			return null;
		}
		const invocation = this.#invocation(call);
		if (!invocation) return null;
		this.#sink.invocation(invocation);
		for (const { name, value } of invocation.sets) this.#scope.assign(name, [value]);
		const state = {
			scope: this.#scope,
			cwd: this.#cwd,
			home: this.#home,
			positional: context.frame.positional,
		};
		const changed = changeState(invocation, state);
		this.#cwd = changed.cwd;
		context.frame.positional = changed.positional;
		for (const script of changed.scripts)
			this.script(script, { ...context, source: script, depth: context.depth + 1 });
		if (changed.hidden) this.#sink.danger("unseen", call.segment, changed.hidden);

		this.#follow(invocation, call, context);
		const output = outputOf(invocation);
		rememberFiles(invocation, output, this.#scope);
		return invocation.redirections.some(({ operator }) => operator.includes(">")) ? null : output;
	}

	/** Null, and reported, when the name of the program cannot be known. */
	#invocation(call: Call): Invocation | null {
		const [first, ...args] = call.words;
		const path = first?.text ?? "";
		const base = baseName(path);
		if (first && (!isKnown(base) || first.splits || first.glob || path.startsWith("="))) {
			const rule = isDownload(first.from) ? "download" : "unseen";
			this.#sink.danger(rule, call.segment, "runs a program whose name cannot be seen before it runs");
			return null;
		}
		if (first && path === "") {
			this.#sink.doubt();
			return null;
		}
		const name = base.toLowerCase();
		return {
			name,
			path,
			args,
			sets: [...call.sets, ...assignedVariables(name, args)],
			redirections: call.redirections,
			stdin: call.stdin,
			cwd: this.#cwd,
			many: call.many,
			segment: call.segment,
		};
	}

	/** Functions, aliases, and what the program runs in its turn. */
	#follow(invocation: Invocation, call: Call, context: Context): void {
		const { path, args } = invocation;
		if (!context.calls.includes(path)) {
			const inside = { ...context, calls: [...context.calls, path], stdin: call.stdin };
			for (const { node, source } of this.#scope.functions.get(path) ?? [])
				this.#visit(node, { ...inside, source, frame: { positional: args } });
			const alias = this.#scope.aliases.get(path);
			if (alias !== undefined) this.#alias(alias, args, call, inside);
		}
		for (const inner of innerOf(invocation, this.#scope.files)) {
			if (inner.kind === "unseen") this.#sink.danger(inner.rule, call.segment, inner.why);
			else if (inner.kind === "script")
				this.script(inner.script.text, {
					...context,
					source: inner.script.text,
					stdin: call.stdin,
					depth: context.depth + 1,
					frame: { positional: inner.positional ?? null },
				});
			else if (inner.words.length > 0)
				this.#run(
					{
						...call,
						words: inner.words[0]?.text === "" ? [] : inner.words,
						sets: [...(inner.sets ?? [])],
						redirections: [],
						stdin: inner.many ? { kind: "inherited" } : call.stdin,
						many: call.many || inner.many === true,
					},
					{ ...context, depth: context.depth + 1 },
				);
		}
	}

	/** An alias is text before the words: read as that text with the words as "$@". */
	#alias(text: string, args: readonly Field[], call: Call, context: Context): void {
		this.script(`${text} "$@"`, {
			...context,
			source: `${text} "$@"`,
			stdin: call.stdin,
			depth: context.depth + 1,
			frame: { positional: args },
		});
	}

	#stop(segment: string, why: string): void {
		this.#full = true;
		this.#sink.danger("limit", segment, why);
	}
}

function textStdin(values: readonly Value[]): Stdin {
	const [only, more] = values;
	const from = values.flatMap((value) => value.from);
	return { kind: "text", text: only && !more ? only.text : UNKNOWN, from };
}
