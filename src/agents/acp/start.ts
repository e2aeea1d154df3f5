// Starts an agent program, with or without a wall.
import { basename } from "node:path";
import { startPiped } from "../../processes/index.ts";
import type { CommandWall } from "../../walls/index.ts";
import { ProgramFailure } from "./failures.ts";
import { Program, type ProgramOptions } from "./program.ts";

interface ProgramStart extends ProgramOptions {
	readonly args: readonly string[];
	readonly wall: CommandWall;
}

/** Throws ProgramFailure if it may not or cannot be started. */
export async function startProgram({ wall, args, ...options }: ProgramStart): Promise<Program> {
	const argv = [options.command, ...args];
	if (wall.run === "refused")
		throw new ProgramFailure({
			kind: "provider_down",
			detail: `${basename(options.command)} could not start: ${wall.reason}${wall.remedy === null ? "" : `; what to do: ${wall.remedy}`}`,
		});
	if (wall.run === "elsewhere")
		throw new ProgramFailure({
			kind: "provider_down",
			detail: `${basename(options.command)} could not start: agent programs run on this machine only, not ${wall.where}`,
		});
	return new Program(options, await startPiped({ wall, argv, cwd: options.cwd }));
}
