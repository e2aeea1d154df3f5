// Secrets in imports (I12). Texts are hidden as usual when stored. Blobs are base64 under the digest of their bytes: they are hidden
// here, whole and as bytes, and get another digest, which the rows that refer to them then use.
import { createHash } from "node:crypto";
import type { Secrets } from "../secrets/index.ts";
import type { NumberedLine } from "./operations/transfer/import.ts";
import type { BlobLine, ChunkLine, MessageLine } from "./transfer-format.ts";

export class HiddenBlobs {
	readonly #secrets: Secrets;
	/** The current blob. */
	#open: { readonly blob: NumberedLine; readonly chunks: NumberedLine[]; bytes: number } | null = null;
	/** New digests by old ones, in the current conversation. */
	readonly #digests = new Map<string, string>();

	constructor(secrets: Secrets) {
		this.#secrets = secrets;
	}

	/** The lines ready so far, in order: a blob's lines when it is complete. */
	take(numbered: NumberedLine): NumberedLine[] {
		const { line } = numbered;
		if (line.type === "blob_chunk" && this.#open) {
			this.#open.chunks.push(numbered);
			this.#open.bytes += Buffer.byteLength(line.data, "base64");
			return this.#open.bytes >= (this.#open.blob.line as BlobLine).size ? this.#close() : [];
		}
		const before = this.#close();
		if (line.type === "conversation_end") this.#digests.clear();
		if (line.type === "blob" && line.size > 0) {
			this.#open = { blob: numbered, chunks: [], bytes: 0 };
			return before;
		}
		if (line.type === "message" && this.#digests.size > 0)
			return [...before, { ...numbered, line: this.#renamed(line) }];
		return [...before, numbered];
	}

	/** The rest: an incomplete blob, which the import refuses. */
	end(): NumberedLine[] {
		return this.#close();
	}

	#close(): NumberedLine[] {
		const open = this.#open;
		this.#open = null;
		if (!open) return [];
		const blob = open.blob.line as BlobLine;
		const parts = open.chunks.map(({ line }) => Buffer.from((line as ChunkLine).data, "base64"));
		const whole = Buffer.concat(parts);
		const hidden = this.#secrets.hideBytes(whole);
		// A mismatch stays a mismatch.
		if (hidden === whole || digestOf(whole) !== blob.digest) return [open.blob, ...open.chunks];
		const digest = digestOf(hidden);
		this.#digests.set(blob.digest, digest);
		let at = 0;
		const chunks = open.chunks.map(({ number, line }, index) => {
			const { length } = parts[index] as Buffer;
			const data = Buffer.from(hidden.subarray(at, at + length)).toString("base64");
			at += length;
			return { number, line: { ...(line as ChunkLine), digest, data } };
		});
		return [{ ...open.blob, line: { ...blob, digest } }, ...chunks];
	}

	#renamed(line: MessageLine): MessageLine {
		const name = (digest: string) => this.#digests.get(digest) ?? digest;
		const { content, leavesOut } = line.body;
		const part = <Part extends object>(one: Part): Part => ({
			...one,
			...("digest" in one && { digest: name(one.digest as string) }),
			...("blob" in one && { blob: name(one.blob as string) }),
		});
		return {
			...line,
			body: {
				...line.body,
				content:
					typeof content === "string" ? content : Array.isArray(content) ? content.map(part) : part(content),
				...(leavesOut && { leavesOut: leavesOut.map(name) }),
			},
		};
	}
}

function digestOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}
