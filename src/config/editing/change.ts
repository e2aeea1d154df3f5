// What a new configuration changes for a running Keryx: which keys, and which of them are read only once. Pure.
import { isDeepStrictEqual } from "node:util";
import type { Key } from "../keys.ts";
import { CONFIG_KEYS, type Config } from "../schema.ts";

export interface ConfigChange {
	/** Dotted, in the schema's order. */
	readonly keys: readonly string[];
	/** Those that keep their old value until a restart. */
	readonly restart: readonly string[];
	/** The values from now on. */
	readonly values: Config;
}

export function compareConfig(before: Config, after: Config): ConfigChange {
	const changed = [...differences(CONFIG_KEYS, before, after, [])];
	const restart = changed.filter(({ restart }) => restart);
	const values = structuredClone(after);
	for (const { path, before: kept } of restart) put(values, path, kept);
	return { keys: changed.map(nameOf), restart: restart.map(nameOf), values };
}

interface Difference {
	readonly path: readonly string[];
	readonly before: unknown;
	readonly restart: boolean;
}

function nameOf({ path }: Difference): string {
	return path.join(".");
}

/** `whole`: a whole entry was added to or removed from a map whose entries take effect at once. */
function* differences(
	key: Key,
	before: unknown,
	after: unknown,
	path: readonly string[],
	whole?: "came" | "went",
): Generator<Difference> {
	if (key.kind === "value") {
		const restart = whole === undefined ? (key.restart ?? false) : whole === "went";
		if (!isDeepStrictEqual(before, after)) yield { path, before, restart };
		return;
	}
	const [old, next] = [before, after].map((held) => (held ?? {}) as Readonly<Record<string, unknown>>);
	const names =
		key.kind === "section"
			? key.keys.keys()
			: new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})]);
	for (const name of names) {
		const child = key.kind === "section" ? key.keys.get(name) : key.value;
		if (!child) continue;
		const [was, is] = [old?.[name], next?.[name]];
		const moved = was === undefined ? "came" : is === undefined ? "went" : undefined;
		yield* differences(
			child,
			was,
			is,
			[...path, name],
			whole ?? (key.kind === "map" && key.comes ? moved : undefined),
		);
	}
}

function put(values: Config, path: readonly string[], value: unknown): void {
	let parent = values as Record<string, unknown>;
	for (const name of path.slice(0, -1)) {
		parent[name] ??= {};
		parent = parent[name] as Record<string, unknown>;
	}
	const last = path.at(-1) as string;
	if (value === undefined) delete parent[last];
	else parent[last] = structuredClone(value);
}
