// Names of uploaded files. Only the caller who uploaded a file can name it in a message: the name holds a code over the caller and the
// file. Nothing is kept for it, so it survives a restart.
import { createHmac, timingSafeEqual } from "node:crypto";
import { KeryxError } from "../errors.ts";

const CODE_BYTES = 16;

/** Who uploads: `channel:<name>` for a bridge, or the visitor. */
export function uploadName(secret: string, owner: string, blob: string): string {
	return `${blob}.${codeOf(secret, owner, blob).toString("base64url")}`;
}

/** Throws store.not_found for everything but the owner's own uploads. */
export function uploadedBlob(secret: string, owner: string, name: string): string {
	const [blob = "", code = ""] = name.split(".");
	const [given, right] = [Buffer.from(code, "base64url"), codeOf(secret, owner, blob)];
	if (given.length === right.length && timingSafeEqual(given, right)) return blob;
	throw new KeryxError("store.not_found", `there is no upload ${name}`, {
		hint: "upload the file with the same token, then name the id of the answer",
	});
}

function codeOf(secret: string, owner: string, blob: string): Buffer {
	return createHmac("sha256", secret).update(`upload.${owner}.${blob}`).digest().subarray(0, CODE_BYTES);
}
