// Waits for what comes when it comes. The test's own limit ends a wait in vain.
import { setTimeout as pause, setImmediate as turnOfTheLoop } from "node:timers/promises";

/** What happens in this process has happened after a few turns. What comes from another program comes sooner if it has the core. */
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
