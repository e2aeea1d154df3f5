// The configuration for people to look at: every value in force with where it came from, and nothing that looks like a secret.
import { compareConfig } from "./editing/change.ts";
import {
	type ConfigCheck,
	type ConfigEntry,
	checkConfig,
	type LoadedConfig,
	type LoadOptions,
} from "./load.ts";
import { hideSecretLike } from "./secrets.ts";

export interface ShownEntry extends ConfigEntry {
	/** What the file says by now, where that holds after a restart only. */
	readonly afterRestart?: unknown;
}

export interface ConfigView {
	/** As the file is now. Where that is wrong, the last good one is in force, and the problems are told. */
	look(): Pick<ConfigCheck, "file" | "problems" | "warnings"> & { readonly entries: readonly ShownEntry[] };
	/** Of a text that is no file yet. Nothing is written. */
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
	/** What is in force, where somebody follows the file; left out, the file as it is now, if it is right. */
	readonly current?: () => LoadedConfig | null;
}): ConfigView {
	let good = atStart;
	return {
		look: () => {
			const { file, problems, warnings, config, secrets } = checkConfig({ home, env });
			// It may be read here first.
			atStart.secrets.learn(secrets);
			good = (current ? current() : config) ?? good;
			const waiting = new Set(compareConfig(atStart.values, good.values).restart);
			const before = new Map(shownEntries(atStart).map((entry) => [entry.key, entry]));
			const entries = shownEntries(good).map((entry) =>
				waiting.has(entry.key)
					? { ...entry, value: before.get(entry.key)?.value ?? null, afterRestart: entry.value }
					: entry,
			);
			return { file, problems, warnings, entries };
		},
		check: (text) => {
			const { problems, warnings } = checkConfig({ home, env, text });
			return { problems, warnings };
		},
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
