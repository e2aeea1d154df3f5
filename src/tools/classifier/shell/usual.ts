// Variables that a shell has although the command did not set them, and what they hold. Most may be empty, too: a path that starts with
// one of them is also looked at without it.
import { SOME } from "../text.ts";
import type { CommandFacts } from "../types.ts";

/** A number or one plain word. */
const WORDS: ReadonlySet<string> = new Set(
	`? # $ - BASHPID COLUMNS EPOCHREALTIME EPOCHSECONDS EUID HOSTNAME HOSTTYPE LANG LC_ALL LINENO LINES LOGNAME MACHTYPE OSTYPE PPID
	RANDOM SECONDS SHLVL SRANDOM TERM TZ UID USER USERNAME BASH_VERSION ZSH_VERSION`.split(/\s+/),
);

/** Folders in the user's home that tools keep themselves in. */
const IN_HOME: ReadonlyMap<string, string> = new Map([
	["ASDF_DIR", ".asdf"],
	["BUN_INSTALL", ".bun"],
	["CARGO_HOME", ".cargo"],
	["CONDA_PREFIX", "miniconda3"],
	["GOBIN", "go/bin"],
	["GOPATH", "go"],
	["NVM_DIR", ".nvm"],
	["PNPM_HOME", ".local/share/pnpm"],
	["PYENV_ROOT", ".pyenv"],
	["RBENV_ROOT", ".rbenv"],
	["RUSTUP_HOME", ".rustup"],
	["SDKMAN_DIR", ".sdkman"],
	["XDG_CACHE_HOME", ".cache"],
	["XDG_CONFIG_HOME", ".config"],
	["XDG_DATA_HOME", ".local/share"],
]);

/** Undefined for an unknown variable. */
export function usualValues(
	name: string,
	{ home, cwd, keryxHome }: CommandFacts,
): readonly string[] | undefined {
	if (WORDS.has(name)) return [SOME];
	const folder = IN_HOME.get(name);
	if (folder !== undefined) return [`${home}/${folder}`, ""];
	switch (name) {
		case "HOME":
			return [home];
		case "KERYX_HOME":
			return [keryxHome];
		// The last started job is one of the command's own.
		case "!":
			return ["%%"];
		case "TMPDIR":
			return ["/tmp"];
		case "TMP":
		case "TEMP":
			return ["/tmp", ""];
		case "GOROOT":
			return ["/usr/local/go", ""];
		case "JAVA_HOME":
			return [`/usr/lib/jvm/${SOME}`, ""];
		case "VIRTUAL_ENV":
			return [`${cwd}/.venv`, ""];
		default:
			return undefined;
	}
}
