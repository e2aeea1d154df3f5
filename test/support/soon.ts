// Waits for what other programs do, which no clock of a test can move. How long that takes says nothing about Keryx: limits are only there
// so that a wait in vain ends with what was last seen, before the test's own limit ends it without a word.
import { expect, vi } from "vitest";

/** As `expect.poll` in vitest.config.ts. */
const LONGEST_MS = 100_000;

/** Reads again until the matcher holds: `await soon(() => shown()).toBe("x")`. */
export const soon = <Value>(read: () => Value) => expect.poll(read);

/** Looks again until none of its expectations fails; answers what it returned. */
export function eventually<Value>(
	look: () => Value | Promise<Value>,
	timeout: number = LONGEST_MS,
): Promise<Value> {
	return vi.waitFor(look, { timeout, interval: 10 });
}
