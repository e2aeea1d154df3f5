// Checks a wall's folders right before they are bound: an earlier command may have put a link in their place. Without bind by descriptor
// a moment remains between check and bind; with it there is none.
import {
	closeSync,
	constants,
	lstatSync,
	openSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	type Stats,
	statSync,
} from "node:fs";
import { normalize } from "node:path";
import { KeryxError } from "../errors.ts";
import { furtherProcMounts, otherPaths, parseMounts } from "./mounts.ts";
import { byDepth, isAtOrInside, unique } from "./paths.ts";
import type { HiddenPath, Wall } from "./types.ts";

/** Cannot be shared: they belong to the kernel, and each wall has its own. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Throws `wall.path` for a folder that is missing, a link, or not allowed for this wall. */
export function checkWall(wall: Wall): void {
	checkFolder("home", wall.home);
	checkFolder("workspace", wall.workspace);
	if (wall.tmp !== null) checkFolder("tmp", wall.tmp);
	for (const field of ["read", "write"] as const)
		for (const path of wall[field]) {
			checkReal(field, path);
			if (isAtOrInside(path, wall.home)) throw wrong(field, path, "lies in Keryx's home");
		}
	for (const field of ["protect", "hide", "keep"] as const)
		for (const path of wall[field] ?? []) checkForm(field, path);
	if (wall.tmp !== null && [wall.workspace, ...wall.read, ...wall.write].includes(wall.tmp))
		throw wrong("tmp", wall.tmp, "is bound elsewhere, too");
	if (wall.workspace === wall.home) throw wrong("workspace", wall.workspace, "is Keryx's home");
	for (const name of wall.devices)
		if (!/^[\w][\w.-]*(\/[\w][\w.-]*)*$/.test(name))
			throw wrong("devices", name, "is no name of a device below /dev");
	if (wall.privileges === "admin" && process.getuid?.() !== 0)
		throw new KeryxError("wall.path", "privileges: admin works only for root", { field: "privileges" });
}

/** The home by every path, everything else the wall hides, and every other process list. */
export function hiddenPaths(wall: Pick<Wall, "home" | "hide">): HiddenPath[] {
	const mounts = parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
	const found = new Map<string, HiddenPath>();
	const add = (path: string, stats: Stats) =>
		found.set(path, { path, kind: stats.isDirectory() ? "folder" : "file" });
	checkFolder("home", wall.home);
	for (const folder of unique([wall.home, ...wall.hide.flatMap(existing)])) {
		const stats = lstatSync(folder);
		add(folder, stats);
		for (const path of otherPaths(folder, mounts)) {
			const other = look(path);
			// A later mount may have covered it; then something else is there, or nothing.
			if (other && other.dev === stats.dev) add(path, other);
		}
	}
	for (const path of furtherProcMounts(mounts)) {
		const stats = look(path);
		if (stats) add(path, stats);
	}
	return [...found.values()].sort((a, b) => byDepth(a.path, b.path));
}

/** Opens a path without following links. The caller closes it. */
export function openBound(path: string): number {
	// Without waiting for the other end of a FIFO.
	const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	try {
		if (readlinkSync(`/proc/self/fd/${descriptor}`) !== path)
			throw wrong("workspace", path, "is reached through a link");
		return descriptor;
	} catch (error) {
		closeSync(descriptor);
		throw error;
	}
}

function checkFolder(field: keyof Wall, path: string): void {
	checkReal(field, path);
	if (!lstatSync(path).isDirectory()) throw wrong(field, path, "is no folder");
}

function checkReal(field: keyof Wall, path: string): void {
	checkForm(field, path);
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (!found) throw wrong(field, path, "does not exist");
	if (found.isSymbolicLink()) throw wrong(field, path, "is a link");
	if (realpathSync(path) !== path) throw wrong(field, path, "is reached through a link");
}

function checkForm(field: keyof Wall, path: string): void {
	if (
		!path.startsWith("/") ||
		path.includes("\0") ||
		normalize(path) !== path ||
		(path.endsWith("/") && path !== "/")
	)
		throw wrong(field, path, "is not an absolute path without dots and doubled slashes");
	if (path === "/") throw wrong(field, path, "is the whole machine");
	if (KERNEL_FOLDERS.some((folder) => isAtOrInside(path, folder)))
		throw wrong(field, path, "is the kernel's");
}

/** Where a path leads; covering only the link would not help. */
function existing(path: string): string[] {
	return look(path) ? [realpathSync(path)] : [];
}

function look(path: string): Stats | null {
	try {
		return statSync(path);
	} catch {
		return null;
	}
}

function wrong(field: keyof Wall, path: string, problem: string): KeryxError {
	return new KeryxError("wall.path", `${field}: ${JSON.stringify(path)} ${problem}`, { field });
}
