// bubblewrap's status: one object per line. The first names the namespace, and is there before the program runs.
import { readFileSync } from "node:fs";

/** The first process of a program's namespace. When it is killed, the kernel kills everything in it. */
export interface Namespace {
	/** As seen from outside the namespace. */
	readonly pid: number;
	/** The number of its PID namespace: the pid alone may belong to another process by now. */
	readonly inode: number;
}

export interface WallStatus {
	/** Null: bubblewrap did not get that far. */
	readonly namespace: Namespace | null;
	/** Null: the program was not started, or has not ended. */
	readonly exitCode: number | null;
}

export function parseStatus(text: string): WallStatus {
	let namespace: Namespace | null = null;
	let exitCode: number | null = null;
	for (const line of text.split("\n")) {
		const facts = readLine(line);
		const { "child-pid": pid, "pid-namespace": inode, "exit-code": code } = facts;
		if (isNumber(pid) && isNumber(inode)) namespace = { pid, inode };
		if (isNumber(code)) exitCode = code;
	}
	return { namespace, exitCode };
}

/** A missing file tells nothing. */
export function readStatus(file: string): WallStatus {
	try {
		return parseStatus(readFileSync(file, "utf8"));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return { namespace: null, exitCode: null };
		throw error;
	}
}

/** The last line may be half written. */
function readLine(line: string): Record<string, unknown> {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
	} catch {
		return {};
	}
}

function isNumber(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
