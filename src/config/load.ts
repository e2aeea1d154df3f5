// Combines defaults, file and environment. One pass finds every problem, and each value keeps its origin.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecrets, type Secrets, SHORTEST_HIDDEN } from "../secrets/index.ts";
import { readDocument } from "./document.ts";
import { readEnvironment } from "./environment.ts";
import { valuesInFiles } from "./key-files.ts";
import type { Key } from "./keys.ts";
import { USUAL_KEY_VARIABLES } from "./models.ts";
import { type ConfigProblem, configError } from "./problems.ts";
import { unreached } from "./reach.ts";
import { CONFIG_KEYS, type Config, hostTimeZone } from "./schema.ts";
import { hideSecretLike } from "./secrets.ts";
import { type Origin, readSettings, type Setting } from "./settings.ts";
import { validate } from "./validate.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadOptions {
	/** Keryx's home; its config.yaml is read if there is one. */
	readonly home: string;
	readonly env: Environment;
	/** Read instead of the home's config.yaml; must exist. */
	readonly file?: string | undefined;
	/** Read instead of any file; `file` then only names where it came from. */
	readonly text?: string;
}

/** One effective value. */
export interface ConfigEntry {
	readonly key: string;
	readonly value: unknown;
	readonly origin: Origin;
}

export interface LoadedConfig {
	readonly values: Config;
	/** Every value in force, in the order of the schema. */
	readonly entries: readonly ConfigEntry[];
	/** The listed secrets. A running Keryx keeps this one object, which learns what later configurations list. */
	readonly secrets: Secrets;
	/** The variables that the configuration names as secrets, set or not. */
	readonly secretNames: readonly string[];
	/** Printed by every command; `config check` prints more. */
	readonly warnings: readonly string[];
}

export interface ConfigCheck {
	/** The file that was read; undefined if there is none. */
	readonly file: string | undefined;
	readonly problems: readonly ConfigProblem[];
	readonly warnings: readonly string[];
	/** Values of the secrets it names, by name, even if there are problems. */
	readonly secrets: ReadonlyMap<string, string>;
	/** The variables it names as secrets, set or not. */
	readonly secretNames: readonly string[];
	/** Set only if there is no problem. */
	readonly config: LoadedConfig | undefined;
}

/** The configuration, or an error that lists every problem with its place. */
export function loadConfig(options: LoadOptions): LoadedConfig {
	const { config, problems } = checkConfig(options);
	if (!config) throw configError(problems);
	return config;
}

/** The same with the problems as data; does not throw for them. */
export function checkConfig({ home, env, file, text }: LoadOptions): ConfigCheck {
	const source = text === undefined ? readSource(home, file) : { file, text, problems: [] };
	const document = readDocument(source.text);
	const written = readSettings(document.root, CONFIG_KEYS, source.file ?? "");
	const environment = readEnvironment(env, CONFIG_KEYS);
	const settings = overlay(written.settings, environment.values.map(fromVariable));

	const names = secretNames(settings);
	const values = new Map([
		...secretValues([...names, ...USUAL_KEYS, "PGPASSWORD"], env),
		...valuesInFiles(settings, home),
		...passwordIn(settings),
	]);
	const secrets = createSecrets(values, { maskShapes: !isOff(settings, "privacy.mask_shapes") });
	const hide = (text: string) => hideSecretLike(secrets.hide(text));
	const inFile = { file: source.file };

	const { values: checked, problems: wrong } = validate(settings, hide);
	const problems: ConfigProblem[] = [
		...source.problems,
		...document.problems.map(({ at, message }) => ({
			code: "config.syntax" as const,
			message,
			...inFile,
			...at,
		})),
		...written.problems.map(({ at, key, message, ...rest }) => {
			return {
				code: "config.invalid" as const,
				key: hide(key),
				message: hide(message),
				...rest,
				...inFile,
				...at,
			};
		}),
		// The file is checked alone: a bad value is reported even if a variable overrides it.
		...validate(written.settings, hide).problems,
		...wrong.filter(({ variable }) => variable !== undefined),
	].toSorted(byPosition);
	const warnings = [
		...environment.unknown.filter(({ variable }) => !names.includes(variable)).map(({ message }) => message),
		...shortSecrets(names, env),
		...unknownHostZone(settings),
	];
	const found = { file: source.file, problems, warnings, secrets: values, secretNames: names };
	if (problems.length > 0 || !checked) return { ...found, config: undefined };
	const entries = listEntries(checked, settings);
	const config = { values: checked, entries, secrets, secretNames: names, warnings };
	return { ...found, warnings: [...warnings, ...unreached(checked)], config };
}

/** In the order of the file, then the variables. */
function byPosition(a: ConfigProblem, b: ConfigProblem): number {
	const [lineOfA, lineOfB] = [a, b].map(
		({ line, variable }) => line ?? (variable ? Number.MAX_SAFE_INTEGER : 0),
	);
	return (lineOfA ?? 0) - (lineOfB ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** A missing file counts as empty, unless it was asked for by name. */
function readSource(
	home: string,
	asked: string | undefined,
): { file: string | undefined; text: string; problems: ConfigProblem[] } {
	const file = asked ?? join(home, "config.yaml");
	if (asked === undefined && !existsSync(file)) return { file: undefined, text: "", problems: [] };
	try {
		return { file, text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)), problems: [] };
	} catch (error) {
		const reason = error instanceof Error && "code" in error ? READ_FAILURES[String(error.code)] : undefined;
		const message = `the configuration cannot be read: ${reason ?? String(error)}`;
		return { file, text: "", problems: [{ code: "config.unreadable", message, file }] };
	}
}

const READ_FAILURES: Partial<Record<string, string>> = {
	ENOENT: "there is no such file",
	EISDIR: "it is a folder",
	EACCES: "permission denied",
	ERR_ENCODING_INVALID_ENCODED_DATA: "it is not UTF-8 text",
};

function fromVariable({
	path,
	value,
	variable,
}: {
	path: readonly string[];
	value: unknown;
	variable: string;
}): Setting {
	return { path, value, origin: { kind: "environment", variable } };
}

function overlay(below: readonly Setting[], above: readonly Setting[]): Setting[] {
	const byKey = new Map([...below, ...above].map((setting) => [setting.path.join("."), setting]));
	return [...byKey.values()];
}

/** Always hidden if set: a model uses one of them if no other is named. */
const USUAL_KEYS = Object.values(USUAL_KEY_VARIABLES).filter((name) => name !== null);

/** As written, before validation: messages about an invalid configuration must hide them too. */
function secretNames(settings: readonly Setting[]): string[] {
	// A variable that every command may see is not a secret.
	const keys = settings.filter(({ path }) => path.join(".") !== "walls.env_pass");
	const at = (key: string) => keys.filter(({ path }) => path.at(-1) === key).map(({ value }) => value);
	const items = (key: string) => at(key).flatMap((value): unknown[] => (Array.isArray(value) ? value : []));
	const inItems = (key: string, name: string) =>
		items(key).map((entry) => (entry as Readonly<Record<string, unknown>> | null)?.[name]);
	const listed = [
		...inItems("failover", "api_key_env"),
		...inItems("notify", "secret_env"),
		...inItems("join", "key_env"),
		...inItems("join", "password_env"),
	];
	// For the agent, every profile, signatures, and variables given to one program only.
	const names = [
		...items("secrets"),
		...inItems("secrets", "name"),
		...items("env_pass"),
		...at("api_key_env"),
		...at("secret_env"),
		...at("token_env"),
		...at("app_token_env"),
		...ofMcpServers(keys),
		...at("signing_secret_env"),
		...at("server_password_env"),
		...at("passphrase_env"),
		...listed,
	].filter((name) => typeof name === "string");
	return [...new Set(names)];
}

/** Given to one MCP server, as a variable or in a header. */
function ofMcpServers(settings: readonly Setting[]): unknown[] {
	return settings
		.filter(({ path }) => path[0] === "mcp" && ["env", "headers_env"].includes(path[3] ?? ""))
		.flatMap(({ value }): unknown[] =>
			typeof value === "object" && value !== null ? Object.values(value) : [value],
		);
}

function secretValues(names: readonly string[], env: Environment): ReadonlyMap<string, string> {
	return new Map(
		names.flatMap((name) => {
			const value = env[name];
			return value ? [[name, value] as const] : [];
		}),
	);
}

/** The password of the store's server in the URL, in all its forms: written, encoded and decoded. */
function passwordIn(settings: readonly Setting[]): [name: string, value: string][] {
	const url = settings.find(({ path }) => path.join(".") === "store.url")?.value;
	if (typeof url !== "string") return [];
	const parsed = URL.parse(url);
	const asked = [...(parsed?.searchParams ?? [])].filter(([name]) => /pass/i.test(name));
	const found = [
		parsed ? parsed.password : /:\/\/[^/:@]*:(.+)@/.exec(url)?.[1],
		...asked.map(([, value]) => value),
	];
	return [...new Set(found.flatMap((value) => (value ? [value, decoded(value)] : [])))].map((value, n) => [
		`STORE_PASSWORD${n === 0 ? "" : `_${n + 1}`}`,
		value,
	]);
}

function decoded(value: string): string {
	try {
		return decodeURIComponent(value);
	} catch {
		return value;
	}
}

function shortSecrets(names: readonly string[], env: Environment): string[] {
	return names
		.filter((name) => env[name] && env[name].length < SHORTEST_HIDDEN)
		.map(
			(name) =>
				`the value of ${name} is shorter than ${SHORTEST_HIDDEN} characters, so it cannot be hidden in output`,
		);
}

/** Its problems are reported with the rest; until they are fixed, it is on. */
function isOff(settings: readonly Setting[], key: string): boolean {
	return settings.some(({ path, value }) => path.join(".") === key && value === false);
}

function unknownHostZone(settings: readonly Setting[]): string[] {
	const given = settings.some(({ path }) => path.join(".") === "session_reset.timezone");
	if (given || hostTimeZone() !== undefined) return [];
	return ["the host's time zone (TZ) is unknown, so days begin in UTC; set session_reset.timezone"];
}

function listEntries(values: Config, settings: readonly Setting[]): ConfigEntry[] {
	const origins = new Map(settings.map(({ path, origin }) => [path.join("."), origin]));
	const visit = (key: Key, value: unknown, path: readonly string[]): ConfigEntry[] => {
		if (value === undefined) return [];
		if (key.kind === "value") {
			const name = path.join(".");
			return [{ key: name, value, origin: origins.get(name) ?? { kind: "default" } }];
		}
		const held = value as Record<string, unknown>;
		const children =
			key.kind === "section" ? key.keys : Object.keys(held).map((name) => [name, key.value] as const);
		return [...children].flatMap(([name, child]) => visit(child, held[name], [...path, name]));
	};
	return visit(CONFIG_KEYS, values, []);
}
