// What a wall shows: which paths are bound, which are covered, and which folders must not be renamed. Renaming a folder above the home
// would allow replacing the home the gateway reads at its next start.
import { byDepth, foldersAbove, isAtOrInside, isInside, topFolder, unique } from "./paths.ts";
import type { HiddenPath, Machine, Wall } from "./types.ts";

const TMP = "/tmp";
/** Folders that each wall creates for itself; their contents outside are not visible inside. */
const OWN_FOLDERS = [TMP, "/dev", "/proc"];

export interface Binding {
	readonly path: string;
	readonly access: "read" | "write";
	/** A path that may be missing; then nothing is bound. */
	readonly isOptional: boolean;
	/** Folders in it that must not move, the highest first. */
	readonly pins: readonly string[];
}

export interface Layout {
	/** Top folders of a mask below which something is guarded. */
	readonly tops: readonly { readonly path: string; readonly pins: readonly string[] }[];
	/** The deeper of two paths comes later, and so decides. */
	readonly bindings: readonly Binding[];
	/** Only visible ones: bubblewrap creates missing mount points on the host. */
	readonly hidden: readonly HiddenPath[];
	/** A workspace inside a hidden folder: only the workspace is shown there. */
	readonly insideHidden: readonly Binding[];
	/**
	 * Bound on /tmp; null: a new one. Nothing is bound inside a kept one: a command could have replaced a folder there by a link, and
	 * bubblewrap would create folders outside.
	 */
	readonly tmp: string | null;
}

type Access = "read" | "readonly" | "write" | "protected";

export function layoutOf(given: Wall, machine: Machine, hidden: readonly HiddenPath[]): Layout {
	const wall = { ...given, protect: outermostProtected(given) };
	const wanted = wantedPaths(wall);
	const isHidden = (path: string) => hidden.some((one) => isAtOrInside(path, one.path));
	const isInRoot = (path: string) => inRoot(path, wall, machine);
	const visible = wanted.filter(({ path, access }) => access !== "protected" && !isHidden(path));
	const isSeen = (path: string) => isInRoot(path) || visible.some((one) => isAtOrInside(path, one.path));

	const isAround = ({ path }: HiddenPath) => isInside(wall.workspace, path);
	const seen = hidden.filter((one) => {
		const outer = hidden.filter(({ path }) => isInside(one.path, path));
		if (outer.length === 0) return isSeen(one.path) || isAround(one);
		// Hidden already, unless the workspace lies between and would show it again.
		return isInside(one.path, wall.workspace) && outer.every(isAround);
	});
	const guarded = unique([
		...seen.map(({ path }) => path),
		...wall.protect.filter((path) => isSeen(path) && !isHidden(path)),
	]);
	const isNeeded = ({ path, access }: { path: string; access: Access }) => {
		switch (access) {
			case "protected":
				return isSeen(path) && isWritable(path, wall, visible);
			case "readonly":
				return true;
			case "read":
				return !isInRoot(path);
			case "write":
				return wall.kind !== "mask" || !isInRoot(path) || wall.protect.some((one) => isInside(path, one));
		}
	};
	const binding = ({ path, access }: { path: string; access: Access }): Binding => ({
		path,
		access: access === "write" ? "write" : "read",
		isOptional: access === "protected",
		pins: access === "write" ? pinsIn(path, guarded, wall.keep) : [],
	});
	const bindings = wanted.filter((one) => !isHidden(one.path) && isNeeded(one)).map(binding);
	const insideHidden = hidden.some(isAround)
		? wanted.filter(({ path }) => path === wall.workspace).map(binding)
		: [];
	const isInTmp = [...bindings, ...seen, ...insideHidden].some(({ path }) => isAtOrInside(path, TMP));
	return {
		tops: topsOf(wall, guarded.filter(isInRoot)),
		bindings,
		hidden: seen,
		insideHidden,
		tmp: isInTmp ? null : wall.tmp,
	};
}

/** Without those that another one already covers: each bind costs time at every start. */
function outermostProtected({ protect, write, workspace }: Wall): string[] {
	const written = [workspace, ...write];
	const isCovered = (path: string, outer: string) =>
		isInside(path, outer) && !written.some((one) => isInside(one, outer) && isAtOrInside(path, one));
	return protect.filter((path) => !protect.some((outer) => isCovered(path, outer)));
}

function wantedPaths(wall: Wall): { readonly path: string; readonly access: Access }[] {
	const access = new Map<string, Access>();
	for (const path of wall.read) access.set(path, "read");
	for (const path of wall.write) access.set(path, "write");
	access.set(wall.workspace, wall.isWorkspaceReadonly ? "readonly" : "write");
	// Never writable, because the gateway runs it, even if it is the workspace itself.
	for (const path of wall.protect) access.set(path, access.has(path) ? "readonly" : "protected");
	return [...access].map(([path, access]) => ({ path, access })).sort((a, b) => byDepth(a.path, b.path));
}

/** Whether the root of the wall shows it, before anything else is bound. */
function inRoot(path: string, { kind }: Wall, { systemFolders }: Machine): boolean {
	if (kind !== "box") return !OWN_FOLDERS.some((folder) => isAtOrInside(path, folder));
	const folders = ["/usr", ...systemFolders.filter(({ link }) => link === null).map((one) => one.path)];
	return folders.some((folder) => isAtOrInside(path, folder));
}

function isWritable(
	path: string,
	{ kind }: Wall,
	visible: readonly { readonly path: string; readonly access: Access }[],
): boolean {
	return kind === "mask" || visible.some((one) => one.access === "write" && isInside(path, one.path));
}

function topsOf({ kind }: Wall, guarded: readonly string[]): Layout["tops"] {
	if (kind !== "mask") return [];
	const tops = unique(guarded.filter((path) => foldersAbove(path).length > 0).map(topFolder)).sort(byDepth);
	return tops.map((path) => ({ path, pins: pinsIn(path, guarded) }));
}

/** For a guarded path the folders above it, since it is a mount itself. For a path to keep, all of it. */
function pinsIn(region: string, guarded: readonly string[], kept: readonly string[] = []): string[] {
	const pins = [...guarded, ...kept].flatMap(foldersAbove).concat(kept);
	return unique(pins.filter((path) => isInside(path, region))).sort(byDepth);
}
