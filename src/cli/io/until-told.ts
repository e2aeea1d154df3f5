// How a command that goes on until it is told to stop is told.

/** Resolves when the process is told to end. */
export function untilTold(): Promise<void> {
	return new Promise((resolve) => {
		// Keeps the process alive while nothing is going on; the timers of what runs alone do not.
		const alive = setInterval(() => {}, 1 << 30);
		const stop = () => {
			clearInterval(alive);
			resolve();
		};
		process.once("SIGTERM", stop);
		process.once("SIGINT", stop);
	});
}

/** Nothing depends on an orderly end. */
export function atOnceIfToldAgain(): void {
	process.once("SIGTERM", () => process.exit(1));
	process.once("SIGINT", () => process.exit(1));
}
