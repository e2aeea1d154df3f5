// A store that fails once, at an exact operation: before its commit, after it with the answer lost, or by taking half a minute. A
// test can try every operation of a scenario, including reads, and check that everything settles afterwards.
import { KeryxError } from "../errors.ts";
import type { Engine, ReadName, WriteName } from "../store/index.ts";
import type { Clock } from "../time/index.ts";

/**
 * before: nothing is done. after: it is done, but neither its caller nor followers of commits learn of it. slow: it takes
 * `SLOW_MS`, half of that before it is done and half after.
 */
export type Fault = "before" | "after" | "slow";

export const SLOW_MS = 30_000;

export interface FaultPoint {
	readonly clock: Pick<Clock, "after">;
	/** The nth operation, counted from 1; 0: none. */
	readonly at: number;
	readonly fault: Fault;
	/** How many fail from there on (default 1). */
	readonly times?: number;
	/** From there on, every operation fails before it is done, for this long. */
	readonly forMs?: number;
	/** Reads still work meanwhile, as with a full disk. */
	readonly readable?: boolean;
	/** Counts only these; default: every read and write. */
	readonly of?: (name: ReadName | WriteName) => boolean;
	/** Called for each counted operation before it is done. */
	readonly onOperation?: (n: number, name: ReadName | WriteName) => void;
	/** After this many operations nothing is answered: this stops a loop without a pause. */
	readonly most?: number;
}

export interface FaultingEngine extends Engine {
	/** How many operations there were. */
	readonly operations: number;
}

export function faultingEngine(engine: Engine, point: FaultPoint): FaultingEngine {
	const { clock, at, fault, times = 1, forMs, readable = false } = point;
	const { of = () => true, onOperation, most = Infinity } = point;
	let operations = 0;
	let counted = 0;
	let isGone = false;
	/** Running writes whose commit must stay unnoticed. */
	let unheard = 0;
	const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
	const run = async <Value>(
		name: ReadName | WriteName,
		work: () => Promise<Value>,
		isRead: boolean,
	): Promise<Value> => {
		operations++;
		if (operations > most) return new Promise(() => {});
		const n = of(name) ? ++counted : 0;
		if (n > 0) onOperation?.(n, name);
		if (n === at && forMs !== undefined) {
			isGone = true;
			clock.after(forMs, () => (isGone = false));
		}
		if (isGone && !(readable && isRead))
			throw new KeryxError("store.io", `the disk is away at operation ${operations}, ${name}`);
		if (n === 0 || n < at || n >= at + times) return work();
		if (fault === "slow") {
			await pause(SLOW_MS / 2);
			const value = await work();
			await pause(SLOW_MS / 2);
			return value;
		}
		if (fault === "after") {
			// A read commits nothing: commits of others are still passed on.
			if (isRead) await work();
			else {
				unheard++;
				await work().finally(() => unheard--);
			}
		}
		throw new KeryxError("store.io", `the disk failed at operation ${n}, ${name}`);
	};
	return {
		epoch: engine.epoch,
		get operations() {
			return operations;
		},
		write: (name, args, drawn) => run(name, () => engine.write(name, args, drawn), false),
		read: (name, args) => run(name, () => engine.read(name, args), true),
		onCommit: (listener) =>
			engine.onCommit(() => {
				if (unheard === 0) listener();
			}),
		close: () => engine.close(),
	};
}
