// Matches a document against the known keys. Returns the values that were set, each with its place, and every unknown key.
import type { ConfigNode, Position } from "./document.ts";
import { type Key, listKeys } from "./keys.ts";
import { nearest } from "./nearest.ts";

/** Where an effective value came from. */
export type Origin =
	| { readonly kind: "default" }
	| { readonly kind: "file"; readonly file: string; readonly line: number; readonly column: number }
	| { readonly kind: "environment"; readonly variable: string };

export interface Setting {
	readonly path: readonly string[];
	readonly value: unknown;
	readonly origin: Origin;
	/** For a list in a file: the place of each item. */
	readonly items?: readonly Position[];
}

export interface KeyProblem {
	readonly at: Position;
	readonly key: string;
	readonly message: string;
	readonly suggestion?: string;
}

/** Null means default, so a key set to null is checked and then left out. */
export function readSettings(
	root: ConfigNode | undefined,
	known: Key,
	file: string,
): { settings: Setting[]; problems: KeyProblem[] } {
	const settings: Setting[] = [];
	const problems: KeyProblem[] = [];

	const visit = (node: ConfigNode, key: Key, path: readonly string[]): void => {
		if (node.kind === "scalar" && node.value === null) return;
		if (key.kind === "value") {
			const items = node.kind === "list" && { items: node.items.map((item) => item.at) };
			settings.push({ path, value: plainValue(node), origin: { kind: "file", file, ...node.at }, ...items });
			return;
		}
		if (node.kind !== "map") {
			const where = path.length === 0 ? "the file" : path.join(".");
			problems.push({
				at: node.at,
				key: path.join("."),
				message: `${where} must be a map of keys, ${sample(key)}`,
			});
			return;
		}
		const before = settings.length;
		for (const entry of node.entries) {
			const child = childOf(key, entry.key);
			if (child) visit(entry.value, child, [...path, entry.key]);
			else problems.push({ at: entry.at, ...unknownKey(known, key, path, entry.key) });
		}
		// An empty map still counts: it may lack required keys.
		if (settings.length === before && path.length > 0)
			settings.push({ path, value: {}, origin: { kind: "file", file, ...node.at } });
	};
	if (root) visit(root, known, []);
	return { settings, problems };
}

function childOf(key: Key, name: string): Key | undefined {
	if (key.kind === "section") return key.keys.get(name);
	return key.kind === "map" && key.refusal(name) === undefined ? key.value : undefined;
}

function unknownKey(root: Key, parent: Key, path: readonly string[], name: string): Omit<KeyProblem, "at"> {
	const key = [...path, name].join(".");
	const siblings = namesOf(parent);
	const suggestion = nearest(name, siblings) ?? elsewhere(root, name);
	const problem = `unknown key ${JSON.stringify(name)}${path.length > 0 ? ` in ${path.join(".")}` : ""}`;
	if (suggestion) return { key, suggestion, message: `${problem}; did you mean ${suggestion}?` };
	if (siblings.length > 0) return { key, message: `${problem}; it can be ${siblings.join(", ")}` };
	return { key, message: `${problem}; it ${parent.kind === "map" ? parent.refusal(name) : "has none"}` };
}

/** A key of that name in another section: the indentation may be wrong. */
function elsewhere(root: Key, name: string): string | undefined {
	return listKeys(root).find((key) => key.endsWith(`.${name}`) && !key.includes("<name>"));
}

function namesOf(key: Key): readonly string[] {
	if (key.kind === "section") return [...key.keys.keys()];
	return key.kind === "map" ? (key.names ?? []) : [];
}

function sample(key: Key): string {
	const [first = "name"] = namesOf(key);
	return `such as "${first}: ..."`;
}

function plainValue(node: ConfigNode): unknown {
	switch (node.kind) {
		case "scalar":
			return node.value;
		case "list":
			return node.items.map(plainValue);
		case "map":
			return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]));
	}
}
