// Parses YAML into a small tree with positions, so that every problem can name its line. Never throws: problems are returned.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument } from "yaml";

/** Both count from 1. */
export interface Position {
	readonly line: number;
	readonly column: number;
}

export type ConfigNode =
	| { readonly kind: "map"; readonly at: Position; readonly entries: readonly ConfigEntryNode[] }
	| { readonly kind: "list"; readonly at: Position; readonly items: readonly ConfigNode[] }
	| { readonly kind: "scalar"; readonly at: Position; readonly value: unknown };

interface ConfigEntryNode {
	readonly key: string;
	readonly at: Position;
	readonly value: ConfigNode;
}

export interface SyntaxProblem {
	readonly at: Position;
	readonly message: string;
}

/** Aliases of aliases multiply: a few lines could stand for a billion values. */
const MOST_NODES = 20_000;

/** An empty text, or one of comments only, has no root and no problem. */
export function readDocument(text: string): { root: ConfigNode | undefined; problems: SyntaxProblem[] } {
	const lines = new LineCounter();
	const document = parseDocument(text, {
		lineCounter: lines,
		prettyErrors: false,
		// YAML 1.2: `no` and `off` are words, not false.
		version: "1.2",
	});
	const position = (offset: number): Position => {
		const { line, col } = lines.linePos(offset);
		return { line, column: col };
	};
	const faults = [...document.errors, ...document.warnings];
	// After nesting that is too deep, the remaining problems are noise.
	const tooDeep = faults.find(({ code }) => code === "RESOURCE_EXHAUSTION");
	const problems = (tooDeep ? [tooDeep] : faults).map((fault) => ({
		at: position(fault.pos[0]),
		message: PLAIN_WORDS[fault.code] ?? withoutQuotation(fault.message),
	}));
	if (faults.some(({ code }) => !HARMLESS.has(code))) return { root: undefined, problems };

	const reader = new Reader(document, position);
	const root = document.contents === null ? undefined : reader.read(document.contents);
	return {
		root: root?.kind === "scalar" && root.value === null ? undefined : root,
		problems: [...problems, ...reader.problems],
	};
}

/** After these the rest of the file can still be read, so all problems are reported together. */
const HARMLESS: ReadonlySet<string> = new Set(["DUPLICATE_KEY", "TAG_RESOLVE_FAILED", "MULTIPLE_DOCS"]);

const PLAIN_WORDS: Partial<Record<string, string>> = {
	DUPLICATE_KEY: "this key is already set above in the same map; keep one of the two",
	TAB_AS_INDENT: "the indentation uses a tab; YAML only accepts spaces",
	MULTIPLE_DOCS: "a second document starts here; the configuration is one document, so remove the --- line",
	TAG_RESOLVE_FAILED:
		"YAML reads a value that starts with ! as a tag, and this tag does not exist; put text in quotes",
	RESOURCE_EXHAUSTION: "nested too deeply",
};

/** Some messages quote the file, which may contain a secret. */
function withoutQuotation(message: string): string {
	return message.replace(/:\s.*$/s, "");
}

class Reader {
	readonly problems: SyntaxProblem[] = [];
	private readonly document: Document;
	private readonly position: (offset: number) => Position;
	/** The maps and lists being read, from the root to here. */
	private readonly open = new Set<unknown>();
	private count = 0;

	constructor(document: Document, position: (offset: number) => Position) {
		this.document = document;
		this.position = position;
	}

	/** `inherited` is the position for a node without one: an empty value is where its key is. */
	read(node: unknown, inherited: Position = { line: 1, column: 1 }): ConfigNode {
		const at = this.positionOf(node) ?? inherited;
		if (++this.count > MOST_NODES) {
			if (this.count === MOST_NODES + 1)
				this.refuse(at, `more than ${MOST_NODES} values, counting repeated aliases`);
			return nothing(at);
		}
		if (isAlias(node)) return this.readAlias(node.resolve(this.document), at);
		if (!isMap(node) && !isSeq(node))
			return { kind: "scalar", at, value: isScalar(node) ? node.value : null };

		this.open.add(node);
		const result: ConfigNode = isMap(node)
			? { kind: "map", at, entries: node.items.flatMap((pair) => this.readPair(pair, at)) }
			: { kind: "list", at, items: node.items.map((item) => this.read(item, at)) };
		this.open.delete(node);
		return result;
	}

	private readPair({ key, value }: Pair, inherited: Position): ConfigEntryNode[] {
		const at = this.positionOf(key) ?? inherited;
		const name = this.readKey(key, at);
		return name === undefined ? [] : [{ key: name, at, value: this.read(value, at) }];
	}

	private readAlias(target: unknown, at: Position): ConfigNode {
		if (target !== undefined && !this.open.has(target)) return this.read(target, at);
		const message =
			target === undefined
				? "YAML reads a value that starts with * as an alias, and no anchor above has this name; put text in quotes"
				: "this alias refers to itself";
		this.refuse(at, message);
		return nothing(at);
	}

	private readKey(key: unknown, at: Position): string | undefined {
		if (!isScalar(key) || key.value === null || typeof key.value === "object") {
			this.refuse(at, "a key must be a plain word");
			return undefined;
		}
		const name = key.source ?? String(key.value as string | number | boolean);
		if (name === "<<") {
			this.refuse(
				at,
				"merge keys (<<) are not supported; write the keys out, or use an alias for the whole map",
			);
			return undefined;
		}
		return name;
	}

	private positionOf(node: unknown): Position | undefined {
		const range = (node as { range?: readonly number[] | null } | null)?.range;
		return range?.[0] === undefined ? undefined : this.position(range[0]);
	}

	private refuse(at: Position, message: string): void {
		this.problems.push({ at, message });
	}
}

function nothing(at: Position): ConfigNode {
	return { kind: "scalar", at, value: null };
}
