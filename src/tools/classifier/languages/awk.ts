// A program for awk -> which files it reads and writes, and whether it runs commands. One pass over the text.

export interface AwkProgram {
	/** Null: a name that is composed at run time. */
	readonly reads: readonly (string | null)[];
	readonly writes: readonly (string | null)[];
	/** It runs commands, loads code or uses the network. */
	readonly runs: boolean;
}

type Token =
	| { readonly kind: "text"; readonly value: string }
	| { readonly kind: "word" | "mark"; readonly value: string };

export function readAwk(program: string): AwkProgram {
	const reads: (string | null)[] = [];
	const writes: (string | null)[] = [];
	let runs = false;
	let printing = false;
	let depth = 0;
	const tokens = tokensOf(program);
	for (const [index, token] of tokens.entries()) {
		const before = tokens[index - 1];
		if (token.kind === "text") {
			if (token.value.startsWith("/inet")) runs = true;
			continue;
		}
		if (token.kind === "word") {
			if (token.value === "system") runs = true;
			else if (token.value === "print" || token.value === "printf") {
				printing = true;
				depth = 0;
			} else if (token.value === "getline") {
				const at = tokens[index + 1]?.kind === "word" ? index + 2 : index + 1;
				if (tokens[at]?.value === "<") reads.push(fileAt(tokens, at + 1));
			}
			continue;
		}
		switch (token.value) {
			case "@":
			case "|":
			case "|&":
				runs = true;
				break;
			case "(":
				depth++;
				break;
			case ")":
				depth--;
				break;
			case ";":
			case "\n":
			case "}":
				printing = false;
				break;
			case ">":
			case ">>":
				if (printing && depth <= 0 && before?.value !== "\\") writes.push(fileAt(tokens, index + 1));
				break;
		}
	}
	return { reads, writes, runs };
}

/** A text alone is a name; anything else is computed. */
function fileAt(tokens: readonly Token[], at: number): string | null {
	const [file, next] = [tokens[at], tokens[at + 1]];
	if (file?.kind !== "text") return null;
	return next === undefined || /^[;\n})]$/.test(next.value) ? file.value : null;
}

const MARKS = ["|&", "||", "&&", ">>", ">=", "<=", "==", "!=", "+=", "-=", "++", "--"];

function tokensOf(program: string): Token[] {
	const tokens: Token[] = [];
	let at = 0;
	while (at < program.length) {
		const char = program[at] as string;
		if (/[ \t\r]/.test(char)) at++;
		else if (char === "#") {
			const end = program.indexOf("\n", at);
			at = end < 0 ? program.length : end;
		} else if (char === '"' || (char === "/" && mayBeRegex(tokens.at(-1)))) {
			const end = endOf(program, at, char);
			tokens.push({ kind: "text", value: char === '"' ? program.slice(at + 1, end) : "" });
			at = end + 1;
		} else if (/[A-Za-z_]/.test(char)) {
			let end = at + 1;
			while (/\w/.test(program[end] ?? "")) end++;
			tokens.push({ kind: "word", value: program.slice(at, end) });
			at = end;
		} else {
			const mark = MARKS.find((two) => program.startsWith(two, at)) ?? char;
			tokens.push({ kind: "mark", value: mark });
			at += mark.length;
		}
	}
	return tokens;
}

/** A slash starts a pattern only where no value can precede it; in doubt it divides, and the rest is read as code. */
function mayBeRegex(before: Token | undefined): boolean {
	if (!before) return true;
	if (before.kind === "text") return false;
	if (before.kind === "word") return /^(print|printf|return|in|case)$/.test(before.value);
	return /^([(,~!{};\n?:&|]|&&|\|\||==|!=)$/.test(before.value);
}

function endOf(program: string, from: number, quote: string): number {
	for (let at = from + 1; at < program.length; at++) {
		const char = program[at];
		if (char === "\\") at++;
		else if (char === quote) return at;
		else if (char === "\n" && quote === "/") return at - 1;
	}
	return program.length;
}
