import { createHash } from "node:crypto";

/** By this a title is found and kept unique within its conversation, whatever its capitals. */
export function titleDigest(title: string): string {
	return createHash("sha256").update(title.toLowerCase()).digest("hex");
}
