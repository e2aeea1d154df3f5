// Faults that pass: a full disk, a lock, a device or a connection that fails. Whoever meets one may ask again later. A write that met one
// has mostly not been made; where only its answer was lost it has, so that what is asked again must be the same whichever it was.
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
