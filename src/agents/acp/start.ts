// The start of an agent program, behind its wall or in the open. Either way it never outlives Keryx: a guard in its group waits for the
// end of a pipe that only Keryx holds, and takes the group with it.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type CommandWall, startBehindWall, type WalledExit } from "../../walls/index.ts";
import { ProgramFailure } from "./failures.ts";
import { type Launched, Program, type ProgramOptions } from "./program.ts";

interface ProgramStart extends ProgramOptions {
	readonly args: readonly string[];
	readonly wall: CommandWall;
}

/** Throws ProgramFailure where it may not or cannot be started. */
export async function startProgram({ wall, args, ...options }: ProgramStart): Promise<Program> {
	const argv = [options.command, ...args];
	switch (wall.run) {
		case "refused":
			throw new ProgramFailure({
				kind: "provider_down",
				detail: `${basename(options.command)} could not start: ${wall.reason}${wall.remedy === null ? "" : `; what to do: ${wall.remedy}`}`,
			});
		case "elsewhere":
			throw new ProgramFailure({
				kind: "provider_down",
				detail: `${basename(options.command)} could not start: agent programs run on this machine only, not on ${wall.name}`,
			});
		case "open":
			return new Program(options, inTheOpen(argv, { cwd: options.cwd, env: wall.env }));
		case "walled":
			return new Program(options, await behind(wall, argv, options.cwd));
	}
}

/**
 * Runs the program in the place of this shell. The guard's read ends when Keryx does, however it does; it keeps none of the
 * program's streams open.
 */
const GUARDED = '(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-';

function inTheOpen(
	argv: readonly string[],
	{ cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Launched {
	const child = spawn("/bin/sh", ["-c", GUARDED, "sh", ...argv], {
		cwd,
		env: { ...env },
		detached: true,
		stdio: ["pipe", "pipe", "pipe", "pipe"],
	});
	return { child, kill: () => {}, gone: Promise.resolve(null) };
}

async function behind(
	{ request: { wall, machine }, env }: Extract<CommandWall, { run: "walled" }>,
	argv: readonly string[],
	cwd: string,
): Promise<Launched> {
	const folder = join(wall.home, "walls");
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const statusFile = join(folder, `${randomBytes(8).toString("hex")}.status`);
	try {
		const { child, kill, exit } = await startBehindWall(
			{ wall, argv, cwd, env, statusFile, streams: ["pipe", "pipe", "pipe"], isGuarded: true },
			machine,
		);
		const gone = exit.then(inWords).finally(() => rmSync(statusFile, { force: true }));
		return { child, kill, gone };
	} catch (error) {
		rmSync(statusFile, { force: true });
		throw error;
	}
}

/** env's own code for a program that is not there. */
const NOT_FOUND = 127;

function inWords(exit: WalledExit): string | null {
	if (exit.kind === "failed") return "it could not start: its wall could not be made";
	if (exit.kind !== "exited") return null;
	if (exit.code === NOT_FOUND) return "it exited with code 127: the program was not found";
	return exit.signal === null ? null : `it was stopped by ${exit.signal}`;
}
