// The terminal of this Keryx: where its commands start, what they see of the environment, and how long they may take.
import { homedir } from "node:os";
import { type Config, commandMachine, type Environment, keryxHome } from "../config/index.ts";
import type { Standing } from "../domain/index.ts";
import { systemClock, type Walls, type workspaceFinder } from "../gateway/index.ts";
import type { Processes } from "../processes/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { createTerminalTools, type Tool } from "../tools/index.ts";
import { PROGRAM_FOLDER } from "./walls.ts";

/** What ends a command that takes too long has so long to do it, before the call itself is given up. */
const TO_END_SECONDS = 10;

export interface TerminalParts {
	readonly processes: Processes;
	readonly env: Environment;
	readonly workspaceOf: ReturnType<typeof workspaceFinder>;
	readonly walls: Walls;
	/** What is put into a command comes from what hides it again. */
	readonly secrets: Pick<Secrets, "valueOf">;
	/** Left out: the one that the environment names. */
	readonly home?: string;
	/** Left out: the machine's. */
	readonly now?: () => number;
	/** Asked each time: it may change. */
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

/** One that says nothing of roles is the owner's. To everybody else it is not there. */
function mayName({ secrets }: Config, name: string, standing: Standing): boolean {
	return secrets.some((secret) => {
		const { name: known, roles } = typeof secret === "string" ? { name: secret, roles: ["owner"] } : secret;
		return known === name && roles.includes(standing);
	});
}
