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
	/** The same list until a tool comes or goes. */
	readonly names: readonly string[];
	/** The descriptions for the model. The same list until one changes. */
	readonly specs: readonly ToolSpec[];
	find(name: string): Tool | undefined;
	/** Resolves when external tools are ready, or are not waited for. Absent: all are. */
	ready?(): Promise<void>;
}

/** Tools that come and go while Keryx runs, in addition to its own. */
export interface ChangingTools {
	/** The same list until one comes, goes or changes. */
	tools(): readonly Tool[];
	ready(): Promise<void>;
}

/** A tool with the name of one of Keryx's, or of another, is not used. */
export function createTools(tools: readonly Tool[], changing?: ChangingTools): ToolRegistry {
	const byName = new Map<string, Tool>();
	for (const tool of tools) {
		if (byName.has(tool.name))
			throw new KeryxError("argument.invalid", `two tools are named ${tool.name}`, { field: "tools" });
		byName.set(tool.name, tool);
	}
	let more: readonly Tool[] | undefined;
	let current = joined(byName, []);
	const now = () => {
		const found = changing?.tools();
		if (found && found !== more) current = joined(byName, found);
		more = found;
		return current;
	};
	return {
		get names() {
			return now().names;
		},
		get specs() {
			return now().specs();
		},
		find: (name) => byName.get(name) ?? now().all.get(name),
		...(changing && { ready: () => changing.ready() }),
	};
}

function joined(own: ReadonlyMap<string, Tool>, more: readonly Tool[]) {
	const all = new Map(own);
	for (const tool of more) if (!all.has(tool.name)) all.set(tool.name, tool);
	let specs: readonly ToolSpec[] | undefined;
	return {
		all,
		names: [...all.keys()],
		/** Not before somebody asks: describing tools takes a while at the start. */
		specs: () => {
			specs ??= [...all.values()].map(({ name, description, schema }) => ({
				name,
				description,
				input: schema,
			}));
			return specs;
		},
	};
}
