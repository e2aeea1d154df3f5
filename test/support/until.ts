// Waits for a condition without a time limit. The test's own limit ends a wait that never succeeds.
import { setTimeout as pause, setImmediate as turnOfTheLoop } from "node:timers/promises";

/** Work in this process is done after a few turns. Other programs are faster if they have the core. */
const TURNS = 20;
const PAUSE_MS = 2;

/** `between`: moves what only the test moves, such as a clock, before each look. */
export async function until(
	condition: () => boolean | Promise<boolean>,
	between: () => unknown = () => {},
): Promise<void> {
	for (let turns = 0; ; turns++) {
		await between();
		if (await condition()) return;
		await (turns < TURNS ? turnOfTheLoop() : pause(PAUSE_MS));
	}
}
