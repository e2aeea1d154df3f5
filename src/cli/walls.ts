// The walls of this Keryx: what its programs run behind, from its configuration and environment.
import { fileURLToPath } from "node:url";
import type { Config, Environment } from "../config/index.ts";
import { createWalls, type Walls, type WallsOptions } from "../gateway/index.ts";
import { programEnvironment } from "./program-environment.ts";

/** The folder of this package, from its sources and from what is published alike. */
export const PROGRAM_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

export interface WallParts {
	readonly home: string;
	readonly env: Environment;
	readonly workspaceOf: WallsOptions["workspaceOf"];
	/** Asked each time: it may change. */
	config(): Config;
}

export function openWalls({ home, env, workspaceOf, config }: WallParts): Walls {
	return createWalls({
		home,
		program: PROGRAM_FOLDER,
		env,
		workspaceOf,
		openEnvironment: (pass) => programEnvironment(config(), env, pass),
		config,
	});
}
