// The client's side of SCRAM (RFC 5802, RFC 7677): proves that it knows the password without sending it, and checks that the server does.
import { createHash, createHmac, pbkdf2Sync, timingSafeEqual } from "node:crypto";

const HASHES: Readonly<Record<string, string>> = {
	"SCRAM-SHA-512": "sha512",
	"SCRAM-SHA-256": "sha256",
	"SCRAM-SHA-1": "sha1",
};
/** Strongest first. */
export const SCRAM_MECHANISMS: readonly string[] = Object.keys(HASHES);
/** More would be an attack on this machine's time. */
const MOST_ITERATIONS = 1_000_000;
const FEWEST_ITERATIONS = 4096;

export class Scram {
	readonly #hash: string;
	readonly #first: string;
	readonly #nonce: string;
	readonly #password: string;
	#signature: Buffer | null = null;

	constructor(mechanism: string, user: string, password: string, nonce: string) {
		this.#hash = HASHES[mechanism] ?? "sha1";
		this.#nonce = nonce;
		this.#password = password.normalize("NFKC");
		const name = user.normalize("NFKC").replaceAll("=", "=3D").replaceAll(",", "=2C");
		this.#first = `n=${name},r=${nonce}`;
	}

	/** Without binding to the TLS connection. */
	first(): string {
		return `n,,${this.#first}`;
	}

	/** Null: the server's challenge is not valid. */
	answer(challenge: string): string | null {
		const { r: nonce = "", s: salt = "", i = "" } = fields(challenge);
		const iterations = Number(i);
		const isFresh = nonce.startsWith(this.#nonce) && nonce.length > this.#nonce.length;
		const isSane =
			Number.isInteger(iterations) && iterations >= FEWEST_ITERATIONS && iterations <= MOST_ITERATIONS;
		if (!isFresh || !isSane || salt === "" || /(?:^|,)m=/.test(challenge)) return null;
		const hash = this.#hash;
		const length = createHash(hash).digest().length;
		const salted = pbkdf2Sync(this.#password, Buffer.from(salt, "base64"), iterations, length, hash);
		const clientKey = this.#hmac(salted, "Client Key");
		const storedKey = createHash(hash).update(clientKey).digest();
		const last = `c=biws,r=${nonce}`;
		const message = `${this.#first},${challenge},${last}`;
		const signature = this.#hmac(storedKey, message);
		this.#signature = this.#hmac(this.#hmac(salted, "Server Key"), message);
		const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
		return `${last},p=${proof.toString("base64")}`;
	}

	/** Whether the server knows the password too. */
	isProvenBy(final: string): boolean {
		const given = Buffer.from(fields(final).v ?? "", "base64");
		const expected = this.#signature;
		return expected !== null && given.length === expected.length && timingSafeEqual(given, expected);
	}

	#hmac(key: Buffer, text: string): Buffer {
		return createHmac(this.#hash, key).update(text).digest();
	}
}

function fields(text: string): Readonly<Record<string, string | undefined>> {
	return Object.fromEntries(text.split(",").map((part) => [part.slice(0, 1), part.slice(2)]));
}
