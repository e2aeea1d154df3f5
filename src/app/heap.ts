// The size of a running gateway's heap. A gateway runs for weeks next to other programs, so its heap grows slowly. V8's own mode for this,
// --optimize-for-size, is right for an idle one; under load it collects everything each time a few megabytes are left over, which takes a
// third of the time.
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Both halves of the space for new objects. With less, what a running message still needs is taken for old, and costs whole collections: half
 * of it takes 5 % more CPU time and no less memory, twice of it 6 % less and 12 MiB more.
 */
const NEW_SPACE_BYTES = 8 * 1024 * 1024;
/** How much the rest may grow before it is collected: with 20 more CPU time is spent, and hardly any memory is saved. */
const GROWTH_PERCENT = 40;
/** Collections that follow each other faster mean load. */
const BUSY_MS = 1000;

/** From now on the heap grows slowly. For the whole process: there is no way back. */
export function limitHeap(): void {
	setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
	// V8's middle compiler keeps up to 14 MiB of code and saves 5 % of the CPU time. The last one still compiles what runs most.
	setFlagsFromString("--no-maglev");
	// So little is kept of new objects that other threads take longer to begin than to help.
	setFlagsFromString("--no-parallel-scavenge");
	let before = Number.NEGATIVE_INFINITY;
	const observer = new PerformanceObserver((list) => {
		const size = newSpaceBytes();
		for (const { startTime } of list.getEntries()) {
			// It may have grown several times before this was called: only with this flag it shrinks.
			const isRight = startTime - before < BUSY_MS && size <= 2 * NEW_SPACE_BYTES;
			setFlagsFromString(isRight ? "--no-optimize-for-size" : "--optimize-for-size");
			before = startTime;
		}
		// The size itself can be given only to a new process. An idle one gives the space back, and takes it again when it is busy.
		setFlagsFromString(`--semi-space-growth-factor=${size < NEW_SPACE_BYTES ? 2 : 1}`);
	});
	observer.observe({ entryTypes: ["gc"] });
}

/** Collects what the start left behind, and gives its memory back. */
export function collectGarbage(): void {
	setFlagsFromString("--optimize-for-size");
	setFlagsFromString("--expose-gc");
	const collect: unknown = runInNewContext("gc");
	if (typeof collect === "function") collect();
}

function newSpaceBytes(): number {
	return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}
