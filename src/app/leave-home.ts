// The first start after workspaces moved out of the home: moves them, and explains once what changed for commands.

import { existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { KERYX } from "../called.ts";
import { counted } from "../domain/index.ts";
import { moveWorkspaces, type WorkspaceFolders } from "../gateway/index.ts";
import { OPERATOR, type Store } from "../store/index.ts";
import type { Home } from "./home.ts";
import type { Report } from "./report/report.ts";

/**
 * Whether this home was used before walls, and the notice is still due. Called before the store is opened, which creates one: a home without
 * a store is new, and always had walls.
 */
export function isFirstWithWalls({ path, storePath }: Pick<Home, "path" | "storePath">): boolean {
	if (!existsSync(storePath)) markWalls(path);
	return !existsSync(join(path, WALLS));
}

/** A home that was not used before walls needs no notice. */
export function markWalls(home: string): void {
	mkdirSync(join(home, WALLS), { recursive: true, mode: 0o700 });
}

/** Before any turn: nobody may lose a folder while working in it. `isFirst`: see `isFirstWithWalls`. */
export async function leaveHome(
	folders: WorkspaceFolders,
	store: Pick<Store, "unfinishedProcesses" | "openRestores">,
	output: Pick<Report, "note" | "warn">,
	{ isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<void> {
	const [processes, restores] = await Promise.all([
		store.unfinishedProcesses({ scope: OPERATOR }),
		store.openRestores({ scope: OPERATOR }),
	]);
	const conversations = new Set<string>(processes.map(({ conversation }) => conversation));
	const used = [...processes.map(({ cwd }) => cwd), ...restores.map(({ folder }) => folder)];
	const { moved, kept } = moveWorkspaces(
		folders,
		(folder) =>
			conversations.has(basename(folder)) || used.some((path) => `${path}/`.startsWith(`${folder}/`)),
	);
	for (const { folder, why } of kept.slice(0, MOST_NAMED))
		output.warn(`the workspace ${folder} stays where it is for now: ${why}`);
	if (kept.length > MOST_NAMED) output.warn(`and ${kept.length - MOST_NAMED} other workspaces`);
	if (moved === 0 && !isFirst) return;
	markWalls(folders.home);
	output.warn(
		`${moved === 0 ? "" : `${counted(moved, "workspace was", "workspaces were")} moved out of Keryx's home to ${folders.root}, with their snapshots. `}New in this version: commands run behind walls and no longer see Keryx's own environment. If they need variables such as a proxy's or JAVA_HOME, name them in walls.env_pass; \`${KERYX} doctor\` lists likely ones.`,
	);
}

const MOST_NAMED = 5;
/** In the home: notes of programs behind walls. */
const WALLS = "walls";
