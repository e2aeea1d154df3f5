// The configuration for display: every value in force with its origin, without anything that looks like a secret.
import { compareConfig } from "./editing/change.ts";
import {
	type ConfigCheck,
	type ConfigEntry,
	checkConfig,
	type LoadedConfig,
	type LoadOptions,
} from "./load.ts";
import { hideSecretLike, hidingNames } from "./secrets.ts";

export interface ShownEntry extends ConfigEntry {
	/** The new value in the file, if it needs a restart. */
	readonly afterRestart?: unknown;
}

export interface ShownConfig extends Pick<ConfigCheck, "file" | "problems" | "warnings"> {
	readonly entries: readonly ShownEntry[];
}

/** Only the operator sees the names of secrets. */
export type ConfigReader = "operator" | "others";

export interface ConfigView {
	/** As the file is now. If it is invalid, the last valid one is in force and the problems are listed. */
	look(reader: ConfigReader): ShownConfig;
	/** Hides names of secrets in a text about the configuration. */
	hideNames(text: string): string;
	/** Checks a text that is not a file yet. Nothing is written. */
	check(text: string): Pick<ConfigCheck, "problems" | "warnings">;
}

/** For a Keryx that was started with this configuration. */
export function createConfigView({
	home,
	env,
	atStart,
	current,
}: Pick<LoadOptions, "home" | "env"> & {
	readonly atStart: LoadedConfig;
	/** The current configuration, if the file is followed; otherwise the file as it is now, if it is valid. */
	readonly current?: () => LoadedConfig | null;
}): ConfigView {
	let good = atStart;
	return {
		look: (reader) => {
			const { file, problems, warnings, config, secrets, secretNames } = checkConfig({ home, env });
			// This may be the first read.
			atStart.secrets.learn(secrets);
			good = (current ? current() : config) ?? good;
			const waiting = new Set(compareConfig(atStart.values, good.values).restart);
			const before = new Map(shownEntries(atStart).map((entry) => [entry.key, entry]));
			const entries = shownEntries(good).map((entry) =>
				waiting.has(entry.key)
					? { ...entry, value: before.get(entry.key)?.value ?? null, afterRestart: entry.value }
					: entry,
			);
			return shownTo(reader, { file, problems, warnings, entries }, [
				...secretNames,
				...good.secretNames,
				...atStart.secretNames,
			]);
		},
		hideNames: (text) => hidingNames([...(current?.() ?? good).secretNames, ...atStart.secretNames])(text),
		check: (text) => {
			const { problems, warnings } = checkConfig({ home, env, text });
			return { problems, warnings };
		},
	};
}

export function shownTo(
	reader: ConfigReader,
	{ file, problems, warnings, entries }: ShownConfig,
	names: readonly string[],
): ShownConfig {
	if (reader === "operator") return { file, problems, warnings, entries };
	const hide = hidingNames(names);
	return {
		file,
		problems: problems.map(({ message, key, suggestion, variable, ...rest }) => ({
			...rest,
			message: hide(message),
			...(key !== undefined && { key: hide(key) }),
			...(suggestion !== undefined && { suggestion: hide(suggestion) }),
			...(variable !== undefined && { variable: hide(variable) }),
		})),
		warnings: warnings.map(hide),
		entries: entries.map(({ key, value, origin, ...more }) => ({
			key: hide(key),
			value: hidden(value, hide),
			origin,
			...("afterRestart" in more && { afterRestart: hidden(more.afterRestart, hide) }),
		})),
	};
}

export function shownEntries({ entries, secrets }: LoadedConfig): readonly ConfigEntry[] {
	const hide = (text: string) => hideSecretLike(secrets.hide(text));
	return entries.map(({ key, value, origin }) => ({ key: hide(key), value: hidden(value, hide), origin }));
}

function hidden(value: unknown, hide: (text: string) => string): unknown {
	if (typeof value === "string") return hide(value);
	if (Array.isArray(value)) return value.map((item) => hidden(item, hide));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, held]) => [hide(name), hidden(held, hide)] as const),
	);
}
