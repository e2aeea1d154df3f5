// The last output of a program, to explain how it ended. Secrets are hidden as it comes, before anything is cut: the part of one that
// remained would not be recognised (I12).
import { stripVTControlCharacters } from "node:util";
import { firstOf, lastOf } from "../../domain/index.ts";
import type { Secrets, TextStream } from "../../secrets/index.ts";

const LINES = 3;
const MOST = 400;
/** An error as most languages print it, and what stands around it: where it was thrown, and Node's version. */
const ERROR = /^(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*:/;
const AROUND = /^at |^\^+$|^Node\.js v\d|^$/;
/** More than is shown: colours take space, too, and so does what follows an error. */
const KEPT = 8 * MOST;

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

	/** Its last error, or else its last lines, on one; "" if it printed nothing. Nothing may be added afterwards. */
	end(): string {
		this.#keep(this.#stream.push(this.#decoder.decode()) + this.#stream.end());
		const plain = this.#secrets.hide(stripVTControlCharacters(this.#text));
		const lines = plain
			.split("\n")
			.map((line) => line.trim())
			.filter((line) => !AROUND.test(line));
		const error = lines.findLastIndex((line) => ERROR.test(line));
		if (error < 0) return lastOf(lines.slice(-LINES).join(" / "), MOST);
		return firstOf(lines.slice(error, error + LINES).join(" / "), MOST);
	}

	#keep(text: string): void {
		this.#text = lastOf(this.#text + text, KEPT);
	}
}
