// Sets one key of config.yaml from a command-line word. Pure: text in, text out, and the effect of the change.
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { KeryxError } from "../../errors.ts";
import type { Key } from "../keys.ts";
import { type ConfigCheck, checkConfig, type LoadOptions } from "../load.ts";
import { CONFIG_KEYS } from "../schema.ts";
import { compareConfig } from "./change.ts";
import { editConfig } from "./edit.ts";

interface SetResult {
	/** The new text; unchanged if the key already has that value. */
	readonly text: string;
	/** The keys whose value changes, and those that need a restart. */
	readonly changed: readonly string[];
	readonly restart: readonly string[];
	/** The variable that overrides this key; null: none. */
	readonly overriddenBy: string | null;
}

/** Throws config.invalid if the result would not be accepted, also for earlier problems. */
export function setInConfig(
	text: string,
	{ key, value }: { readonly key: string; readonly value: string },
	options: Pick<LoadOptions, "home" | "env">,
): SetResult {
	const wanted = readValue(key, value);
	const after = editConfig(text, { [key]: wanted });
	const checked = accepted(checkConfig({ ...options, text: after }), key);
	const before = checkConfig({ ...options, text }).config;
	const { keys: changed, restart } = before
		? compareConfig(before.values, checked.values)
		: { keys: [key], restart: [] };
	const origin = checked.entries.find((entry) => entry.key === key)?.origin;
	const isSame = isDeepStrictEqual(parse(text), parse(after));
	return {
		text: isSame ? text : after,
		changed,
		restart,
		overriddenBy: origin?.kind === "environment" ? origin.variable : null,
	};
}

/** A text is taken literally: a model may be named 4 or no. Null removes the key. */
function readValue(key: string, text: string): unknown {
	if (text === "null") return undefined;
	const found = keyAt(CONFIG_KEYS, key.split("."));
	if (found?.kind === "value" && found.type === "text") return text;
	try {
		return parse(text);
	} catch (cause) {
		throw new KeryxError("config.invalid", `${key}: ${JSON.stringify(text)} is not a value in YAML`, {
			field: key,
			cause,
		});
	}
}

function keyAt(root: Key, path: readonly string[]): Key | undefined {
	return path.reduce<Key | undefined>((at, name) => {
		if (at?.kind === "section") return at.keys.get(name);
		return at?.kind === "map" && at.refusal(name) === undefined ? at.value : undefined;
	}, root);
}

/** This key's problem first: it was just made. */
function accepted({ config, problems }: ConfigCheck, key: string): NonNullable<ConfigCheck["config"]> {
	if (config) return config;
	const own = problems.find((problem) => problem.key === key || problem.key?.startsWith(`${key}.`));
	const shown = own ?? problems[0];
	throw new KeryxError(shown?.code ?? "config.invalid", `${shown?.message}; nothing was changed`, {
		...(shown?.key && { field: shown.key }),
		...(!own && { hint: "config.yaml had this problem before: correct it first" }),
	});
}
