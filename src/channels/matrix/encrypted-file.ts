// Files of encrypted rooms: AES-256-CTR with a key per file, which the message carries. The digest is checked before anyone uses a byte.
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { z } from "zod";

const fileSchema = z.looseObject({
	url: z.string(),
	key: z.looseObject({ k: z.string(), alg: z.literal("A256CTR") }),
	iv: z.string(),
	hashes: z.looseObject({ sha256: z.string() }),
	v: z.literal("v2"),
});

export type EncryptedFile = z.output<typeof fileSchema>;

export function readEncryptedFile(given: unknown): EncryptedFile | null {
	return fileSchema.safeParse(given).data ?? null;
}

/** Encrypts while it is read; `facts` is complete when everything was read. */
export function encrypting(
	bytes: AsyncIterable<Uint8Array>,
	randomBytes: (length: number) => Uint8Array,
): { readonly bytes: AsyncGenerator<Uint8Array>; readonly facts: (url: string) => EncryptedFile } {
	const key = Buffer.from(randomBytes(32));
	// The lower half counts blocks, from zero.
	const iv = Buffer.concat([randomBytes(8), Buffer.alloc(8)]);
	const cipher = createCipheriv("aes-256-ctr", key, iv);
	const hash = createHash("sha256");
	const encrypted = async function* () {
		for await (const piece of bytes) {
			const out = cipher.update(piece);
			hash.update(out);
			yield out;
		}
	};
	return {
		bytes: encrypted(),
		facts: (url) => ({
			url,
			key: {
				kty: "oct",
				key_ops: ["encrypt", "decrypt"],
				alg: "A256CTR",
				k: key.toString("base64url"),
				ext: true,
			},
			iv: unpadded(iv),
			hashes: { sha256: unpadded(hash.digest()) },
			v: "v2",
		}),
	};
}

/** Rejects at the end if the bytes are not those that the message promises. */
export async function* decrypting(
	bytes: AsyncIterable<Uint8Array>,
	{ key, iv, hashes }: EncryptedFile,
): AsyncGenerator<Uint8Array> {
	const secret = Buffer.from(key.k, "base64url");
	const start = Buffer.from(iv, "base64");
	if (secret.length !== 32 || start.length !== 16) throw new WrongFile("its key cannot be used");
	const cipher = createDecipheriv("aes-256-ctr", secret, start);
	const hash = createHash("sha256");
	for await (const piece of bytes) {
		hash.update(piece);
		yield cipher.update(piece);
	}
	if (unpadded(hash.digest()) !== hashes.sha256.replace(/=+$/, ""))
		throw new WrongFile("it is not the file that was sent");
}

export class WrongFile extends Error {}

function unpadded(bytes: Buffer): string {
	return bytes.toString("base64").replace(/=+$/, "");
}
