// Temporary faults: a full disk, a lock, a failing device or connection. Callers may retry. A failed write was usually not made; if only
// its answer was lost, it was. So retries must have the same effect in both cases.
import { type ErrorCode, KeryxError } from "../errors.ts";

const PASSING: ReadonlySet<ErrorCode> = new Set([
	"store.full",
	"store.io",
	"store.locked",
	"store.readonly",
	"store.unreachable",
	"store.replaced",
]);

export function isPassing(error: unknown): boolean {
	return error instanceof KeryxError && PASSING.has(error.code);
}
