// The environment of a walled program, built from scratch: Keryx's own environment contains keys.
import { join } from "node:path";
import type { Wall } from "./types.ts";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";
/** In a box HOME is a folder of the workspace, which persists between commands. */
const BOX_HOME = ".home";

export interface EnvironmentOptions {
	readonly wall: Pick<Wall, "kind" | "workspace" | "isWorkspaceReadonly">;
	/** Keryx's own variables: only PATH, HOME, USER, SHELL, LANG, TERM and those in `pass` are taken. */
	readonly own: Readonly<Record<string, string | undefined>>;
	/** Names from the configuration, such as a proxy's. */
	readonly pass: readonly string[];
	/** The call's variables; they override. */
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
	// A box has only the system's shells.
	if (isBox && !/^\/(usr\/)?bin\//.test(env.SHELL ?? "")) delete env.SHELL;
	return { ...env, ...asked };
}

/** Never bound as a separate folder: a command could put a link in its place. */
export function boxHome({
	workspace,
	isWorkspaceReadonly,
}: Pick<Wall, "workspace" | "isWorkspaceReadonly">): string {
	return isWorkspaceReadonly ? "/tmp" : join(workspace, BOX_HOME);
}
