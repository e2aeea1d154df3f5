// Secrets that lie across the edge of what is read of a log.
import type { ProcessMachine } from "../machine.ts";
import type { LogPiece } from "../types.ts";

/** The number of bytes stays the same. */
export type HideBytes = (bytes: Uint8Array) => Uint8Array;

/** Longer than any form of any secret. */
const AROUND = 64 * 1024;

/** A secret that crosses an edge would not be recognised in the piece: its bytes are hidden here. */
export async function withoutHalves(
	read: ProcessMachine["read"],
	id: string,
	{ from, next, data }: Pick<LogPiece, "from" | "next" | "data">,
	hideBytes: HideBytes,
): Promise<Uint8Array> {
	if (data.length === 0) return data;
	const earliest = Math.max(0, from - AROUND);
	const before = await read(id, { from: earliest, limit: from - earliest });
	const after = await read(id, { from: next, limit: AROUND });
	const left = before.next === from ? before.data : Buffer.alloc(0);
	const right = after.from === next ? after.data : Buffer.alloc(0);
	const hidden = hideBytes(Buffer.concat([left, data, right])).subarray(
		left.length,
		left.length + data.length,
	);
	return Buffer.compare(hidden, hideBytes(data)) === 0 ? data : hidden;
}
