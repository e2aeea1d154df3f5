// The folders of a workspace, by descriptor. A running program can replace a folder with a link between any two calls, and the link may
// lead into Keryx's home. Anything reached through an open folder stays in the workspace.
import { closeSync, constants, existsSync, openSync, readlinkSync } from "node:fs";
import { fullPath, nameOf, parentOf } from "./names.ts";
import { type Reading, readAt, statOf } from "./read-file.ts";

/** Valid until another folder is opened. */
export interface Folder {
	/** The path of something in it. */
	at(name: string): Buffer;
}

/** missing: nothing is there. blocked: something other than a folder is there, or a link is on the way. */
export type NoFolder = "missing" | "blocked";

const DESCRIPTORS = "/proc/self/fd";
/** Other systems cannot name files by their folder's descriptor; they have no walls, either. */
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);
/** Linux only. Also opens a folder that may not be listed. */
const O_PATH = 0o10_000_000;
const FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Paths are relative to the root. The user closes them. */
export class Folders {
	readonly #root: string;
	#held: { readonly path: string; readonly descriptor: number } | null = null;

	/** A real path that no program can replace. */
	constructor(root: string) {
		this.#root = root;
	}

	/** Its current state. */
	open(path: string): Folder | NoFolder {
		if (!HAS_DESCRIPTORS) return this.#byPath(path);
		this.close();
		const full = this.#fullPath(path);
		let descriptor: number;
		try {
			descriptor = openSync(full, FLAGS);
		} catch (error) {
			return whyNot(error);
		}
		this.#held = { path, descriptor };
		if (isAt(descriptor, full)) return folderAt(descriptor);
		this.close();
		return "blocked";
	}

	/** The last opened folder, if it is the same: for many reads in a row. */
	again(path: string): Folder | NoFolder {
		return this.#held?.path === path ? folderAt(this.#held.descriptor) : this.open(path);
	}

	/** Whether the last opened folder is still in place: someone may have moved it, even out of the workspace. */
	isStillThere(): boolean {
		if (!this.#held) return true;
		const { path, descriptor } = this.#held;
		return isAt(descriptor, this.#fullPath(path));
	}

	/** One file or link; null if there is none. Throws the system's error if it cannot be read. */
	read(path: string): Reading | null {
		const folder = this.again(parentOf(path));
		return typeof folder === "string" ? null : readAt(folder.at(nameOf(path)));
	}

	close(): void {
		if (this.#held) closeSync(this.#held.descriptor);
		this.#held = null;
	}

	#fullPath(path: string): Buffer {
		return path === "" ? Buffer.from(this.#root) : fullPath(this.#root, path);
	}

	#byPath(path: string): Folder | NoFolder {
		for (const part of partsOf(path)) {
			const stats = statOf(this.#root, part);
			if (!stats) return "missing";
			if (!stats.isDirectory()) return "blocked";
		}
		return { at: (name: string) => fullPath(this.#root, path === "" ? name : `${path}/${name}`) };
	}
}

function folderAt(descriptor: number): Folder {
	return { at: (name) => Buffer.from(`${DESCRIPTORS}/${descriptor}/${name}`, "latin1") };
}

/** A folder reached through a link has another real path. */
function isAt(descriptor: number, full: Buffer): boolean {
	return readlinkSync(`${DESCRIPTORS}/${descriptor}`, { encoding: "buffer" }).equals(full);
}

function whyNot(error: unknown): NoFolder {
	const { code } = error as NodeJS.ErrnoException;
	if (code === "ENOENT") return "missing";
	if (code === "ENOTDIR" || code === "ELOOP") return "blocked";
	throw error;
}

/** The path itself and the folders above it, the outermost first. */
function partsOf(path: string): string[] {
	if (path === "") return [];
	const parts = path.split("/");
	return parts.map((_, n) => parts.slice(0, n + 1).join("/"));
}
