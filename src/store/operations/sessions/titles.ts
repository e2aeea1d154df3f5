// How titles are compared. Stored digests depend on it, so it must not change.
import { createHash } from "node:crypto";

/** The key for finding titles and keeping them unique within a conversation, ignoring case. */
export function titleDigest(title: string): string {
	return createHash("sha256").update(title.toLowerCase()).digest("hex");
}
