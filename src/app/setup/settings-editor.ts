// Changes settings from the page: a few safe keys, checked one by one, with undo.
import { isDeepStrictEqual } from "node:util";
import { checkConfig, EDITABLE_SETTINGS, type Environment, writtenValue } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { SettingsEditor, SettingsWanted, SettingValue } from "../../http/index.ts";
import { type ConfigChangeEntry, OPERATOR, type Store } from "../../store/index.ts";
import { type ConfigChanges, type ConfigFile, stale } from "./config-file.ts";

const SAFE: ReadonlySet<string> = new Set(EDITABLE_SETTINGS.map(({ key }) => key));
/** Written when a model is connected: undoing means connecting the previous one, which is tried first. */
const OF_MODEL: ReadonlySet<string> = new Set(
	["kind", "provider", "model", "base_url", "api_key_env", "api_key_file"].map((name) => `agent.${name}`),
);
const HELD_SECRET = "its value holds a secret, so it is changed in config.yaml only";

export interface SettingsContext {
	readonly home: string;
	readonly env: Environment;
	readonly file: ConfigFile;
	readonly store: Pick<Store, "configChanges">;
}

export function settingsEditor({ home, env, file, store }: SettingsContext): SettingsEditor {
	const { config: usual } = checkConfig({ home, env: {}, text: "" });
	const defaults = new Map(usual?.entries.map(({ key, value }) => [key, value as SettingValue]));

	const history = async () => {
		const { text } = file.read();
		return (await store.configChanges({ scope: OPERATOR })).map((one) => ({
			...one,
			fixed: whyFixed(one, text),
		}));
	};

	const toUndo = async (n: number): Promise<ConfigChanges> => {
		const change = (await history()).find((one) => one.n === n);
		if (!change)
			throw new KeryxError("store.not_found", `there is no change ${n} of settings`, { field: "undo" });
		if (change.fixed !== null) throw stale(`change ${n} cannot be undone: ${change.fixed}`);
		return Object.fromEntries(change.edits.map(({ key, before }) => [key, before ?? undefined]));
	};

	const toChange = async (wanted: SettingsWanted): Promise<ConfigChanges> => {
		if ("undo" in wanted) return toUndo(wanted.undo);
		const { settings, problem } = read();
		if (problem !== null) throw new KeryxError("config.invalid", problem);
		for (const [key, value] of Object.entries(wanted.changes)) {
			const setting = settings.find((one) => one.key === key);
			if (!setting)
				throw new KeryxError("argument.invalid", `${key} cannot be changed from the page`, {
					field: key,
					hint: "change it in config.yaml; docs/reference/settings.md lists what can be changed here",
				});
			if (setting.fixed !== null)
				throw new KeryxError("argument.invalid", `${key} cannot be changed here: ${setting.fixed}`, {
					field: key,
				});
			if (typeof value === "string" && file.hide(value) !== value)
				throw new KeryxError(
					"argument.invalid",
					`${key} must not contain a secret: secrets do not belong in config.yaml`,
					{
						field: key,
						hint: "name it as \u0024{secret:NAME}",
					},
				);
		}
		return Object.fromEntries(
			Object.entries(wanted.changes).map(([key, value]) => [key, value ?? undefined]),
		);
	};

	const read = (): ReturnType<SettingsEditor["read"]> => {
		const { text, version } = file.read();
		const { config, problems } = checkConfig({ home, env, text });
		const entries = new Map(config?.entries.map((entry) => [entry.key, entry]));
		return {
			version,
			problem: problems[0] ? file.hide(problems[0].message) : null,
			settings: EDITABLE_SETTINGS.map((setting) => {
				const { value = null, origin } = entries.get(setting.key) ?? {};
				const shown = typeof value === "string" ? file.hide(value) : (value as SettingValue);
				return {
					...setting,
					value: shown,
					default: defaults.get(setting.key) ?? null,
					from: origin?.kind ?? "default",
					fixed:
						origin?.kind === "environment"
							? `the variable ${origin.variable} sets it`
							: shown === value
								? null
								: HELD_SECRET,
				};
			}),
		};
	};

	return {
		read,
		preview: async (wanted) => {
			const changes = await toChange(wanted);
			const { text, version, after, problems } = file.plan(changes);
			return {
				version,
				before: file.hide(text),
				after: file.hide(after),
				problems: problems.map(({ key = "", message }) => ({ key, message: plain(message, key) })),
			};
		},
		write: async (wanted, version, by) => {
			const n = await file.change({
				changes: () => toChange(wanted),
				version,
				...("undo" in wanted && { undoes: wanted.undo }),
				by,
			});
			if (n !== null) return n;
			throw new KeryxError("argument.invalid", "config.yaml already says this", { field: "changes" });
		},
		history,
	};
}

/** Without the field's name, which is shown already. */
function plain(message: string, key: string): string {
	return key !== "" && message.startsWith(`${key} `) ? message.slice(key.length + 1) : message;
}

/** Why a change cannot be undone now. */
function whyFixed({ edits, failed }: ConfigChangeEntry, text: string): string | null {
	if (failed !== null) return "it was never written";
	if (edits.some(({ lost }) => lost)) return "what was there before held a secret, which is not kept";
	const other = edits.find(({ key }) => !SAFE.has(key) && !OF_MODEL.has(key));
	if (other) return `${other.key} is changed where it was set up`;
	try {
		const again = edits.find(({ key, after }) => !isDeepStrictEqual(writtenValue(text, key) ?? null, after));
		return again ? `${again.key} has changed since` : null;
	} catch (error) {
		return (error as Error).message;
	}
}
