// The protocol between host and clients, by version. A host listens under its version's name, so hosts of several versions coexist, each
// until its processes have ended. Every build's host and client support all versions up to their own: so any build reaches every program,
// even after a downgrade.
import { join } from "node:path";
import type { ErrorCode } from "../errors.ts";
import { processesFolder } from "./files.ts";
import type { ProcessInfo } from "./types.ts";

export const PROTOCOL = 1;
/** Never raised: a host of it may hold a program for years. */
const OLDEST_PROTOCOL = 1;
/** A follower is sent this much before it must acknowledge. */
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
	/** Required for access: its reader is authorised. */
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
	/** The version used from here on: the client's. */
	readonly hello: number;
	readonly pid: number;
	/** It can start programs behind walls. Older hosts do not say so, and would start them without. */
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
