// The tools of one gateway, by name.
import type { ToolSpec } from "../agents/index.ts";
import { KeryxError } from "../errors.ts";
import type { Tool } from "./types.ts";

/** What a tool reaches: only what was and is said; or programs, files, the web or jobs. */
const REACH: Readonly<Record<string, "words" | "world">> = {
	session_search: "words",
	session_read: "words",
	clarify: "words",
	attach: "world",
	send_message: "words",
	terminal: "world",
	process: "world",
	read_file: "world",
	write_file: "world",
	edit_file: "world",
	list_files: "world",
	find_in_files: "world",
	web_fetch: "world",
	schedule: "world",
};

/** The names of Keryx's own tools, for code that must know them without creating them. */
export const OWN_TOOLS: readonly string[] = Object.keys(REACH);

/** Those that reach programs, files, the web or jobs. */
export const WORLD_TOOLS: ReadonlySet<string> = new Set(OWN_TOOLS.filter((name) => REACH[name] === "world"));

export interface ToolRegistry {
	readonly names: readonly string[];
	/** The descriptions for the model. */
	readonly specs: readonly ToolSpec[];
	find(name: string): Tool | undefined;
	/** Resolves when external tools are ready, or are not waited for. Absent: all are. */
	ready?(): Promise<void>;
}

/** Tools that come and go while Keryx runs, in addition to its own. */
export interface ChangingTools {
	tools(): readonly Tool[];
	ready(): Promise<void>;
}

/** The same without those `choose` excludes. Read per call: tools may change. */
export function onlyTools(
	registry: ToolRegistry,
	choose: (names: readonly string[]) => readonly string[],
): ToolRegistry {
	return {
		get names() {
			return choose(registry.names);
		},
		get specs() {
			const names = new Set(choose(registry.names));
			return registry.specs.filter(({ name }) => names.has(name));
		},
		find: (name) => (choose([name]).includes(name) ? registry.find(name) : undefined),
	};
}

/** A tool with the name of one of Keryx's, or of another, is not used. */
export function createTools(tools: readonly Tool[], changing?: ChangingTools): ToolRegistry {
	const byName = new Map<string, Tool>();
	for (const tool of tools) {
		if (byName.has(tool.name))
			throw new KeryxError("argument.invalid", `two tools are named ${tool.name}`, { field: "tools" });
		byName.set(tool.name, tool);
	}
	const all = () => {
		const joined = new Map(byName);
		for (const tool of changing?.tools() ?? []) if (!joined.has(tool.name)) joined.set(tool.name, tool);
		return joined;
	};
	return {
		get names() {
			return [...all().keys()];
		},
		get specs() {
			return [...all().values()].map(({ name, description, schema }) => ({
				name,
				description,
				input: schema,
			}));
		},
		find: (name) => byName.get(name) ?? all().get(name),
		...(changing && { ready: () => changing.ready() }),
	};
}
