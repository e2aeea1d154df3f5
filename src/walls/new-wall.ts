// A wall with only its folders: nothing more is shown, hidden or limited, and it ends with its starter.
import type { Wall, WallLimits } from "./types.ts";

/** A box has no network unless one is asked for. */
export function newWall(
	wall: Pick<Wall, "kind" | "home" | "workspace"> &
		Partial<Omit<Wall, "limits">> & { readonly limits?: Partial<WallLimits> },
): Wall {
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
		...wall,
		limits: { openFiles: null, memoryBytes: null, processes: null, totalMemoryBytes: null, ...wall.limits },
	};
}
