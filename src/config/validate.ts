// Checks the values against the schema, and says for each wrong one what is allowed and where it is.
import type { z } from "zod";
import type { Key } from "./keys.ts";
import type { ConfigProblem } from "./problems.ts";
import { CONFIG_KEYS, type Config, configSchema } from "./schema.ts";
import type { Setting } from "./settings.ts";

/** `hide` keeps secrets out of the messages, which repeat the wrong values. */
export function validate(
	settings: readonly Setting[],
	hide: (text: string) => string,
): { values: Config | undefined; problems: ConfigProblem[] } {
	// An empty message marks an issue that the schema has no words for.
	const parsed = configSchema.safeParse(nest(settings), { error: () => "" });
	if (parsed.success) return { values: parsed.data, problems: [] };
	return {
		values: undefined,
		problems: parsed.error.issues.map((issue) => describeIssue(issue, settings, hide)),
	};
}

function describeIssue(
	issue: z.core.$ZodIssue,
	settings: readonly Setting[],
	hide: (text: string) => string,
): ConfigProblem {
	const path = issue.path.map(String);
	const key = path.join(".");
	const setting = closest(settings, path);
	// The problem may be inside the value, in an item of a list; or nothing was set.
	const set = setting !== undefined && shared(setting.path, path) === setting.path.length;
	const inside = set ? path.slice(setting.path.length) : [];
	const value = set ? dig(setting.value, inside) : undefined;
	const rule = issue.message || describeRule(issue, keyAt(CONFIG_KEYS, path));
	const given = isSection(setting, path) ? "" : `; it is ${value === undefined ? "not set" : show(value)}`;
	return {
		code: "config.invalid",
		key,
		message: hide(`${key} ${rule}${given}`),
		...whereOf(setting, inside[0]),
	};
}

/** Whether the issue is about a whole section, which has more than one value to show. */
function isSection(setting: Setting | undefined, path: readonly string[]): boolean {
	return (
		setting !== undefined && setting.path.length > path.length && shared(setting.path, path) === path.length
	);
}

/** The setting the issue is about, or its nearest neighbour in the file, since a missing one has no place. */
function closest(settings: readonly Setting[], path: readonly string[]): Setting | undefined {
	let best: Setting | undefined;
	for (const setting of settings)
		if (shared(setting.path, path) > shared(best?.path ?? [], path)) best = setting;
	return best;
}

/** How many leading names the two paths share. */
function shared(a: readonly string[], b: readonly string[]): number {
	const end = a.findIndex((name, index) => name !== b[index]);
	return end === -1 ? a.length : end;
}

function dig(value: unknown, path: readonly string[]): unknown {
	return path.reduce((held, name) => (held as Record<string, unknown> | null | undefined)?.[name], value);
}

/** For a key what it expects; for part of a list item what the schema says. */
function describeRule(issue: z.core.$ZodIssue, key: Key | undefined): string {
	if (key?.kind === "value") return `must be ${key.expects}`;
	if (issue.code === "invalid_type") return `must be ${TYPES[issue.expected] ?? issue.expected}`;
	if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
	if (issue.code === "unrecognized_keys") return `has no key ${issue.keys.join(", ")}`;
	if (issue.code === "too_small") return `must have at least ${issue.minimum}`;
	if (issue.code === "too_big") return `must have at most ${issue.maximum}`;
	return "has an unknown form; the reference lists what it can be";
}

const TYPES: Partial<Record<string, string>> = {
	string: "text",
	boolean: "true or false",
	int: "a whole number",
	number: "a number",
	array: "a list",
	object: "a map",
	record: "a map",
};

function whereOf(setting: Setting | undefined, item: string | undefined): Partial<ConfigProblem> {
	if (setting?.origin.kind === "environment") return { variable: setting.origin.variable };
	if (setting?.origin.kind !== "file") return {};
	const { file, line, column } = setting.origin;
	return { file, line, column, ...(item !== undefined && setting.items?.[Number(item)]) };
}

/** Undefined inside a value. */
function keyAt(root: Key, path: readonly string[]): Key | undefined {
	let key: Key | undefined = root;
	for (const name of path) {
		if (key?.kind === "section") key = key.keys.get(name);
		else key = key?.kind === "map" ? key.value : undefined;
	}
	return key;
}

function show(value: unknown): string {
	if (Array.isArray(value)) return "a list";
	if (isMap(value)) return "a map";
	return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** The settings as the nested object that the schema takes. Objects without a prototype: a key may have any name. */
function nest(settings: readonly Setting[]): unknown {
	const root: Record<string, unknown> = Object.create(null);
	for (const { path, value } of settings) {
		let parent = root;
		for (const name of path.slice(0, -1)) {
			parent[name] ??= Object.create(null);
			parent = parent[name] as Record<string, unknown>;
		}
		// A copy: a map that is empty here may be filled by later settings.
		parent[path.at(-1) ?? ""] = isMap(value) ? { ...value } : value;
	}
	return root;
}

function isMap(value: unknown): value is object {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
