// Configuration from environment variables: KERYX_ and the key's path in capitals, joined by underscores.
import type { Key, ValueType } from "./keys.ts";
import { nearest } from "./nearest.ts";

export interface EnvironmentValue {
	readonly variable: string;
	readonly path: readonly string[];
	/** Converted to the key's type; text of another type stays as it is, and the schema refuses it. */
	readonly value: unknown;
}

const PREFIX = "KERYX_";

/** Read by Keryx, but not keys of the configuration. */
const RESERVED = new Set(["KERYX_HOME", "KERYX_DEBUG"]);

/** An empty variable counts as not set. */
export function readEnvironment(
	env: Readonly<Record<string, string | undefined>>,
	root: Key,
): { values: EnvironmentValue[]; unknown: { variable: string; message: string }[] } {
	const values: EnvironmentValue[] = [];
	const unknown: { variable: string; message: string }[] = [];
	for (const variable of Object.keys(env).sort()) {
		const text = env[variable];
		if (!variable.startsWith(PREFIX) || RESERVED.has(variable) || text === undefined || text === "") continue;
		const found = findKey(root, variable.slice(PREFIX.length));
		if (found) values.push({ variable, path: found.path, value: parseText(text, found.type) });
		else unknown.push({ variable, message: unknownVariable(variable, root) });
	}
	return { values, unknown };
}

/** The variable that sets the key at `path`. */
function variableName(path: readonly string[]): string {
	return PREFIX + path.join("_").toUpperCase();
}

interface Found {
	readonly path: readonly string[];
	readonly type: ValueType;
}

/**
 * A user-chosen name may contain underscores too, so several readings are possible; the one with the shortest chosen names wins: anything
 * that can be a schema key is one.
 */
function findKey(key: Key, rest: string): Found | undefined {
	switch (key.kind) {
		case "value":
			return rest === "" ? { path: [], type: key.type } : undefined;
		case "section":
			for (const [name, child] of key.keys) {
				const found = descend(child, name, rest);
				if (found) return found;
			}
			return undefined;
		case "map":
			for (const name of key.names ?? chosenNames(rest)) {
				const found = key.refusal(name) === undefined ? descend(key.value, name, rest) : undefined;
				if (found) return found;
			}
			return undefined;
	}
}

function descend(child: Key, name: string, rest: string): Found | undefined {
	const capitals = name.toUpperCase();
	if (rest !== capitals && !rest.startsWith(`${capitals}_`)) return undefined;
	const found = findKey(child, rest.slice(capitals.length + 1));
	return found && { path: [name, ...found.path], type: found.type };
}

/** Each beginning of the text that ends before an underscore, shortest first, then the whole. */
function* chosenNames(rest: string): Generator<string> {
	for (let end = rest.indexOf("_"); end !== -1; end = rest.indexOf("_", end + 1))
		yield rest.slice(0, end).toLowerCase();
	yield rest.toLowerCase();
}

function parseText(text: string, type: ValueType): unknown {
	switch (type) {
		case "number":
			return /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
		case "boolean":
			return BOOLEANS.get(text.trim().toLowerCase()) ?? text;
		case "list":
			return text
				.split(",")
				.map((item) => item.trim())
				.filter((item) => item !== "");
		case "text":
			return text;
	}
}

const BOOLEANS = new Map([
	["true", true],
	["1", true],
	["false", false],
	["0", false],
]);

function unknownVariable(variable: string, root: Key): string {
	const known = [...RESERVED, ...plainPaths(root).map(variableName)];
	const near = nearest(variable, known);
	return `${variable} is ignored: there is no such setting${near ? `; did you mean ${near}?` : ""}`;
}

/** The paths of all values with fixed names; a map with user-chosen names has none. */
function plainPaths(key: Key): string[][] {
	if (key.kind === "value") return [[]];
	const children =
		key.kind === "section" ? [...key.keys] : (key.names ?? []).map((name) => [name, key.value] as const);
	return children.flatMap(([name, child]) => plainPaths(child).map((path) => [name, ...path]));
}
