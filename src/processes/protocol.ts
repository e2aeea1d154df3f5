// What a host and its clients say to each other, version by version. A host listens under its version's name, so hosts of several
// versions can be there at once, each until its processes have ended. Host and client of every build serve all versions from the
// oldest to their own: so whichever build runs, now and after a change back, it reaches every program.
import { join } from "node:path";
import type { ErrorCode } from "../errors.ts";
import { processesFolder } from "./files.ts";
import type { ProcessInfo } from "./types.ts";

export const PROTOCOL = 1;
/** Never raised: a host of it may hold a program for years. */
const OLDEST_PROTOCOL = 1;
/** A follower is sent this much before it says that it has taken it. */
export const WINDOW = 256 * 1024;

export function isServed(version: unknown): version is number {
	return (
		typeof version === "number" &&
		Number.isInteger(version) &&
		version >= OLDEST_PROTOCOL &&
		version <= PROTOCOL
	);
}

export interface HostPaths {
	readonly socket: string;
	/** Who cannot read it is not let in. */
	readonly token: string;
	readonly lock: string;
	readonly errors: string;
}

export function hostPaths(home: string, version: number = PROTOCOL): HostPaths {
	const at = (ending: string) => join(processesFolder(home), `host-${version}.${ending}`);
	return { socket: at("sock"), token: at("token"), lock: at("lock"), errors: at("log") };
}

export interface WireError {
	readonly code: ErrorCode;
	readonly message: string;
	readonly field?: string;
}

export interface Hello {
	/** The version that is spoken from here on: the client's. */
	readonly hello: number;
	readonly pid: number;
	/** It can start programs behind walls. Hosts of before do not say so, and would start them without. */
	readonly walls: true;
}

export interface Reply {
	readonly seq: number;
	readonly value?: unknown;
	readonly error?: WireError;
}

export interface EndNews {
	readonly ended: ProcessInfo;
}

/** With the bytes as payload; `done` is the last one. */
export interface FollowNews {
	readonly follow: number;
	readonly from: number;
	readonly lost: number;
	readonly size: number;
	readonly done: boolean;
}
