// The environment of a program behind a wall, built from nothing: what Keryx itself was started with holds keys.
import { join } from "node:path";
import type { Wall } from "./types.ts";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";
/** In a box HOME is a folder of the workspace, which keeps it between commands. */
const BOX_HOME = ".home";

export interface EnvironmentOptions {
	readonly wall: Pick<Wall, "kind" | "workspace" | "isWorkspaceReadonly">;
	/** Keryx's own variables: only PATH, HOME, USER, SHELL, LANG, TERM and those that `pass` names are taken from them. */
	readonly own: Readonly<Record<string, string | undefined>>;
	/** Names from the configuration, as a proxy's. */
	readonly pass: readonly string[];
	/** What the call asks for; it wins. */
	readonly asked: Readonly<Record<string, string>>;
}

export function wallEnvironment({ wall, own, pass, asked }: EnvironmentOptions): Record<string, string> {
	const isBox = wall.kind === "box";
	const env: Record<string, string> = {
		PATH: isBox ? SYSTEM_PATH : (own.PATH ?? SYSTEM_PATH),
		HOME: isBox ? boxHome(wall) : (own.HOME ?? wall.workspace),
		LANG: own.LANG ?? "C.UTF-8",
		TERM: own.TERM ?? "xterm-256color",
		TMPDIR: "/tmp",
	};
	for (const name of ["USER", "LOGNAME", "SHELL", ...pass]) {
		const value = own[name];
		if (value !== undefined) env[name] = value;
	}
	// A box has the system's shells alone.
	if (isBox && !/^\/(usr\/)?bin\//.test(env.SHELL ?? "")) delete env.SHELL;
	return { ...env, ...asked };
}

/** Never bound as a folder of its own: a command could put a link in its place. */
export function boxHome({
	workspace,
	isWorkspaceReadonly,
}: Pick<Wall, "workspace" | "isWorkspaceReadonly">): string {
	return isWorkspaceReadonly ? "/tmp" : join(workspace, BOX_HOME);
}
