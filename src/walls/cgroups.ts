// Cgroups: kernel groups that limit what a program and everything it starts use together. The program's shell enters the cgroup first, so
// nothing runs outside of it; a program that cannot enter is not started.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Mount, parseMounts } from "./mounts.ts";
import { isAtOrInside, unique } from "./paths.ts";
import type { Cgroups, WallLimits } from "./types.ts";

/** In version 2 a group with subgroups may hold no process. So Keryx needs its own, next to those of programs. */
const OWN_GROUP = "keryx";
const PREFIX = "keryx-";
/** The kernel releases the last process within this time. */
const GONE_MS = 5000;
export const NO_CGROUPS: Cgroups = { version: null, memory: null, pids: null, problem: "none" };

/** Where a process of this user can make cgroups. Each candidate is tried with a real one. */
export function lookForCgroups(pid: number | "self" = "self"): Cgroups {
	const found = cgroupsIn(textOf(`/proc/${pid}/cgroup`), parseMounts(textOf("/proc/self/mountinfo")));
	if (found.problem !== null) return found;
	if (found.version === 2 && !enable(found))
		return { ...found, memory: null, pids: null, problem: "refused" };
	const usable = (folder: string | null, limits: Partial<WallLimits>) =>
		folder !== null && canLimit(found, limits) ? folder : null;
	const memory = usable(found.memory, { totalMemoryBytes: 1024 ** 3 });
	const pids = usable(found.pids, { processes: 1000 });
	return { ...found, memory, pids, problem: memory === null && pids === null ? "refused" : null };
}

/** Pure: from /proc/self/cgroup and the mounts. Below Keryx's own group, so that Keryx's limits also apply to its programs. */
export function cgroupsIn(own: string, mounts: readonly Mount[]): Cgroups {
	const groups = own
		.trim()
		.split("\n")
		.map((line) => {
			const [, controllers = "", ...path] = line.split(":");
			return { controllers: controllers.split(","), path: path.join(":") };
		});
	const folderOf = (controller: "memory" | "pids") => {
		const group = groups.find(({ controllers }) => controllers.includes(controller));
		const mount = mounts.find(
			({ type, point }) => type === "cgroup" && basename(point).split(",").includes(controller),
		);
		return group && mount ? folderAt(group.path, mount) : null;
	};
	const [memory, pids] = [folderOf("memory"), folderOf("pids")];
	if (memory !== null || pids !== null) return { version: 1, memory, pids, problem: null };
	const unified = groups.find(({ controllers }) => controllers[0] === "");
	const mount = mounts.find(({ type }) => type === "cgroup2");
	const folder = unified && mount ? folderAt(unified.path, mount) : null;
	if (folder === null) return NO_CGROUPS;
	if (basename(folder) !== OWN_GROUP) return { ...NO_CGROUPS, version: 2, problem: "not_delegated" };
	return { version: 2, memory: dirname(folder), pids: dirname(folder), problem: null };
}

/** Null if the limits need none, or none can be made. Otherwise its folders: version 1 has one for each kind of limit. */
export function makeCgroup(limits: WallLimits, cgroups: Cgroups, home: string): string[] | null {
	return makeNamed(`${prefixOf(home)}${randomBytes(8).toString("hex")}`, limits, cgroups);
}

/** For a program's shell: it enters, or exits. */
export function enterScript(folders: readonly string[]): string[] {
	return folders.map(
		(folder) => `echo 0 >'${join(folder, "cgroup.procs").replaceAll("'", "'\\''")}' || exit 125`,
	);
}

/** After the last process in it has ended. One that the kernel keeps stays for `pruneCgroups`. */
export async function removeCgroup(folders: readonly string[]): Promise<void> {
	const began = performance.now();
	for (const folder of folders)
		while (!removed(folder) && performance.now() - began < GONE_MS) await delay(2);
}

/** Groups whose starter died first, only those of this home: another Keryx may be about to enter one of its groups. */
export function pruneCgroups({ memory, pids }: Cgroups, home: string): void {
	for (const folder of unique([memory, pids].flatMap((one) => one ?? [])))
		for (const name of readdirSync(folder)) if (name.startsWith(prefixOf(home))) removed(join(folder, name));
}

function prefixOf(home: string): string {
	return `${PREFIX}${createHash("sha256").update(home).digest("hex").slice(0, 12)}-`;
}

function makeNamed(name: string, limits: Partial<WallLimits>, cgroups: Cgroups): string[] | null {
	const { processes = null, totalMemoryBytes = null } = limits;
	const made: string[] = [];
	const limit = (base: string | null, values: Readonly<Record<string, string>>) => {
		if (base === null) return;
		const folder = join(base, name);
		if (!made.includes(folder)) {
			mkdirSync(folder);
			made.push(folder);
		}
		for (const [file, value] of Object.entries(values)) writeFileSync(join(folder, file), value);
	};
	try {
		if (processes !== null) limit(cgroups.pids, { "pids.max": String(processes) });
		if (totalMemoryBytes !== null) limit(cgroups.memory, memoryFiles(cgroups, totalMemoryBytes));
		return made.length === 0 ? null : made;
	} catch (error) {
		for (const folder of made) removed(folder);
		throw error;
	}
}

/** Swap counts too: a program that fills it slows down the whole machine. Not every kernel counts it. */
function memoryFiles({ version, memory }: Cgroups, bytes: number): Record<string, string> {
	const value = String(bytes);
	if (version === 2) return { "memory.max": value, ...swapFile(memory, "memory.swap.max", "0") };
	return { "memory.limit_in_bytes": value, ...swapFile(memory, "memory.memsw.limit_in_bytes", value) };
}

function swapFile(folder: string | null, name: string, value: string): Record<string, string> {
	return folder !== null && existsSync(join(folder, name)) ? { [name]: value } : {};
}

function canLimit(cgroups: Cgroups, limits: Partial<WallLimits>): boolean {
	try {
		const made = makeNamed(`${PREFIX}try-${randomBytes(8).toString("hex")}`, limits, cgroups);
		for (const folder of made ?? []) removed(folder);
		return made !== null;
	} catch {
		// Read-only, or owned by another user.
		return false;
	}
}

function enable({ memory }: Cgroups): boolean {
	try {
		writeFileSync(join(memory ?? "", "cgroup.subtree_control"), "+memory +pids");
		return true;
	} catch {
		return false;
	}
}

/** Empty if there is none: not every kernel has these files, and a process may have ended. */
function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}

/** Null: this mount does not show it. */
function folderAt(path: string, { root, point }: Mount): string | null {
	return path.startsWith("/") && isAtOrInside(path, root) ? join(point, relative(root, path)) : null;
}

/** False: it is in use. */
function removed(folder: string): boolean {
	try {
		rmdirSync(folder);
		return true;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return true;
		if (code === "EBUSY") return false;
		throw error;
	}
}
