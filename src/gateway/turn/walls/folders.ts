// A wall's folders, checked at every start: a command may have put a link in their place.
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { Config, Environment } from "../../../config/index.ts";
import type { Standing } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { protectedPrograms, type Wall } from "../../../walls/index.ts";
import { limitsOf, type WallChoice } from "./choice.ts";
import { tmpOf } from "./tmp.ts";

export interface WallFolders {
	readonly home: string;
	/** Keryx's own program, which nothing behind a wall may write. */
	readonly program: string;
	/** Keryx's own environment. */
	readonly env: Environment;
	/** The folder of the workspaces: behind a mask none can be replaced by another. */
	readonly root: string;
	/** Read per call: it may change. */
	config(): Config;
}

/** Throws wall.path. */
export function wallOf(
	turn: { readonly conversation: string; readonly standing: Standing },
	{ kind, isReadonly, network, hosts }: WallChoice,
	options: WallFolders & { readonly workspace: string },
): Omit<Wall, "outlivesStarter"> {
	const { walls, backup, store } = options.config();
	const home = realpathSync(options.home);
	const own = options.env.HOME ?? homedir();
	const paths = (given: readonly string[]) => given.map((path) => realOf(path, own));
	const isRoot = process.getuid?.() === 0;
	const isAdmin = isRoot && walls.root === "admin" && turn.standing === "owner" && kind !== "box";
	const folder = options.workspace;
	const workspace = realWorkspace(folder, options.home, home);
	const write = paths(walls.write);
	const others = otherWorkspaces(options);
	const written = [workspace, ...write, ...others];
	for (const path of [folder, ...[...walls.read, ...walls.write].map((one) => expanded(one, own))])
		assertUnexchanged(path, written);
	const isWritten = (path: string) => [workspace, ...write].some((outer) => isInside(path, outer));
	// A mask can replace them, but it already reaches whatever it could lead another wall to.
	const keep = kind === "mask" ? [] : [...others, ...write, ...paths(walls.read)].filter(isWritten);
	return {
		kind,
		home,
		workspace,
		isWorkspaceReadonly: isReadonly,
		tmp: tmpOf(turn.conversation, home),
		read: paths(walls.read),
		write: isReadonly ? [] : write,
		...(keep.length > 0 && { keep }),
		hide: [
			...walls.hide,
			...(backup.to === undefined ? [] : [backup.to]),
			...keysOf(store.url, options.env),
		].map((path) => expanded(path, own)),
		protect: [
			...protectedPrograms({ folder: options.program, path: options.env.PATH ?? "", isAdmin }),
			...(existsSync(options.root) ? [realpathSync(options.root)] : []),
			...hookFiles(options.config()),
		],
		devices: [],
		network,
		...(hosts && { hosts }),
		hasUnixSockets: walls.unix_sockets === "on",
		privileges: isAdmin ? "admin" : "none",
		limits: limitsOf(walls),
	};
}

/** Files with which a command could reach a store on a server by itself. */
function keysOf(url: string, env: Environment): string[] {
	if (!url.startsWith("postgres")) return [];
	const key = new URL(url).searchParams.get("sslkey");
	return [env.PGPASSFILE || "~/.pgpass", ...(key ? [key] : [])];
}

/** A link in place of a workspace could lead into Keryx's home and expose it. */
function realWorkspace(folder: string, home: string, realHome: string): string {
	const real = realpathSync(folder);
	const isMeant = isAtOrInside(resolve(folder), resolve(home));
	const expected = isMeant ? join(realHome, relative(resolve(home), resolve(folder))) : real;
	if (isAtOrInside(real, realHome) !== isMeant || real !== expected)
		throw new KeryxError("wall.path", `the workspace ${folder} is a link to ${real}`, {
			field: "workspace.path",
		});
	return real;
}

/** Hooks run outside walls: nothing behind one may write what they run. */
function hookFiles({ hooks }: Config): string[] {
	const files = hooks.flatMap(({ command }) => command).filter((word) => isAbsolute(word) && isFile(word));
	return [...new Set(files.map((file) => realpathSync(file)))];
}

function isFile(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The existing ones named in the configuration, of every profile. */
function otherWorkspaces({ config, home }: WallFolders): string[] {
	const { workspace, profiles } = config();
	return [workspace, ...Object.values(profiles).map((profile) => profile.workspace)].flatMap(({ path }) => {
		const folder = path === undefined ? null : resolve(home, path);
		return folder !== null && existsSync(folder) ? [realpathSync(folder)] : [];
	});
}

/** A link in a place that commands can write may be theirs, and lead anywhere. */
function assertUnexchanged(path: string, written: readonly string[]): void {
	const link = linkIn(resolve(path), written);
	if (link !== null)
		throw new KeryxError(
			"wall.path",
			`${path} is reached through the link ${link}, which commands could replace`,
			{
				field: "workspace.path",
				hint: "name the folder that the link points to",
			},
		);
}

/** The first link on the way to a path that is in one of these folders. */
function linkIn(path: string, folders: readonly string[]): string | null {
	let at = "/";
	for (const part of path.split("/").filter(Boolean)) {
		const next = join(at, part);
		if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink()) {
			if (folders.some((folder) => isAtOrInside(at, folder))) return next;
			const inTarget = linkIn(resolve(at, readlinkSync(next)), folders);
			if (inTarget !== null) return inTarget;
			at = realpathSync(next);
		} else at = next;
	}
	return null;
}

function realOf(path: string, own: string): string {
	const folder = expanded(path, own);
	try {
		return realpathSync(folder);
	} catch (cause) {
		throw new KeryxError("wall.path", `${path} cannot be shown behind a wall: ${(cause as Error).message}`, {
			field: "walls",
			cause,
		});
	}
}

function isInside(path: string, folder: string): boolean {
	return path.startsWith(`${folder}/`);
}

function isAtOrInside(path: string, folder: string): boolean {
	return path === folder || isInside(path, folder);
}

function expanded(path: string, own: string): string {
	return path === "~" ? own : path.startsWith("~/") ? join(own, path.slice(2)) : path;
}
