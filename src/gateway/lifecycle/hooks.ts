// Runs hook programs: JSON on standard input, ten seconds. A failing hook is logged and stops nothing.
import { spawn } from "node:child_process";
import type { Config } from "../../config/index.ts";
import type { Clock } from "../../time/index.ts";

const HOOK_MS = 10_000;

export interface Hooks {
	/** Runs every program for this event, and resolves when all have ended. Never throws. */
	tell(name: string, facts: Readonly<Record<string, unknown>>): Promise<void>;
	readonly listens: boolean;
}

export function createHooks(
	config: Config,
	clock: Clock,
	log: (message: string, error: unknown) => void,
): Hooks {
	return {
		listens: config.hooks.length > 0,
		tell: async (name, facts) => {
			const listening = config.hooks.filter((hook) => hook.on.some((pattern) => matches(pattern, name)));
			await Promise.all(
				listening.map(async ({ command }) => {
					const problem = await run(command, JSON.stringify({ hook: name, ...facts }), clock);
					if (problem !== null) log(`hook ${command[0]} on ${name}: ${problem}`, undefined);
				}),
			);
		},
	};
}

/** `session:end` exactly, or all of a kind with `session:*`. */
function matches(pattern: string, name: string): boolean {
	return pattern === name || (pattern.endsWith(":*") && name.startsWith(pattern.slice(0, -1)));
}

/** What went wrong, or null. */
function run(command: readonly string[], input: string, clock: Clock): Promise<string | null> {
	const [program = "", ...args] = command;
	return new Promise((resolve) => {
		const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"] });
		const cancel = clock.after(HOOK_MS, () => {
			child.kill("SIGKILL");
			resolve("took longer than 10 s and was stopped");
		});
		child.on("error", (error) => {
			cancel();
			resolve(error.message);
		});
		child.on("exit", (code, signal) => {
			cancel();
			resolve(code === 0 ? null : `exited with ${signal ?? code}`);
		});
		// A program that does not read its input is fine: its exit code counts.
		child.stdin.on("error", () => undefined);
		child.stdin.end(input);
	});
}
