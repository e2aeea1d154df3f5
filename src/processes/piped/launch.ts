// Starts a program that talks over stdin and stdout: an agent program, an MCP server. With or without a wall, it never outlives Keryx: a
// guard in its group waits for the end of a pipe that only Keryx holds, and kills the group. A wall's file names the program to the next
// start, which kills whatever is left.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type CommandWall, startBehindWall, type WalledExit } from "../../walls/index.ts";

export interface PipedProgram {
	readonly child: ChildProcess;
	/** Kills it and everything it started; without a wall, everything in its group. */
	kill(): void;
	/** Resolves when nothing of it is left, with its outcome if the exit code does not tell. */
	readonly gone: Promise<string | null>;
}

export interface PipedStart {
	readonly wall: Extract<CommandWall, { readonly run: "open" | "walled" }>;
	readonly argv: readonly string[];
	readonly cwd: string;
}

/** Rejects if it cannot be started. */
export async function startPiped({ wall, argv, cwd }: PipedStart): Promise<PipedProgram> {
	return wall.run === "open" ? inTheOpen(argv, { cwd, env: wall.env }) : behind(wall, argv, cwd);
}

/**
 * Runs the program instead of this shell. The guard's read ends when Keryx does, however it ends; it keeps none of the program's streams
 * open.
 */
const GUARDED = '(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-';

function inTheOpen(
	argv: readonly string[],
	{ cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): PipedProgram {
	const child = spawn("/bin/sh", ["-c", GUARDED, "sh", ...argv], {
		cwd,
		env: { ...env },
		detached: true,
		stdio: ["pipe", "pipe", "pipe", "pipe"],
	});
	return { child, kill: () => killGroup(child), gone: Promise.resolve(null) };
}

function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

async function behind(
	{ request: { wall, machine }, env }: Extract<CommandWall, { run: "walled" }>,
	argv: readonly string[],
	cwd: string,
): Promise<PipedProgram> {
	const folder = join(wall.home, "walls");
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const statusFile = join(folder, `${randomBytes(8).toString("hex")}.status`);
	try {
		const { child, kill, exit } = await startBehindWall(
			{ wall, argv, cwd, env, statusFile, streams: ["pipe", "pipe", "pipe"], isGuarded: true },
			machine,
		);
		const gone = exit.then(inWords).finally(() => rmSync(statusFile, { force: true }));
		return {
			child,
			kill: () => {
				// The guard is in its group, but outside its namespace.
				killGroup(child);
				kill();
			},
			gone,
		};
	} catch (error) {
		rmSync(statusFile, { force: true });
		throw error;
	}
}

/** env's exit code for a missing program. */
const NOT_FOUND = 127;

function inWords(exit: WalledExit): string | null {
	if (exit.kind === "failed") return "it could not start: its wall could not be made";
	if (exit.kind !== "exited") return null;
	if (exit.code === NOT_FOUND) return "it exited with code 127: the program was not found";
	return exit.signal === null ? null : `it was stopped by ${exit.signal}`;
}
