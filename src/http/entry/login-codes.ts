// Signs the codes of login links and the keys of pages, and reads codes back. Whether a code was used before is for the store to say.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { KeryxError } from "../../errors.ts";

const LINK_MS = 600_000;

export interface PersonCode {
	readonly kind: "person";
	readonly nonce: string;
	readonly round: number;
	readonly name: string;
}

export class LoginCodes {
	readonly #secret: string;

	/** Gateways on one store have the same secret. */
	constructor(secret: string) {
		this.#secret = secret;
	}

	forOperator(now: number): string {
		const { nonce, until } = fresh(now);
		return `${nonce}.${until}.${this.#sign(`login.${nonce}.${until}`)}`;
	}

	/** `round`: of the offer; an older one no longer works. */
	forPerson(name: string, round: number, now: number): string {
		const { nonce, until } = fresh(now);
		const signed = this.#sign(`login-person.${nonce}.${until}.${round}.${name}`);
		return `${nonce}.${until}.${round}.${name}.${signed}`;
	}

	/** Throws http.login if it is not ours, or too old. */
	read(code: string, now: number): PersonCode | { readonly kind: "operator"; readonly nonce: string } {
		const [, id = "", end = "", round = "", name = "", signature = ""] =
			/^([\w-]{12})\.(\d{1,16})\.(\d{1,9})\.([a-z0-9_-]{1,40})\.([\w-]{43})$/.exec(code) ?? [];
		if (name !== "") {
			const until = Number(end);
			this.#check(`login-person.${id}.${until}.${Number(round)}.${name}`, signature, until, now);
			return { kind: "person", nonce: id, round: Number(round), name };
		}
		const [, nonce = "", ends = "", signed = ""] = /^([\w-]{12})\.(\d{1,16})\.([\w-]{43})$/.exec(code) ?? [];
		const until = Number(ends);
		this.#check(`login.${nonce}.${until}`, signed, until, now);
		return { kind: "operator", nonce };
	}

	/** The cookie alone cannot produce it; another port or address has another one. */
	pageKey(cookie: string, origin: string): string {
		return this.#sign(`page.${origin}.${cookie}`);
	}

	#check(text: string, signature: string, until: number, now: number): void {
		if (!same(signature, this.#sign(text)))
			throw new KeryxError("http.login", "this login link is not from this Keryx");
		if (until <= now) throw new KeryxError("http.login", "this login link has expired");
	}

	#sign(text: string): string {
		return createHmac("sha256", this.#secret).update(text).digest("base64url");
	}
}

/** Takes the same time for any two texts of one length. */
export function same(a: string, b: string): boolean {
	const [one, other] = [Buffer.from(a), Buffer.from(b)];
	return one.length === other.length && timingSafeEqual(one, other);
}

function fresh(now: number): { readonly nonce: string; readonly until: number } {
	return { nonce: randomBytes(9).toString("base64url"), until: now + LINK_MS };
}
