// The new version's side of an update: it starts with its store open and its ports taken, but accepts and starts nothing until the
// launcher has recorded that there is no way back. So nothing it accepted can be lost by reverting.

/** Set by the launcher for the version that it starts. */
export const HELD = "KERYX_UPDATE_HELD";
/** With this exit code, a Keryx that the launcher holds asks for the next update. */
export const HANDED_OVER = 75;

const isHeld = process.env[HELD] !== undefined && process.send !== undefined;
// Child processes must not inherit it.
delete process.env[HELD];
// Without the launcher nobody would watch over this process, and the next start would find the store taken.
if (isHeld) process.once("disconnect", () => process.exit(1));

/** Whether the launcher is this process's parent. */
export function hasLauncher(): boolean {
	return isHeld;
}

/** Null outside an update. Otherwise to be awaited before anything is taken or begun. */
export function heldUntilReleased(): (() => Promise<void>) | null {
	if (!isHeld) return null;
	return () =>
		new Promise((resolve) => {
			process.once("message", () => {
				// The connection to the launcher must not keep a stopping Keryx alive.
				process.channel?.unref();
				resolve();
			});
			process.send?.({ prepared: process.pid });
		});
}
