// The last output of a program, to explain how it ended. Secrets are hidden as it comes, before anything is cut: the part of one that
// remained would not be recognised (I12).
import { stripVTControlCharacters } from "node:util";
import { lastOf } from "../../domain/index.ts";
import type { Secrets, TextStream } from "../../secrets/index.ts";

const LINES = 3;
const MOST = 400;
/** More than is shown: colours take space, too. */
const KEPT = 4 * MOST;

export class LastOutput {
	readonly #secrets: Pick<Secrets, "hide">;
	readonly #stream: TextStream;
	readonly #decoder = new TextDecoder();
	#text = "";

	constructor(secrets: Pick<Secrets, "hide" | "stream">) {
		this.#secrets = secrets;
		this.#stream = secrets.stream();
	}

	add(data: Uint8Array): void {
		this.#keep(this.#stream.push(this.#decoder.decode(data, { stream: true })));
	}

	/** Its last lines, on one; "" if it printed nothing. Nothing may be added afterwards. */
	end(): string {
		this.#keep(this.#stream.push(this.#decoder.decode()) + this.#stream.end());
		const plain = this.#secrets.hide(stripVTControlCharacters(this.#text));
		return lastOf(plain.trim().split("\n").slice(-LINES).join(" / "), MOST);
	}

	#keep(text: string): void {
		this.#text = lastOf(this.#text + text, KEPT);
	}
}
