// The tools of one gateway, by name.
import type { ToolSpec } from "../agents/index.ts";
import { KeryxError } from "../errors.ts";
import type { Tool } from "./types.ts";

/** The names of Keryx's own, for what has to know them without making them. */
export const OWN_TOOLS: readonly string[] = [
	"session_search",
	"session_read",
	"clarify",
	"attach",
	"send_message",
	"terminal",
	"process",
	"schedule",
];

export interface ToolRegistry {
	readonly names: readonly string[];
	/** What the model is told about them. */
	readonly specs: readonly ToolSpec[];
	find(name: string): Tool | undefined;
}

/** The same without those that are not named. */
export function onlyTools(registry: ToolRegistry, names: readonly string[]): ToolRegistry {
	if (names.length === registry.names.length) return registry;
	return {
		names: [...names],
		specs: registry.specs.filter(({ name }) => names.includes(name)),
		find: (name) => (names.includes(name) ? registry.find(name) : undefined),
	};
}

export function createTools(tools: readonly Tool[]): ToolRegistry {
	const byName = new Map<string, Tool>();
	for (const tool of tools) {
		if (byName.has(tool.name))
			throw new KeryxError("argument.invalid", `two tools are named ${tool.name}`, { field: "tools" });
		byName.set(tool.name, tool);
	}
	return {
		names: [...byName.keys()],
		specs: tools.map(({ name, description, schema }) => ({ name, description, input: schema })),
		find: (name) => byName.get(name),
	};
}
