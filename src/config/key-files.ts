// The secrets in the files that a configuration names: keys of models, tokens and passwords of channels. They are known as soon as the
// configuration is, before anything uses them (I12).
import { readSecretFile } from "./secret-file.ts";
import type { Setting } from "./settings.ts";

const IN_SECTIONS = [
	"api_key_file",
	"token_file",
	"app_token_file",
	"signing_secret_file",
	"server_password_file",
	"certificate_file",
];
/** By the list they are in. */
const IN_LISTS = [
	["failover", "api_key_file"],
	["join", "key_file"],
	["join", "password_file"],
] as const;
/** More than any key, in characters. */
const LONGEST = 64 * 1024;

/** By the file as it is named. A file that cannot be read is reported where it is used. */
export function valuesInFiles(settings: readonly Setting[], home: string): ReadonlyMap<string, string> {
	return new Map(
		filesIn(settings).flatMap((file) => {
			const value = valueIn(file, home);
			return value === "" || value.length > LONGEST ? [] : [[file, value] as const];
		}),
	);
}

function filesIn(settings: readonly Setting[]): readonly string[] {
	const files = settings.flatMap(({ path, value }): unknown[] => {
		const key = path.at(-1) ?? "";
		if (IN_SECTIONS.includes(key)) return [value];
		if (!Array.isArray(value)) return [];
		return IN_LISTS.filter(([list]) => list === key).flatMap(([, name]) =>
			value.map((entry) => (entry as Readonly<Record<string, unknown>> | null)?.[name]),
		);
	});
	return files.filter((file) => typeof file === "string");
}

function valueIn(file: string, home: string): string {
	try {
		const found = readSecretFile(file, home);
		return found.kind === "missing" ? "" : found.value;
	} catch {
		return "";
	}
}
