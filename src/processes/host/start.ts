// Checks in advance whether a program can start: afterwards a missing directory and a missing program look alike.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import type { OnReadOpts, Socket } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Wall } from "../../walls/index.ts";
import type { PtySize, SpawnRequest } from "../types.ts";

export interface Exit {
	readonly code: number | null;
	readonly signal: string | null;
	/** Its wall could not be made, so the program never ran; the reason is in its output. */
	readonly isWallFailed?: boolean;
}

/** Gets a reused buffer. False: it is still in use, and nothing is read before `output.resume()`. */
export type TakeOutput = (data: Buffer) => boolean;

/** A running program, as held by the host. */
export interface Started {
	readonly pid: number;
	/** Called once. */
	open(take: TakeOutput): Streams;
	/** Called once, even if it has already ended. */
	onExit(listener: (exit: Exit) => void): void;
	/** Null: it has no terminal. */
	readonly resize: ((size: PtySize) => void) | null;
}

export interface Streams {
	readonly output: Socket;
	readonly input: Socket;
	endInput(): void;
}

/** Reads without allocating a buffer per piece: a program may print for weeks. Nothing is read ahead, so nothing is lost at the end. */
export function readInto(take: TakeOutput): { readonly onread: OnReadOpts } {
	return {
		onread: {
			buffer: Buffer.allocUnsafe(PIECE),
			callback: (length, buffer) => take(Buffer.from(buffer.buffer, buffer.byteOffset, length)),
		},
	};
}

const PIECE = 64 * 1024;
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** A wall has its own /tmp: only the program sees it. */
const OWN_FOLDER = "/tmp";

/** Throws like `programOf`; checks that only work inside the wall are left to it. */
export function checkWalled(request: SpawnRequest): void {
	const { argv, cwd, wall } = request;
	if (isIn(cwd, OWN_FOLDER) || argv[0]?.startsWith(`${OWN_FOLDER}/`)) return;
	// Existing or not: the message must not tell.
	if (wall && !isShown(realOf(cwd), wall.wall)) throw missing(cwd);
	programOf(request);
}

/** What a box shows of the system. */
const SYSTEM = [
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/etc",
	"/var/tmp",
	"/run",
	"/proc",
	"/dev",
];

function isShown(real: string, { kind, home, hide, workspace, read, write }: Wall): boolean {
	if (isIn(real, workspace)) return true;
	if ([home, ...hide].some((folder) => isIn(real, folder))) return false;
	return (
		kind !== "box" || real === "/" || [...read, ...write, ...SYSTEM].some((folder) => isIn(real, folder))
	);
}

/** Resolves a path as far as it exists. */
function realOf(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path === "/" ? path : realOf(dirname(path));
	}
}

function isIn(path: string, folder: string): boolean {
	return `${path}/`.startsWith(`${folder}/`);
}

function missing(cwd: string): Error {
	return new Error(`the directory ${cwd} does not exist`);
}

/** The program's file. Throws a readable error if it or the working directory is missing. */
export function programOf({ argv, cwd, env }: SpawnRequest): string {
	checkDirectory(cwd);
	const name = argv[0] as string;
	if (name.includes("/")) {
		const file = resolve(cwd, name);
		if (!isProgram(file)) throw new Error(`there is no program ${name}`);
		return file;
	}
	for (const folder of (env.PATH ?? DEFAULT_PATH).split(delimiter)) {
		const file = resolve(cwd, join(folder || ".", name));
		if (isProgram(file)) return file;
	}
	throw new Error(`there is no program ${name} on the PATH`);
}

function checkDirectory(cwd: string): void {
	const found = statSync(cwd, { throwIfNoEntry: false });
	if (!found) throw missing(cwd);
	if (!found.isDirectory()) throw new Error(`${cwd} is not a directory`);
	accessSync(cwd, constants.X_OK);
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
