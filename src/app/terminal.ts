// This Keryx's terminal: where its commands start, their environment, and their time limits.
import { homedir } from "node:os";
import { type Config, commandMachine, type Environment, keryxHome } from "../config/index.ts";
import type { Standing } from "../domain/index.ts";
import { systemClock, type Walls, type workspaceFinder } from "../gateway/index.ts";
import type { Processes } from "../processes/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { createTerminalTools, type Tool } from "../tools/index.ts";
import { PROGRAM_FOLDER } from "./walls.ts";

/** How long killing a slow command may take before the call itself is given up. */
const TO_END_SECONDS = 10;

export interface TerminalParts {
	readonly processes: Processes;
	readonly env: Environment;
	readonly workspaceOf: ReturnType<typeof workspaceFinder>;
	readonly walls: Walls;
	/** Inserted secrets come from the part that hides them again. */
	readonly secrets: Pick<Secrets, "valueOf">;
	/** Default: the one in the environment. */
	readonly home?: string;
	/** Left out: the machine's. */
	readonly now?: () => number;
	/** Read per call: it may change. */
	config(): Config;
}

export function createTerminal({
	processes,
	env,
	workspaceOf,
	secrets,
	walls,
	config,
	home = keryxHome(env),
	now = systemClock.now,
}: TerminalParts): readonly Tool[] {
	return createTerminalTools({
		processes,
		workspaceOf: (owner) => commandMachine(config(), owner.profile).ssh?.folder ?? workspaceOf(owner).folder,
		isCovered: ({ profile }) => commandMachine(config(), profile).ssh === null,
		wallOf: (turn, options) => walls.forCommand(turn, options),
		secret: (name, standing) => (mayName(config(), name, standing) ? secrets.valueOf(name) : undefined),
		facts: { keryxHome: home, keryxProgram: PROGRAM_FOLDER, home: env.HOME ?? homedir() },
		mode: () => config().approvals.mode,
		limits: () => {
			const { turn, processes: settings } = config();
			const most = Math.max(1, turn.tool_seconds - TO_END_SECONDS);
			return { foregroundSeconds: most, waitSeconds: Math.min(most, settings.wait_limit_seconds) };
		},
		now,
	});
}

/** A secret without roles is the owner's. For everyone else it does not exist. */
function mayName({ secrets }: Config, name: string, standing: Standing): boolean {
	return secrets.some((secret) => {
		const { name: known, roles } = typeof secret === "string" ? { name: secret, roles: ["owner"] } : secret;
		return known === name && roles.includes(standing);
	});
}
