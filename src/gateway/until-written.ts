// Writing what must not be given up while the store is in trouble: a full disk, a lock, a failing device.
import { type ErrorCode, KeryxError } from "../errors.ts";
import type { Clock } from "../time/index.ts";

/** Nothing was written, and the same write may be made again when the cause is gone. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
	"store.full",
	"store.io",
	"store.locked",
	"store.readonly",
	"store.unreachable",
]);
const LONGEST_PAUSE_MS = 5000;

/** Tries again, a little later each time, until it is written or `givenUp` says so. Other errors are thrown at once. */
export async function untilWritten<Value>(
	write: () => Promise<Value>,
	{
		clock,
		givenUp,
		log,
	}: {
		readonly clock: Clock;
		readonly givenUp: () => boolean;
		readonly log: (error: unknown) => void;
	},
): Promise<Value> {
	for (let pause = 250; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
		try {
			return await write();
		} catch (error) {
			if (!(error instanceof KeryxError && PASSING.has(error.code)) || givenUp()) throw error;
			log(error);
		}
		await new Promise<void>((resolve) => clock.after(pause, resolve));
	}
}
