// The environment of programs that Keryx starts: no Keryx variables, keys or tokens (I12), unless their settings name them.
import { type Config, type Environment, mcpVariables, USUAL_KEY_VARIABLES } from "../config/index.ts";

export function programEnvironment(
	config: Config,
	env: Environment,
	pass: readonly string[],
): Record<string, string> {
	const withheld = new Set([
		...config.secrets.map((secret) => (typeof secret === "string" ? secret : secret.name)),
		...Object.values(USUAL_KEY_VARIABLES).filter((name) => name !== null),
		...mcpVariables(config.mcp.servers),
		...variablesIn({ ...config, walls: undefined }),
	]);
	const seen: Record<string, string> = {};
	for (const [name, value] of Object.entries(env))
		if (value !== undefined && (pass.includes(name) || !(withheld.has(name) || name.startsWith("KERYX_"))))
			seen[name] = value;
	return seen;
}

/** All names in keys ending in `_env`, and those for one program: no other may see them. */
function variablesIn(value: unknown): string[] {
	if (typeof value !== "object" || value === null) return [];
	return Object.entries(value).flatMap(([key, held]) => {
		if (key.endsWith("_env") && typeof held === "string") return [held];
		if (key === "env_pass" && Array.isArray(held)) return held as string[];
		return variablesIn(held);
	});
}
