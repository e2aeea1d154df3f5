// How much a program has written so far, in bytes.
import { readFileSync, statSync } from "node:fs";
import { SCHEMA_VERSION } from "../../src/store/schema.ts";

/** The copy of a store from before its update. */
export const COPY = `.before-v${SCHEMA_VERSION}`;

/** By the kernel's count; where there is none, by the sizes of the store's copy and of its log, which stops growing before the end. */
export function writtenBy(pid: number | "self", path: string): number {
	try {
		return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0);
	} catch {
		return sizeOf(path + COPY) + sizeOf(`${path}-wal`);
	}
}

function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
