// What nodes tell each other passes through the server, where every role that may connect to the database can read and write it. So it is
// encrypted with a key that only gateways of the store have, dated and numbered: anything else, and anything repeated, is ignored.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** No message takes this long. An older one is a replay for a node that joined since. */
const OLD_MS = 60_000;

export interface Unsealed {
	/** The epoch of the node that tells. */
	readonly from: number;
	readonly text: string;
}

/** From the store's part and the audit key, which is in no table: a role that can only read the store cannot speak for a gateway. */
export function sharedKey(ofStore: string, auditKey: Uint8Array | null): Buffer {
	const salt = Buffer.from(ofStore, "hex");
	return auditKey ? Buffer.from(hkdfSync("sha256", auditKey, salt, "keryx telling", KEY_BYTES)) : salt;
}

export class Sealing {
	readonly #key: Buffer;
	readonly #epoch: number;
	readonly #now: () => number;
	#sent = 0;
	/** The last number of each node. */
	readonly #heard = new Map<number, number>();

	/** `now`: by the clock that all nodes share. */
	constructor(key: Buffer, epoch: number, now: () => number) {
		this.#key = key;
		this.#now = now;
		this.#epoch = epoch;
	}

	static newKey(): string {
		return randomBytes(KEY_BYTES).toString("hex");
	}

	seal(text: string): string {
		const nonce = randomBytes(NONCE_BYTES);
		const cipher = createCipheriv(CIPHER, this.#key, nonce);
		const sealed = cipher.update(`${this.#epoch} ${++this.#sent} ${this.#now()} ${text}`, "utf8");
		return Buffer.concat([nonce, sealed, cipher.final(), cipher.getAuthTag()]).toString("base64");
	}

	/** Null: not from a node of this store, from this one, or heard before. */
	open(payload: string): Unsealed | null {
		const bytes = Buffer.from(payload, "base64");
		if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
		const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
		decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
		let opened: string;
		try {
			const sealed = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
			opened = Buffer.concat([sealed, decipher.final()]).toString("utf8");
		} catch {
			return null;
		}
		const [, epoch, number, at, text = ""] = /^(\d+) (\d+) (\d+) (.*)$/s.exec(opened) ?? [];
		const from = Number(epoch);
		if (Math.abs(this.#now() - Number(at)) > OLD_MS) return null;
		if (from === this.#epoch || Number(number) <= (this.#heard.get(from) ?? 0)) return null;
		this.#heard.set(from, Number(number));
		return { from, text };
	}
}
