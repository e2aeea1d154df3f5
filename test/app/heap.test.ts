import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { programFile } from "../support/programs.ts";

const run = promisify(execFile);
const BUSY = programFile(new URL("busy-heap.ts", import.meta.url));

/**
 * The sizes follow from what is allocated and kept alone, not from how fast: nothing is collected by other threads meanwhile, or given back
 * because little happens for a while.
 */
const STEADY = ["--disable-warning=ExperimentalWarning", "--single-threaded-gc", "--no-memory-reducer"];

async function largestNewSpace(how: string): Promise<number> {
	const { stdout } = await run(process.execPath, [...STEADY, BUSY, how]);
	return Number(stdout);
}

test("the space for new objects of a busy gateway stays small", async () => {
	const [bounded, unbounded] = await Promise.all([largestNewSpace("limited"), largestNewSpace("unlimited")]);
	expect(bounded).toBeLessThanOrEqual(16);
	expect(unbounded).toBeGreaterThan(16);
});
