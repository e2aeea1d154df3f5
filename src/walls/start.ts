// The only way to start a program behind a wall: folders are checked, the launcher gets an empty environment, the program gets its own by
// descriptor and nothing else that is open here, and everything it leaves ends with it.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { Server } from "node:net";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { KeryxError } from "../errors.ts";
import { type Descriptors, usedDescriptors, wallArguments } from "./arguments.ts";
import { makeCgroup, removeCgroup } from "./cgroups.ts";
import { inheritedDescriptors } from "./descriptors.ts";
import { boxHome } from "./environment.ts";
import { checkWall, hiddenPaths, openBound } from "./folders.ts";
import { GUARD_FD, launchArguments, launchCommand } from "./launch.ts";
import { endNamespace, killNamespace } from "./namespace.ts";
import { isResolver, reachableResolver } from "./network/pasta.ts";
import { preludeArguments, proxyVariables, withPrelude } from "./network/prelude.ts";
import { type Outside, serveBox } from "./network/proxy.ts";
import { seccompProgram, thisArchitecture } from "./seccomp/program.ts";
import { readStatus } from "./status.ts";
import type { Machine, Wall } from "./types.ts";

/** Unnamed files are created here: it is memory, so no variable's value reaches a disk. */
const MEMORY = "/dev/shm";
const SIGNALED = 128;

export interface WalledStart {
	readonly wall: Wall;
	readonly argv: readonly string[];
	readonly cwd: string;
	/** All of it. */
	readonly env: Readonly<Record<string, string>>;
	/** Created in the home, where the program cannot see it. It names the namespace before the program runs. */
	readonly statusFile: string;
	/**
	 * Descriptors, or a terminal that the program takes as its own: its path, and an open descriptor, without which it would hang up
	 * before the program opens it. The caller closes that.
	 */
	readonly streams:
		| { readonly terminal: string; readonly descriptor: number }
		| readonly [input: Stream, output: Stream, errors: Stream];
	/** Its launcher gets a pipe as its seventh stream: when this process dies, for any reason, everything is killed. */
	readonly isGuarded?: boolean;
	/** Descriptors of this process that a child would inherit although they are ours; terminals have such. */
	readonly withheld?: readonly number[];
	/** The launcher's only variables; they are not secret, and let a search find it. */
	readonly mark?: Readonly<Record<string, string>>;
	/** How a box's proxy resolves and reaches hosts; default: over the machine's network. */
	readonly outside?: Outside;
}

type Stream = number | "pipe" | "ignore";
type Passed = Stream | "ipc";

/**
 * exited: by itself; death by signal n is the code 128 + n, and `signal` its name. killed: the launcher was killed, with its group.
 * failed: the wall could not be made, and bubblewrap's message is on the program's stderr.
 */
export type WalledExit =
	| { readonly kind: "exited"; readonly code: number; readonly signal: string | null }
	| { readonly kind: "killed"; readonly signal: string }
	| { readonly kind: "failed"; readonly code: number | null };

export interface Walled {
	/** Leader of its own session and group. A signal to the group reaches the program and not the launcher. */
	readonly pid: number;
	readonly child: ChildProcess;
	/** Resolves when nothing in the namespace is left. */
	readonly exit: Promise<WalledExit>;
	/** Ends everything at once, at any moment after the start. */
	kill(): void;
}

/** Rejects with `wall.path` for folders that cannot be bound, and with the system's error if nothing could be started. */
export async function startBehindWall(
	{
		wall,
		argv,
		cwd,
		env,
		statusFile,
		streams,
		isGuarded = false,
		withheld = [],
		mark = {},
		outside,
	}: WalledStart,
	machine: Machine,
): Promise<Walled> {
	const architecture = thisArchitecture();
	if (architecture === null)
		throw new KeryxError("wall.unavailable", `there is no wall for the processor ${process.arch}`);
	if (argv.length === 0)
		throw new KeryxError("argument.invalid", "argv must begin with a program", { field: "argv" });
	checkWall(wall);
	makeBoxHome(wall);
	const cgroup = makeCgroup(wall.limits, machine.cgroups, wall.home);
	const opened: number[] = [];
	const keep = (descriptor: number) => {
		opened.push(descriptor);
		return descriptor;
	};
	try {
		const hidden = hiddenPaths(wall);
		const { bound, copied } = usedDescriptors(wall, machine, hidden);
		const passed = [
			...bound.map((path) => ({ path, descriptor: keep(openBound(path)) })),
			...copied.flatMap((path) => openReadable(path, keep, sourceOf(path, wall))),
		];
		const hasProxy = wall.network === "hosts";
		const hasPasta = wall.network === "own";
		const channel = GUARD_FD + (isGuarded ? 1 : 0);
		const firstFree = channel + (hasProxy ? 1 : hasPasta ? 2 : 0);
		const descriptors: Descriptors = new Map(passed.map(({ path }, index) => [path, firstFree + index]));
		const list = wallArguments(wall, machine, hidden, descriptors);
		if (hasProxy) list.push(...preludeArguments());
		const program = hasProxy
			? withPrelude({ argv, env: { ...env, ...proxyVariables() } }, machine, channel)
			: { argv, env };
		const folder = dirname(statusFile);
		const args = keep(unnamedFile(launchArguments(list, { cwd, env: program.env }), folder));
		const filter = keep(unnamedFile(seccompProgram(architecture, wall), folder));
		assertRoom(folder);
		const status = keep(openSync(statusFile, "w", 0o600));
		const terminal = "terminal" in streams ? streams.terminal : null;
		const [launcher = "", ...rest] = launchCommand({
			machine,
			argv: program.argv,
			pwd: env.PWD,
			limits: wall.limits,
			cgroup,
			pastaFd: hasPasta ? channel : null,
			isGuarded,
			terminal,
		});
		const child = spawn(launcher, rest, {
			cwd: "/",
			env: { ...mark },
			// In a separate session: `kill 0` inside would otherwise end its starter.
			detached: true,
			stdio: descriptorsOf({
				streams: "terminal" in streams ? Array<Stream>(3).fill(streams.descriptor) : streams,
				own: [
					...[args, filter, status],
					...(isGuarded ? ["pipe" as const] : []),
					...(hasProxy ? ["ipc" as const] : []),
					...(hasPasta ? ["ignore" as const, "ignore" as const] : []),
					...passed.map(({ descriptor }) => descriptor),
				],
				withheld: [...inheritedDescriptors(), ...withheld],
				nothing: () => keep(openSync("/dev/null", "r+")),
			}),
		});
		const exit = exitOf(child, statusFile, cgroup);
		if (hasProxy) serveListener(child, exit, wall.hosts ?? [], outside);
		const pid = await started(child);
		return { pid, child, exit, kill: () => killWalled(child, statusFile) };
	} catch (error) {
		if (cgroup) await removeCgroup(cgroup);
		throw error;
	} finally {
		for (const descriptor of opened) closeSync(descriptor);
	}
}

/** The signal's name for a code of 129 or more. */
export function signalOfCode(code: number): string | null {
	const found = Object.entries(constants.signals).find(([, number]) => number === code - SIGNALED);
	return found?.[0] ?? null;
}

/** By number. A withheld one is replaced by nothing; otherwise the program would get it. */
function descriptorsOf({
	streams,
	own,
	withheld,
	nothing,
}: {
	readonly streams: readonly Stream[];
	readonly own: readonly Passed[];
	readonly withheld: readonly number[];
	nothing(): number;
}): (Passed | null)[] {
	const all: (Passed | null)[] = [...streams, ...own];
	const others = withheld.filter((number) => number >= all.length);
	if (others.length === 0) return all;
	const empty = nothing();
	while (all.length <= Math.max(...others)) all.push(null);
	for (const number of others) all[number] = empty;
	return all;
}

/** The first message is the box's listener; after it the channel is ignored. */
function serveListener(
	child: ChildProcess,
	exit: Promise<WalledExit>,
	hosts: readonly string[],
	outside: Outside | undefined,
): void {
	child.once("message", (_, listener) => {
		child.disconnect();
		if (!(listener instanceof Server)) return;
		const stop = serveBox(listener, hosts, outside);
		exit.then(stop, stop);
	});
}

/** Does not follow a link that a command put there: an existing path stays as it is. */
function makeBoxHome(wall: Wall): void {
	if (wall.kind !== "box" || wall.isWorkspaceReadonly) return;
	try {
		mkdirSync(boxHome(wall), { mode: 0o700 });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
}

/** A box with its own network cannot reach a resolver on the machine's loopback. */
function sourceOf(path: string, { network }: Wall): string {
	return network === "own" && isResolver(path) ? reachableResolver() : path;
}

/** A missing one is not shown. */
function openReadable(
	path: string,
	keep: (descriptor: number) => number,
	source: string,
): { readonly path: string; readonly descriptor: number }[] {
	try {
		return [{ path, descriptor: keep(openSync(source, "r")) }];
	} catch (error) {
		if (["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
		throw error;
	}
}

/** Complete before it is read: from half a list, bubblewrap would make half a wall. */
function unnamedFile(data: Buffer, folder: string): number {
	const descriptor = createUnnamed(MEMORY) ?? createUnnamed(folder);
	if (descriptor === null) throw new KeryxError("wall.unavailable", `no file can be created in ${folder}`);
	try {
		for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at, data.length - at, at);
		return descriptor;
	} catch (error) {
		closeSync(descriptor);
		throw error;
	}
}

/** A status is far shorter. */
const STATUS_BYTES = 64 * 1024;

/** Without space for its status, bubblewrap would die half way and leave a process that waits for it forever. */
function assertRoom(folder: string): void {
	const { bavail, bfree, bsize } = statfsSync(folder);
	const blocks = process.getuid?.() === 0 ? bfree : bavail;
	if (blocks * bsize >= STATUS_BYTES) return;
	throw Object.assign(new Error(`ENOSPC: no space left on the disk of ${folder}`), { code: "ENOSPC" });
}

function createUnnamed(folder: string): number | null {
	const path = join(folder, `.keryx-${randomBytes(8).toString("hex")}`);
	try {
		const descriptor = openSync(path, "wx+", 0o600);
		unlinkSync(path);
		return descriptor;
	} catch (error) {
		if (["ENOENT", "EACCES", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
		throw error;
	}
}

function exitOf(
	child: ChildProcess,
	statusFile: string,
	cgroup: readonly string[] | null,
): Promise<WalledExit> {
	return new Promise((resolve, reject) => {
		const end = async (code: number | null, signal: string | null) => {
			// Killed alone, the launcher leaves what it started, which may be about to begin the program.
			if (readStatus(statusFile).exitCode === null) killGroup(child.pid);
			const { namespace, exitCode } = readStatus(statusFile);
			if (namespace !== null) await endNamespace(namespace);
			if (cgroup !== null) await removeCgroup(cgroup);
			// A shell tells bubblewrap's own death by signal as a code.
			const died = namespace !== null && exitCode === null && code !== null ? signalOfCode(code) : null;
			return walledExit(code, signal ?? died, exitCode);
		};
		child.once("exit", (code, signal) => void end(code, signal).then(resolve, reject));
	});
}

function walledExit(code: number | null, signal: string | null, exitCode: number | null): WalledExit {
	if (signal !== null) return { kind: "killed", signal };
	if (exitCode === null) return { kind: "failed", code };
	return { kind: "exited", code: exitCode, signal: signalOfCode(exitCode) };
}

async function started(child: ChildProcess): Promise<number> {
	if (child.pid !== undefined) return child.pid;
	return new Promise((_, reject) => child.once("error", reject));
}

/** The group first: until the namespace is recorded, nothing has left it. */
function killWalled(child: ChildProcess, statusFile: string): void {
	if (child.exitCode === null && child.signalCode === null) killGroup(child.pid);
	const { namespace } = readStatus(statusFile);
	if (namespace) killNamespace(namespace);
}

/** Its number belongs to the group as long as something is in it, after its leader's end too. */
function killGroup(pid: number | undefined): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}
