import type { WallKind } from "../../../src/walls/index.ts";

export interface Job {
	readonly line: string;
	/** none: to see what the line does where nothing stops it. */
	readonly wall: WallKind | "none";
	/** It is ended after this. */
	readonly seconds: number;
	/** Only if the last line without a wall ended well. */
	readonly isConditional?: boolean;
}

export interface Outcome {
	/** Null: it was ended. */
	readonly code: number | null | "not tried";
	/** Paths outside of the workspace. */
	readonly changed: readonly string[];
	/** Whose secrets it got: into its output, the workspace or /tmp. */
	readonly leaked: readonly ("keryx" | "other")[];
	/** The end of its output. */
	readonly said: string;
}
