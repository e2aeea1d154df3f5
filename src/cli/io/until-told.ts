// How a command that goes on until it is told to stop is told.

/**
 * Resolves when the process is told to end. Keeps the process alive until then, which the timers of what runs alone do not; not where
 * something else ends it, too: a process would go on that has nothing to do.
 */
export function untilTold({ keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): Promise<void> {
	return new Promise((resolve) => {
		const alive = setInterval(() => {}, 1 << 30);
		if (!keepsAlive) alive.unref();
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
