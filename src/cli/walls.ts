// The walls of this Keryx: what its programs run behind, from its configuration and environment.
import { fileURLToPath } from "node:url";
import type { Config, Environment } from "../config/index.ts";
import { createWalls, type Walls, type WallsOptions, type WorkspaceFolders } from "../gateway/index.ts";
import type { Output } from "./output.ts";
import { programEnvironment } from "./program-environment.ts";

/** The folder of this package, from its sources and from what is published alike. */
export const PROGRAM_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

export interface WallParts {
	readonly folders: WorkspaceFolders;
	readonly env: Environment;
	readonly workspaceOf: WallsOptions["workspaceOf"];
	/** Asked each time: it may change. */
	config(): Config;
}

export function openWalls({ folders, env, workspaceOf, config }: WallParts): Walls {
	return createWalls({
		...folders,
		program: PROGRAM_FOLDER,
		env,
		workspaceOf,
		openEnvironment: (pass) => programEnvironment(config(), env, pass),
		config,
	});
}

/** At the start: which walls stand; or, as a warning, why none does and what to do. */
export async function tellOfWalls(walls: Walls, output: Pick<Output, "note" | "warn">): Promise<void> {
	const { view, mask, box } = await walls.probe();
	const words = await walls.inWords();
	const isMissing = [view, mask, box].some(({ isPossible }) => !isPossible);
	if (isMissing || words.startsWith("walls are off")) output.warn(words);
	else output.note(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
}
