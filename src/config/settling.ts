// Decides when a file that is being written counts. Pure: it is told what was seen, and whether that stayed the same for SETTLE_MS.

/** One look at the file. */
export type Seen =
	| { readonly kind: "none" }
	| {
			readonly kind: "file";
			/** Different for every file ever at this path. */
			readonly id: string;
			/** Size and times. */
			readonly stamp: string;
			/** Null if it cannot be read. */
			readonly bytes: Uint8Array | null;
			/** Moved after its last write: its writer had finished. */
			readonly isMoved: boolean;
	  };

export interface Settling {
	/** What was judged last; nothing at first. */
	readonly judged: Seen | null;
	/** What was seen last and waits to be judged. */
	readonly waiting: Seen | null;
}

/** rest: nothing is new. wait: look again after SETTLE_MS, unless something changes first. judge: it counts as seen. */
export type Verdict = "rest" | "wait" | "keep waiting" | "judge";

/** A file that is written in place must stay the same for this long. */
export const SETTLE_MS = 1000;

export const UNSEEN: Settling = { judged: null, waiting: null };

export function settle(
	{ judged, waiting }: Settling,
	seen: Seen,
	isStill: boolean,
): { readonly next: Settling; readonly verdict: Verdict } {
	if (judged && isSame(judged, seen)) return { next: { judged, waiting: null }, verdict: "rest" };
	const isUnchanged = waiting !== null && isSame(waiting, seen);
	if (isWhole(seen, waiting ?? judged) || (isStill && isUnchanged))
		return { next: { judged: seen, waiting: null }, verdict: "judge" };
	return { next: { judged, waiting: seen }, verdict: isUnchanged ? "keep waiting" : "wait" };
}

/** A file that replaced another was written elsewhere. A new one may still be incomplete. */
function isWhole(seen: Seen, before: Seen | null): boolean {
	if (seen.kind === "none" || isEmpty(seen)) return false;
	if (before?.kind !== "file") return before !== null && seen.isMoved;
	return seen.id !== before.id;
}

export function isEmpty(seen: Seen): boolean {
	return seen.kind === "file" && seen.bytes !== null && seen.bytes.every(isBlank);
}

function isBlank(byte: number): boolean {
	return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0;
}

function isSame(one: Seen, other: Seen): boolean {
	if (one.kind === "none" || other.kind === "none") return one.kind === other.kind;
	if (one.id !== other.id || one.stamp !== other.stamp) return false;
	if (one.bytes === null || other.bytes === null) return one.bytes === other.bytes;
	return Buffer.compare(one.bytes, other.bytes) === 0;
}
