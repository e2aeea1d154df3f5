// Where agent programs and tools work. Guards I10: only ids that Keryx made become directory names.
import { createHash } from "node:crypto";
import {
	accessSync,
	constants,
	lstatSync,
	mkdirSync,
	readdirSync,
	realpathSync,
	renameSync,
	rmdirSync,
	statSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Config, Environment } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";

export interface Workspaces {
	/** The conversation's directory; created if missing. Throws workspace.unusable. */
	of(conversation: string): string;
}

/** The workspace of a conversation, from its profile. */
export interface Workspace {
	readonly folder: string;
	/** A directory that existed before Keryx and that people use, too. */
	readonly fixed: boolean;
}

/** The conversation a workspace belongs to. */
export interface WorkspaceOwner {
	readonly conversation: string;
	readonly profile: string;
}

/** Keryx's home, and the folder for workspaces outside it: behind a wall the home is not visible. */
export interface WorkspaceFolders {
	readonly home: string;
	readonly root: string;
}

/** Named after this home, so that two homes never collide. */
export function workspaceFolders(
	home: string,
	{ root }: Pick<Config["workspace"], "root">,
	env: Environment,
): WorkspaceFolders {
	const user = env.HOME || homedir();
	if (root !== undefined)
		return { home, root: root.startsWith("~") ? join(user, root.slice(1)) : resolve(root) };
	const data = env.XDG_DATA_HOME?.startsWith("/") ? env.XDG_DATA_HOME : join(user, ".local/share");
	const id = createHash("sha256").update(resolve(home)).digest("hex").slice(0, 16);
	const usual = join(data, "keryx", id, "workspaces");
	return { home, root: isInside(usual, resolve(home)) ? join(data, "keryx-workspaces", id) : usual };
}

/**
 * Each is created on first use: an unusable fixed one fails that use, not the start. The configuration is read then, because profiles may
 * be added while Keryx runs.
 */
export function workspaceFinder(
	config: Pick<Config, "workspace" | "profiles">,
	folders: WorkspaceFolders,
): (owner: WorkspaceOwner) => Workspace {
	const known = new Map<string, Workspaces>();
	return ({ conversation, profile }) => {
		const own = profile === "" ? config.workspace : config.profiles[profile]?.workspace;
		const settings = own ?? config.workspace;
		const workspaces = (own && known.get(profile)) ?? createWorkspaces(settings, folders);
		// Not for a removed profile: it may come back with another workspace.
		if (own) known.set(profile, workspaces);
		return { folder: workspaces.of(conversation), fixed: settings.mode === "fixed" };
	};
}

/** Paths are relative to Keryx's home. Throws if a fixed directory cannot be used. */
export function createWorkspaces(
	{ mode, path }: Pick<Config["workspace"], "mode" | "path">,
	{ home, root }: WorkspaceFolders,
): Workspaces {
	switch (mode) {
		case "per_conversation":
			if (path !== undefined) throw invalid("must be left out when workspace.mode is per_conversation");
			return {
				of: (conversation) => {
					const id = checkedId(conversation);
					return made(unmoved(join(home, OLD_ROOT, id)) ?? join(root, id));
				},
			};
		case "shared": {
			const shared = path === undefined ? join(root, SHARED) : resolve(home, path);
			return { of: () => made((path === undefined && unmoved(join(home, OLD_SHARED))) || shared) };
		}
		case "fixed": {
			if (path === undefined) throw invalid("must name a directory when workspace.mode is fixed");
			const fixed = checked(resolve(home, path));
			return { of: () => checked(fixed) };
		}
	}
}

/** Where workspaces were before they moved out of the home. */
const OLD_ROOT = "workspaces";
const OLD_SHARED = "workspace";
const SHARED = "shared";

/** A workspace that could not be moved yet is used where it is. */
function unmoved(old: string): string | null {
	return lstatSync(old, { throwIfNoEntry: false })?.isDirectory() ? old : null;
}

/**
 * The path that identifies a workspace's snapshots: its original path in the home. So snapshots still match after the move, and the move
 * is a single rename.
 */
export function snapshotName(folder: string, { home, root }: WorkspaceFolders): string {
	const [own, below] = [existing(home), existing(root)];
	if (dirname(folder) !== below) return folder;
	const name = basename(folder);
	return name === SHARED ? join(own, OLD_SHARED) : join(own, OLD_ROOT, name);
}

export interface MoveReport {
	readonly moved: number;
	/** Workspaces that stay until a later start, each with the reason. */
	readonly kept: readonly { readonly folder: string; readonly why: string }[];
}

/**
 * Moves workspaces out of the home. Each is one rename, so a crash leaves every workspace in one place or the other, and the next start
 * continues. `isBusy`: its programs still run, or work on it is unfinished.
 */
export function moveWorkspaces(
	{ home, root }: WorkspaceFolders,
	isBusy: (folder: string) => boolean,
): MoveReport {
	const old = [
		...children(join(home, OLD_ROOT)).map((name) => [join(home, OLD_ROOT, name), join(root, name)] as const),
		[join(home, OLD_SHARED), join(root, SHARED)] as const,
	].filter(([folder]) => unmoved(folder) !== null);
	if (old.length === 0) return { moved: 0, kept: [] };
	mkdirSync(root, { recursive: true, mode: 0o700 });
	const kept: { folder: string; why: string }[] = [];
	for (const [folder, to] of old) {
		const why = isBusy(folder) ? "its programs are still running" : whyNotMoved(folder, to);
		if (why !== null) kept.push({ folder, why });
	}
	if (unmoved(join(home, OLD_ROOT)) && children(join(home, OLD_ROOT)).length === 0)
		rmdirSync(join(home, OLD_ROOT));
	return { moved: old.length - kept.length, kept };
}

function whyNotMoved(folder: string, to: string): string | null {
	if (lstatSync(to, { throwIfNoEntry: false })) return `${to} already exists`;
	try {
		renameSync(folder, to);
		return null;
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		return code === "EXDEV" ? `${dirname(to)} is on another file system` : message;
	}
}

function children(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch (error) {
		if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
		throw error;
	}
}

function existing(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return resolve(folder);
	}
}

function isInside(path: string, folder: string): boolean {
	return path === folder || path.startsWith(`${folder}/`);
}

/** Keryx's ids are 32 hex digits; an imported one may be anything. */
function checkedId(conversation: string): string {
	if (/^[0-9a-f]{32}$/.test(conversation)) return conversation;
	throw new KeryxError("workspace.unusable", "Keryx did not create this conversation's id", {
		hint: "set workspace.mode to shared or fixed, or start a new conversation",
	});
}

function made(folder: string): string {
	try {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
	} catch (cause) {
		throw unusable(folder, cause);
	}
	return checked(folder);
}

function checked(folder: string): string {
	try {
		if (!statSync(folder).isDirectory()) throw new Error("it is not a directory");
		accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
		return folder;
	} catch (cause) {
		throw unusable(folder, cause);
	}
}

function unusable(folder: string, cause: unknown): KeryxError {
	const message = `cannot use the workspace ${folder}: ${(cause as Error).message}`;
	return new KeryxError("workspace.unusable", message, { field: "workspace.path", cause });
}

function invalid(rule: string): KeryxError {
	return new KeryxError("config.invalid", `workspace.path ${rule}`, { field: "workspace.path" });
}
