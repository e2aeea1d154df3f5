// Waits for a condition without a time limit. The test's own limit ends a wait that never succeeds.
import { setTimeout as pause, setImmediate as turnOfTheLoop } from "node:timers/promises";

/** Work in this process is done after a few turns. Other programs are faster if they have the core. */
const TURNS = 20;
const PAUSE_MS = 2;

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	for (let turns = 0; !(await condition()); turns++)
		await (turns < TURNS ? turnOfTheLoop() : pause(PAUSE_MS));
}
