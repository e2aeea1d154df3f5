// A command line -> everything it would run, each piece once, in order. The walk never throws and its work is limited: anything too long,
// too deep or too much is reported as dangerous.
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
	type While,
	type Word,
	type WordPart,
} from "unbash";
import { isDark, isKnown, unknownField } from "../field.ts";
import { absolutePath } from "../files/paths.ts";
import { innerOf, isDownload } from "../launch/index.ts";
import type { Inner } from "../launch/inner.ts";
import type { CommandClass, CommandFacts, Field, Invocation, Stdin } from "../types.ts";
import { assigned, commandLines } from "./arguments.ts";
import { changeState } from "./builtins.ts";
import { type Call, invocationOf } from "./call.ts";
import { Effort } from "./effort.ts";
import { evaluatedWord, evaluationOf } from "./evaluation.ts";
import { NOTHING, outputOf } from "./output.ts";
import { readRedirections } from "./redirections.ts";
import { rememberFiles } from "./remember.ts";
import { type Positional, Scope, type Value } from "./scope.ts";
import { commandNames, isComposed, multiplies, type Reading, wordChoices, wordValues } from "./words.ts";

const UNSEEN_INPUT: Stdin = { kind: "pipe", from: [], each: null };

export interface Sink {
	invocation(invocation: Invocation): void;
	/** Code in another language, as the text of a program that runs. */
	code(code: Extract<Inner, { kind: "code" }>, segment: string): void;
	danger(reason: CommandClass, segment: string, why: string): void;
	/** Not dangerous, but it cannot be said that it only reads. */
	doubt(): void;
}

interface Context {
	readonly source: string;
	readonly stdin: Stdin;
	readonly depth: number;
	/** Functions and aliases being followed. */
	readonly calls: readonly string[];
	/** Shared by everything that sees the same $1, $2; set and shift change it, and `exec <` changes the input of all that follows. */
	readonly frame: { positional: Positional; stdin?: Stdin };
}

export function walkCommand(command: string, facts: CommandFacts, sink: Sink): void {
	const walker = new Walker(facts, sink);
	walker.pass(command);
	// Later text may run first. The second pass knows every value, file and function of the first.
	if (walker.runsOutOfOrder) walker.pass(command);
}

class Walker {
	readonly #sink: Sink;
	readonly #scope: Scope;
	readonly #facts: CommandFacts;
	#effort = new Effort();
	/** The output of command substitutions, as far as it can be seen. */
	readonly #printed = new Map<WordPart, Value>();
	readonly #called = new Set<string>();
	/** Checked after everything else: traps, and functions that nothing called. */
	#deferred: (() => void)[] = [];
	#full = false;
	/** Loops, jobs in the background and functions. */
	runsOutOfOrder = false;

	constructor(facts: CommandFacts, sink: Sink) {
		this.#sink = sink;
		this.#scope = new Scope(facts);
		this.#facts = facts;
	}

	pass(command: string): void {
		if (this.#full) return;
		this.#effort = new Effort();
		this.#scope.cwd = this.#facts.cwd;
		this.#scope.before.length = 0;
		const frame: Context["frame"] = { positional: null };
		this.script(command, { source: command, stdin: { kind: "inherited" }, depth: 0, calls: [], frame });
		for (let run = this.#deferred.shift(); run; run = this.#deferred.shift()) run();
	}

	script(text: string, context: Context): Value | null {
		const refused = this.#effort.refuseText(text, context.depth);
		if (refused) return this.#stop(text, refused);
		let parsed: ParsedScript;
		try {
			parsed = parse(text);
		} catch {
			return this.#stop(text, "is nested too deeply to check");
		}
		return this.#parsed(parsed, text, context);
	}

	#parsed(script: ParsedScript, text: string, context: Context): Value | null {
		if (this.#full) return null;
		const [error] = script.errors ?? [];
		if (error) {
			this.#sink.danger("syntax", text, "cannot be read as a command");
			return null;
		}
		const inner = { ...context, source: script.source ?? context.source };
		return this.#sequence(script.commands, inner);
	}

	/** Gives what it prints when that can be seen. */
	#visit(node: SyntaxNode, context: Context): Value | null {
		if (this.#full) return null;
		if (node.type === "Command") return this.#command(node, context);
		if (node.type === "Pipeline") return this.#pipeline(node, context);
		if (node.type === "AndOr" || node.type === "CompoundList") return this.#sequence(node.commands, context);
		if (node.type === "BraceGroup") return this.#visit(node.body, context);
		if (node.type === "Subshell") return this.#apart(() => this.#visit(node.body, context));
		if (node.type === "Redirected") return this.#redirected(node, context);
		if (node.type === "Statement") {
			if (node.background) this.runsOutOfOrder = true;
			return this.#visit(node.command, context);
		}
		// It is given its input later, through a descriptor.
		if (node.type === "Coproc") return this.#visit(node.body, { ...context, stdin: UNSEEN_INPUT });
		if (node.type === "Function") return this.#function(node, context);
		if (node.type === "For" || node.type === "Select") this.#loop(node, context);
		else if ("script" in node) this.#inWord(node, context);
		else {
			if (node.type === "While") this.#endless(node, context);
			if (node.type === "While" || node.type === "ArithmeticFor") this.runsOutOfOrder = true;
			// Indexes and similar are evaluated after the commands in them were seen.
			this.#children(node, context);
			this.#evaluation(node, context);
		}
		return null;
	}

	/** `$(…)`, `<(…)` and `>(…)`; the last one gets its input from the command before it. */
	#inWord(node: Extract<SyntaxNode, { script: unknown }>, context: Context): void {
		const takes =
			node.type === "ProcessSubstitution" && node.operator === ">" && context.stdin.kind !== "pipe";
		const inside: Context = takes ? { ...context, stdin: UNSEEN_INPUT } : context;
		const printed = this.#substitution(node.script, node.text, inside);
		if (node.type !== "CommandExpansion") return;
		if (printed) this.#printed.set(node, { ...printed, text: printed.text.replace(/\n+$/, "") });
		else this.#printed.delete(node);
	}

	/** One after another: what is printed is known when all but one print nothing. */
	#sequence(nodes: readonly SyntaxNode[], context: Context): Value | null {
		let printed: Value | null = NOTHING;
		for (const node of nodes) {
			const next = this.#visit(node, context);
			if (printed === null || next === null) printed = null;
			else if (printed.text === "") printed = next;
			else if (next.text !== "") printed = null;
		}
		return printed;
	}

	#redirected(node: Redirected, context: Context): Value | null {
		for (const redirect of node.redirects) this.#visit(redirect, context);
		const { redirections, stdin } = this.#redirections(node.redirects, context);
		const segment = context.source.slice(node.pos, node.end);
		this.#run({ words: [], sets: [], redirections, stdin, many: false, segment }, context);
		const printed = this.#visit(node.command, { ...context, stdin });
		return redirections.some(({ operator, descriptor }) => operator.includes(">") && descriptor === 1)
			? NOTHING
			: printed;
	}

	#loop(node: For | Select, context: Context): void {
		this.runsOutOfOrder = true;
		for (const word of node.wordlist ?? []) this.#visit(word, context);
		const values = node.wordlist?.flatMap((word) => this.#fields(word, context)).flat();
		const segment = context.source.slice(node.pos, node.end);
		const sets = (values ?? [unknownField([], true)]).map((value) => ({ name: node.name.value, value }));
		this.#run({ words: [], sets, redirections: [], stdin: context.stdin, many: false, segment }, context);
		this.#visit(node.body, context);
	}

	/** A loop that never ends and starts something in the background each time. */
	#endless(node: While, context: Context): void {
		const [clause, more] = node.clause.commands;
		const always = clause && !more && /^(true|:)$/.test(context.source.slice(clause.pos, clause.end).trim());
		const waits = commandNames(node.body).some((name) => /^(wait|sleep|read)$/.test(name));
		if (always && !waits && node.body.commands.some((statement) => statement.background))
			this.#sink.danger("bomb", context.source.slice(node.pos, node.end), "starts programs endlessly");
	}

	#substitution(script: ParsedScript | undefined, text: string, context: Context): Value | null {
		if (script) return this.#apart(() => this.#parsed(script, text, context));
		this.#sink.danger("syntax", text, "cannot be read as a command");
		return null;
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

	/** A folder change in a subshell stays there. */
	#apart<Result>(inside: () => Result): Result {
		const before = this.#scope.cwd;
		const result = inside();
		this.#scope.cwd = before;
		return result;
	}

	#pipeline(node: Pipeline, context: Context): Value | null {
		if (node.commands.length === 1 && node.commands[0]) return this.#visit(node.commands[0], context);
		let { stdin } = context;
		const from = new Set(stdin.kind === "pipe" || stdin.kind === "text" ? stdin.from : []);
		let printed: Value | null = null;
		for (const command of node.commands) {
			printed = this.#apart(() => this.#visit(command, { ...context, stdin }));
			for (const name of commandNames(command)) from.add(name);
			stdin =
				printed === null || printed.many
					? { kind: "pipe", from: [...from], each: printed?.text ?? null }
					: { kind: "text", text: printed.text, from: [...from] };
		}
		return printed;
	}

	#function(node: FunctionNode, context: Context): Value {
		const name = node.name.value;
		this.runsOutOfOrder = true;
		this.#scope.define(name, { node: node.body, source: context.source });
		if (multiplies(node.body, name))
			this.#sink.danger(
				"bomb",
				context.source.slice(node.pos, node.end),
				"starts copies of itself until the machine stops",
			);
		// A called function is checked with its arguments; one that is not called may be called by something else.
		this.#deferred.push(() => {
			if (this.#called.has(name)) return;
			const inside = { ...context, calls: [...context.calls, name], frame: { positional: null } };
			this.#apart(() => this.#visit(node.body, inside));
		});
		return NOTHING;
	}

	#command(node: Command, context: Context): Value | null {
		this.#children(node, context);
		const segment = context.source.slice(node.pos, node.end);
		const reading = this.#reading(context);
		const sets = node.prefix.flatMap((item) => (item.type === "Assignment" ? assigned(item, reading) : []));
		const { redirections, stdin } = this.#redirections(node.redirects, context);
		if (node.name && isComposed(node.name)) {
			const rule = isDownload(commandNames(node.name)) ? "download" : "unseen";
			this.#sink.danger(rule, segment, "runs a program whose name is built while it runs");
		}
		let printed: Value | null = null;
		const choices = commandLines(node, reading);
		for (const words of choices) {
			const said = this.#run({ words, sets, redirections, stdin, many: false, segment }, context);
			printed = choices.length === 1 ? said : null;
		}
		return printed;
	}

	#reading(context: Context): Reading {
		return {
			scope: this.#scope,
			positional: context.frame.positional,
			printed: (part) => this.#printed.get(part) ?? null,
		};
	}

	#fields(word: Word, context: Context): Field[][] {
		return wordChoices(word, this.#reading(context));
	}

	#values(word: Word, context: Context): Value[] {
		return wordValues(word, this.#reading(context));
	}

	#redirections(nodes: readonly RedirectionNode[], context: Context) {
		const { stdin: changed } = context.frame;
		const inherited = context.stdin.kind === "inherited" && changed ? changed : context.stdin;
		const read = readRedirections(nodes, inherited, this.#reading(context));
		return { ...read, stdin: this.#stdinOf(read.stdin) };
	}

	/** The text of a file that this command wrote, if known. */
	#stdinOf(stdin: Stdin): Stdin {
		const path =
			stdin.kind === "file" && isKnown(stdin.path.text)
				? absolutePath(stdin.path.text, this.#scope.cwd)
				: null;
		const written = path === null ? undefined : this.#scope.files.get(path);
		if (!written) return stdin;
		const { text, from } = written;
		return text === null ? { kind: "pipe", from, each: null } : { kind: "text", text, from };
	}

	#run(call: Call, context: Context): Value | null {
		if (this.#full) return null;
		const refused = this.#effort.refuseWords(call.words, call.stdin, context.depth);
		if (refused) return this.#stop(call.segment, refused);
		const invocation = this.#invocation(call);
		if (!invocation) return null;
		this.#sink.invocation(invocation);
		if (evaluatedWord(invocation))
			this.#sink.danger("unseen", call.segment, "runs text that is hidden in a value");
		for (const { name, value } of invocation.sets)
			this.#scope.assign(name, [{ ...value, many: value.splits && !isDark(value.text) }]);
		if (invocation.name === "exec" && invocation.args.length === 0) context.frame.stdin = call.stdin;
		const state = { scope: this.#scope, home: this.#facts.home, positional: context.frame.positional };
		const changed = changeState(invocation, state);
		this.#scope.cwd = changed.cwd;
		context.frame.positional = changed.positional;
		for (const script of changed.scripts)
			this.script(script, { ...context, source: script, depth: context.depth + 1 });
		if (changed.hidden) this.#sink.danger("unseen", call.segment, changed.hidden);

		if (invocation.name === "trap") this.#deferred.push(() => this.#follow(invocation, call, context));
		else this.#follow(invocation, call, context);
		const renamed = this.#scope.functions.has(invocation.path) || this.#scope.aliases.has(invocation.path);
		const printed = renamed ? null : outputOf(invocation, this.#scope.files);
		rememberFiles(invocation, renamed ? null : written(invocation, printed, this.#scope), this.#scope);
		return printed;
	}

	/** Null, and reported, when the name of the program cannot be known. */
	#invocation(call: Call): Invocation | null {
		const made = invocationOf(call, this.#scope.cwd);
		if (made.kind === "invocation") return made.invocation;
		if (made.kind === "nothing") this.#sink.doubt();
		else
			this.#sink.danger(
				made.class,
				call.segment,
				"runs a program whose name cannot be checked before it runs",
			);
		return null;
	}

	/** Functions, aliases, and what the program runs in its turn. */
	#follow(invocation: Invocation, call: Call, context: Context): void {
		const { path, args } = invocation;
		if (!context.calls.includes(path)) {
			const inside = { ...context, calls: [...context.calls, path], stdin: call.stdin };
			const bodies = this.#scope.functions.get(path) ?? [];
			if (bodies.length > 0) this.#called.add(path);
			for (const { node, source } of bodies)
				this.#visit(node, { ...inside, source, frame: { positional: args } });
			const alias = this.#scope.aliases.get(path);
			if (alias !== undefined) this.#alias(alias, args, call, inside);
		}
		for (const inner of innerOf(invocation, this.#scope)) {
			if (inner.kind === "unseen") this.#sink.danger(inner.class, call.segment, inner.why);
			else if (inner.kind === "code") this.#sink.code(inner, call.segment);
			else if (inner.kind === "script")
				this.script(inner.script.text, {
					...context,
					source: inner.script.text,
					stdin: call.stdin,
					depth: context.depth + 1,
					frame: { positional: inner.positional ?? null },
				});
			else if (inner.words.length > 0) this.#inner(inner, call, context);
		}
	}

	#inner(inner: Extract<Inner, { kind: "command" }>, call: Call, context: Context): void {
		const run = (): Value | null =>
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
		if (!inner.folder) return void run();
		const { text } = inner.folder;
		this.#apart(() => {
			this.#scope.cwd = isDark(text) ? null : absolutePath(text, this.#scope.cwd);
			run();
		});
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

	#stop(segment: string, why: string): null {
		this.#full = true;
		this.#sink.danger("limit", segment, why);
		return null;
	}
}

/** The text written to the files that the output goes to. */
function written(invocation: Invocation, printed: Value | null, scope: Scope): Value | null {
	if (invocation.redirections.length === 0) return printed;
	return outputOf({ ...invocation, redirections: [] }, scope.files);
}
