// This Keryx's walls, from its configuration and environment.
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
import type { Report } from "./report/report.ts";

/** This package's folder, from sources and from the published package alike. */
export const PROGRAM_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

export interface WallParts {
	readonly folders: WorkspaceFolders;
	readonly env: Environment;
	readonly workspaceOf: WallsOptions["workspaceOf"];
	/** Read per call: it may change. */
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

/** Before any turn. What cannot be removed stays until the next start: Keryx still works. */
export async function tidyAfterWalls(home: string, { store, now, output }: TidyParts): Promise<void> {
	const processes = await store.unfinishedProcesses({ scope: OPERATOR });
	const running = processes.map(({ conversation }) => conversation);
	try {
		await tidyWalls(home, { running, now: now() });
	} catch (error) {
		output.warn(`old wall files in ${home} cannot be removed: ${(error as Error).message}`);
	}
}

/** At each start with `walls.mode: off`, and when it is set later: recorded in the audit. */
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

/** At start: the available walls; or, as a warning, why there are none and what to do. */
export async function tellOfWalls(walls: Walls, output: Pick<Report, "note" | "warn">): Promise<void> {
	const words = await walls.inWords();
	if (!(await walls.isWhole())) output.warn(words);
	else output.note(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
}
