// How a long-running command is stopped.

/** Resolves when the process gets a stop signal. Keeps the process alive until then, unless something else also ends it. */
export function untilStopSignal({
	keepsAlive = true,
}: {
	readonly keepsAlive?: boolean;
} = {}): Promise<void> {
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
export function exitAtNextSignal(): void {
	process.once("SIGTERM", () => process.exit(1));
	process.once("SIGINT", () => process.exit(1));
}
