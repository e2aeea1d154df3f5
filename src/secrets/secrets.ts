// The secrets a Keryx knows, and the only way of hiding them (I12). More may be added while it runs: every holder of this object then
// hides them, too. None is forgotten before the end, because text written with it may still be on its way.
import { SECRET_NAME } from "../domain/index.ts";
import { type Audience, HIDDEN, HidingBytes, HidingStream, hideBytes, hideText, longestIn } from "./hider.ts";
import { NameStream } from "./name-stream.ts";
import { hasShape, MaskingStream, maskShapes } from "./shapes.ts";
import { type Hiding, hideIn, isHiddenIn } from "./walk.ts";
import { Words } from "./words.ts";

/** Hides in streamed text, as if it had come whole. */
export interface TextStream {
	/** Everything that is final. */
	push(text: string): string;
	/** The rest. */
	end(): string;
}

export interface ByteStream {
	push(bytes: Uint8Array): Uint8Array;
	end(): Uint8Array;
}

/** How secrets are hidden from a reader. */
export interface Hider {
	hide(text: string): string;
	stream(): TextStream;
	/**
	 * Hides in every text, number and byte of a value to be stored or shown, and in field names that come from outside. Returns the
	 * same value if it contains no secret. A short secret that is by chance part of Keryx's own ids and kinds stays.
	 */
	hideIn<Value>(value: Value): Value;
}

/** Hides from the owner, who sees names. */
export interface Secrets extends Hider {
	/** Hides from everyone else, including names, so that hiding confirms no guess. */
	readonly forOthers: Hider;
	/** Whether `hideIn` would change it. */
	changes(value: unknown): boolean;
	/** Whether text from outside contains a secret in any form; a name that stands for one does not count. */
	isIn(value: unknown): boolean;
	/** Bytes keep their count. */
	hideBytes(bytes: Uint8Array): Uint8Array;
	byteStream(): ByteStream;
	/** The value of `${secret:NAME}`. */
	valueOf(name: string): string | undefined;
	/** Adds secrets, by name. */
	learn(values: ReadonlyMap<string, string>): void;
}

/** `maskShapes`: also masks text that looks like a credential although nobody listed it; never in the arguments of a call. */
export function createSecrets(
	values: ReadonlyMap<string, string> = new Map(),
	options: { readonly maskShapes?: boolean } = {},
): Secrets {
	return new KnownSecrets(values, options.maskShapes ?? false);
}

/** `SECRET_NAME` in JSON, where each backslash of a text is two: JSON knows no escape of these signs, so they always come in pairs. */
const NAME_IN_JSON = /(?:\\\\){0,2}\$(?:\\\\){0,2}\{secret:(?:\w|(?:\\\\){1,2}_)*(?:(?:\\\\){0,2}\})?/g;

/** For anyone but the owner: removes names from hidden text. */
export function withoutNames(text: string): string {
	return text.includes("secret:") ? text.replace(SECRET_NAME, HIDDEN) : text;
}

/** The same for the texts in JSON, or in lines of it. */
export function withoutNamesInJson(json: string): string {
	return json.includes("secret:") ? json.replace(NAME_IN_JSON, HIDDEN) : json;
}

class KnownSecrets implements Secrets {
	readonly #values = new Map<string, string>();
	/** Earlier values of a name. */
	readonly #earlier: (readonly [string, string])[] = [];
	/** Created on first use. */
	#text: Words | undefined;
	#bytes: Words | undefined;
	/** By value alone. */
	readonly #hiding: Hiding;
	readonly #shown: Hiding;
	readonly #masks: boolean;
	readonly forOthers: Hider;

	constructor(values: ReadonlyMap<string, string>, masks: boolean) {
		this.learn(values);
		this.#masks = masks;
		this.#hiding = this.#hidingFrom("owner");
		this.#shown = masks ? masking(this.#hiding) : this.#hiding;
		const fromOthers = masks ? masking(this.#hidingFrom("others")) : this.#hidingFrom("others");
		this.forOthers = {
			hide: fromOthers.hide,
			stream: () => this.#stream("others"),
			hideIn: (value) => hideIn(value, fromOthers, "own"),
		};
	}

	hide(text: string): string {
		return this.#shown.hide(text);
	}

	stream(): TextStream {
		return this.#stream("owner");
	}

	hideIn<Value>(value: Value): Value {
		return hideIn(value, this.#shown, "own");
	}

	changes(value: unknown): boolean {
		return isHiddenIn(value, this.#hiding, "own");
	}

	isIn(value: unknown): boolean {
		return isHiddenIn(value, this.#hiding, "free");
	}

	hideBytes(bytes: Uint8Array): Uint8Array {
		return this.#hiding.hideBytes(bytes);
	}

	byteStream(): ByteStream {
		return new HidingBytes(this.#inBytes());
	}

	valueOf(name: string): string | undefined {
		return this.#values.get(name);
	}

	learn(values: ReadonlyMap<string, string>): void {
		for (const [name, value] of values) {
			const before = this.#values.get(name);
			if (before === value) continue;
			if (before !== undefined) this.#earlier.push([name, before]);
			this.#values.set(name, value);
			this.#text = undefined;
			this.#bytes = undefined;
		}
	}

	#stream(audience: Audience): TextStream {
		const known = new HidingStream(() => this.#inText(), audience);
		const nameless = audience === "owner" ? known : inTurn(known, new NameStream());
		return this.#masks ? inTurn(nameless, new MaskingStream()) : nameless;
	}

	#hidingFrom(audience: Audience): Hiding {
		const words = () => this.#inText();
		const hide = (text: string) => hideText(words(), text, audience);
		return {
			isIn:
				audience === "owner"
					? (text) => words().isIn(text)
					: (text) => words().isIn(text) || text.search(SECRET_NAME) >= 0,
			isInBytes: (bytes) => this.#inBytes().isInBytes(bytes),
			get hasNumbers() {
				return words().hasNumbers;
			},
			hide: audience === "owner" ? hide : (text) => withoutNames(hide(text)),
			hideBytes: (bytes) => hideBytes(this.#inBytes(), bytes),
			longestIn: (text) => longestIn(words(), text),
		};
	}

	#inText(): Words {
		this.#text ??= new Words([...this.#values, ...this.#earlier], "text");
		return this.#text;
	}

	#inBytes(): Words {
		this.#bytes ??= new Words([...this.#values, ...this.#earlier], "bytes");
		return this.#bytes;
	}
}

/** What the first returns goes through the second. */
function inTurn(first: TextStream, second: TextStream): TextStream {
	return {
		push: (text) => second.push(first.push(text)),
		end: () => second.push(first.end()) + second.end(),
	};
}

function masking(hiding: Hiding): Hiding {
	return {
		isIn: (text) => hiding.isIn(text) || hasShape(text),
		isInBytes: (bytes) => hiding.isInBytes(bytes),
		get hasNumbers() {
			return hiding.hasNumbers;
		},
		hide: (text) => maskShapes(hiding.hide(text)),
		hideBytes: (bytes) => hiding.hideBytes(bytes),
		longestIn: (text) => hiding.longestIn(text),
		exact: hiding,
	};
}

/** Without secrets: for tests, and for programs that keep theirs elsewhere. */
export const NO_SECRETS: Secrets = createSecrets();
