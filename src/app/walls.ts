// The walls of this Keryx: what its programs run behind, from its configuration and environment.
import { fileURLToPath } from "node:url";
import type { Config, Environment } from "../config/index.ts";
import {
	createWalls,
	tidyWalls,
	type Walls,
	type WallsOptions,
	type WorkspaceFolders,
} from "../gateway/index.ts";
import { OPERATOR, type Store } from "../store/index.ts";
import { programEnvironment } from "./program-environment.ts";
import type { Report } from "./report.ts";

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

export interface TidyParts {
	readonly store: Pick<Store, "unfinishedProcesses">;
	readonly output: Pick<Report, "warn">;
	now(): number;
}

/** Before any turn. What cannot be removed stays until the next start: Keryx works all the same. */
export async function tidyAfterWalls(home: string, { store, now, output }: TidyParts): Promise<void> {
	const processes = await store.unfinishedProcesses({ scope: OPERATOR });
	const running = processes.map(({ conversation }) => conversation);
	try {
		await tidyWalls(home, { running, now: now() });
	} catch (error) {
		output.warn(`old wall files in ${home} cannot be removed: ${(error as Error).message}`);
	}
}

/** At each start with `walls.mode: off`, and when it is set meanwhile: the audit names it. */
export async function auditWalls(
	{ walls }: Pick<Config, "walls">,
	store: Pick<Store, "auditWallsOff">,
	output: Pick<Report, "warn">,
): Promise<void> {
	if (walls.mode !== "off") return;
	try {
		await store.auditWallsOff();
	} catch (error) {
		output.warn(`the audit does not mention that walls are off: ${(error as Error).message}`);
	}
}

/** At the start: which walls stand; or, as a warning, why none does and what to do. */
export async function tellOfWalls(walls: Walls, output: Pick<Report, "note" | "warn">): Promise<void> {
	const { view, mask, box } = await walls.probe();
	const words = await walls.inWords();
	const isMissing = [view, mask, box].some(({ isPossible }) => !isPossible);
	if (isMissing || words.startsWith("walls are off")) output.warn(words);
	else output.note(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
}
