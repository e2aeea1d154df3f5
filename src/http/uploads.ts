// Names of uploaded files. Only the caller who uploaded a file can name it in a message: the name holds a code over the caller and the
// file. Nothing is kept for it, so it survives a restart.
import { createHmac, timingSafeEqual } from "node:crypto";
import { KeryxError } from "../errors.ts";
import type { ApiHost } from "./call.ts";
import type { Visitor } from "./entry/auth.ts";

const CODE_BYTES = 16;

/** With several gateways, a message may reach another gateway than its files did: all of them have the page's secret. */
type Keyed = Pick<ApiHost, "operatorSecret" | "pageSecret">;

/** The owner of a visitor's uploads. The operator is one owner, however they connect: they may read everything anyway. */
export function uploaderOf({ role, who }: Pick<Visitor, "role" | "who">): string {
	return role === "operator" ? "operator" : who;
}

/** `owner`: a visitor's `uploaderOf`, or `channel:<name>` for a bridge. */
export function uploadName(host: Keyed, owner: string, blob: string): string {
	return `${blob}.${codeOf(host, owner, blob).toString("base64url")}`;
}

/** Throws store.not_found for everything but the owner's own uploads. */
export function uploadedBlob(host: Keyed, owner: string, name: string): string {
	const [blob = "", code = ""] = name.split(".");
	const [given, right] = [Buffer.from(code, "base64url"), codeOf(host, owner, blob)];
	if (given.length === right.length && timingSafeEqual(given, right)) return blob;
	throw new KeryxError("store.not_found", `there is no upload ${name}`, {
		hint: "upload the file with the same token, then name the id of the answer",
	});
}

function codeOf({ operatorSecret, pageSecret }: Keyed, owner: string, blob: string): Buffer {
	return createHmac("sha256", pageSecret ?? operatorSecret)
		.update(`upload.${owner}.${blob}`)
		.digest()
		.subarray(0, CODE_BYTES);
}
