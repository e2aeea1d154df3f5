// Resolves a workspace, and where its snapshots are. Guards I10: a repository's name is a digest that Keryx made.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { KeryxError } from "../errors.ts";

export interface Location {
	/** The workspace's real path. */
	readonly root: string;
	/** The name of its repository. */
	readonly workspace: string;
	readonly repository: string;
}

export interface Naming {
	/** The path that names a moved folder's snapshots; default: its own path. */
	readonly nameOf?: ((root: string) => string) | undefined;
	/** This gateway, if others share its store: their workspaces may have the same path on other disks. */
	readonly owner?: string | undefined;
}

/** Throws checkpoint.refused for a folder that must not be saved as a whole. */
export async function locationOf(
	home: string,
	folder: string,
	{ nameOf = (path) => path, owner }: Naming = {},
): Promise<Location> {
	const own = await real(home);
	const root = await real(folder);
	if (!(await stat(root)).isDirectory()) throw refused(folder, "it is not a folder");
	if (dirname(root) === root) throw refused(folder, "it is the root of the file system");
	if (root === (await userHome())) throw refused(folder, "it is a home folder");
	if (own === root || isInside(own, root)) throw refused(folder, "it contains Keryx's own home");
	const named = resolve(folder);
	if (isInside(root, own) && ![own, resolve(home)].some((one) => isInside(named, one)))
		throw refused(folder, "it is a link into Keryx's own home");
	const checkpoints = join(own, FOLDER);
	if (root === checkpoints || isInside(root, checkpoints))
		throw refused(folder, "Keryx keeps its snapshots there");
	const alone = digestOf(nameOf(root));
	// Snapshots from before other gateways joined keep their name.
	const workspace =
		owner === undefined || existsSync(join(checkpoints, alone))
			? alone
			: digestOf(`${owner}\0${nameOf(root)}`);
	return { root, workspace, repository: join(checkpoints, workspace) };
}

function digestOf(name: string): string {
	return createHash("sha256").update(name).digest("hex").slice(0, 32);
}

export const FOLDER = "checkpoints";

async function userHome(): Promise<string> {
	try {
		return await realpath(homedir());
	} catch {
		return homedir();
	}
}

async function real(folder: string): Promise<string> {
	try {
		return await realpath(folder);
	} catch (cause) {
		throw refused(folder, (cause as Error).message, cause);
	}
}

function isInside(path: string, folder: string): boolean {
	return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function refused(folder: string, why: string, cause?: unknown): KeryxError {
	return new KeryxError("checkpoint.refused", `no snapshots of ${folder} are taken: ${why}`, { cause });
}
