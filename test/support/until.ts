// Waits for what comes when it comes. The test's own limit ends a wait in vain.
import { setTimeout as pause, setImmediate as turnOfTheLoop } from "node:timers/promises";

/** What happens in this process has happened after a few turns. What comes from another program comes sooner if it has the core. */
const TURNS = 20;
const PAUSE_MS = 2;

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	for (let turns = 0; !(await condition()); turns++)
		await (turns < TURNS ? turnOfTheLoop() : pause(PAUSE_MS));
}
