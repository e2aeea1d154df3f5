// Waiting, as agents do it: on a clock that is given to them, and no longer than nobody aborts.

/** What an agent needs of a clock: something to happen later, and how to cancel that. */
export interface AgentClock {
	after(ms: number, callback: () => void): () => void;
}

/** False as soon as it is aborted. */
export function elapsed(clock: AgentClock, ms: number, signal: AbortSignal): Promise<boolean> {
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
