// A wall of which only the folders are known: nothing further is shown, hidden or limited, and it ends with its starter.
import type { Wall } from "./types.ts";

/** A box has no network unless one is asked for. */
export function newWall(wall: Pick<Wall, "kind" | "home" | "workspace"> & Partial<Wall>): Wall {
	return {
		tmp: null,
		read: [],
		write: [],
		hide: [],
		protect: [],
		devices: [],
		network: wall.kind === "box" ? "none" : "host",
		hasUnixSockets: false,
		privileges: "none",
		outlivesStarter: false,
		limits: { openFiles: null, memoryBytes: null },
		...wall,
	};
}
