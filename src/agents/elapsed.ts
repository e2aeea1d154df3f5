// Waiting for agents: on an injected clock, until aborted.
import type { Clock } from "../time/index.ts";

/** False as soon as it is aborted. */
export function elapsed(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<boolean> {
	return new Promise((resolve) => {
		if (signal.aborted || ms === 0) return resolve(!signal.aborted);
		const abort = () => {
			cancel();
			resolve(false);
		};
		const cancel = clock.after(ms, () => {
			signal.removeEventListener("abort", abort);
			resolve(true);
		});
		signal.addEventListener("abort", abort, { once: true });
	});
}
