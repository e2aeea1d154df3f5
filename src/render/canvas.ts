// Writes the markup and the plain text at once, with marks that tie them together. Opening tokens, line ends and line prefixes wait until
// text follows, so there are no empty elements and no trailing line ends.
import { element } from "./element.ts";
import { sizeOf } from "./measure.ts";
import type { Element, Glue, Mark, MessageLimit } from "./types.ts";

/** How lines behave in a dialect. */
export interface LineRules {
	/** Open elements are closed at the end of a line and reopened on the next. */
	readonly byLine: boolean;
	/** A blank line is allowed between two blocks. */
	readonly blankLines: boolean;
	/** Written between a token and an adjacent letter, where the platform recognises the token only at a word's edge. */
	readonly wordEdge: string;
}

/** Written before each line inside a quote or a list item. */
export interface Prefix {
	/** Before the first line, if it differs: a list marker. */
	readonly first?: Twin;
	readonly rest: Twin;
	/** Also before a blank line. */
	readonly onBlank: boolean;
	/** How a part begins that continues in the middle of such a line. */
	readonly reopen: string;
}

export interface Twin {
	readonly plain: string;
	readonly markup: string;
}

export interface Handle {
	readonly element: Element | undefined;
	/** Plain text in place of the opening token. */
	readonly plain: string;
	/** Text has been written inside. */
	isShown: boolean;
}

interface OpenPrefix {
	readonly prefix: Prefix;
	isFirst: boolean;
	readonly handle: Handle | undefined;
}

export class Canvas {
	readonly #limit: MessageLimit;
	readonly #rules: LineRules;
	readonly #marks: Mark[] = [];
	readonly #blocks: number[] = [];
	readonly #prefixes: OpenPrefix[] = [];
	#plain = "";
	#text = "";
	/** Open elements, outermost first, and those that open as soon as text follows. */
	readonly #open: Handle[] = [];
	readonly #waiting: Handle[] = [];
	#linePrefix: Element | undefined;
	/** Pending line ends, and how many prefixes a blank line among them has. */
	#newlines = 0;
	#blankDepth = 0;
	#atLineStart = true;
	#hidesPrefixes = false;
	#overhead = 0;
	/** Where a token that needs a word's edge was closed last, and the last character written. */
	#closedAt = -1;
	#last = "";

	constructor(limit: MessageLimit, rules: LineRules) {
		this.#limit = limit;
		this.#rules = rules;
	}

	get atLineStart(): boolean {
		return this.#atLineStart || this.#newlines > 0;
	}

	get marks(): readonly Mark[] {
		return this.#marks;
	}

	get blocks(): readonly number[] {
		return this.#blocks;
	}

	get plain(): string {
		return this.#plain;
	}

	get text(): string {
		return this.#text;
	}

	/** Writes text of one line that is equal in both twins. */
	write(text: string): void {
		if (text === "") return;
		this.#settle(text);
		this.#append(text, text);
	}

	/** Writes a piece that is never cut. */
	writeAtom({ plain, markup }: Twin): void {
		this.#settle(markup);
		this.#mark("swap", plain, markup, "none");
	}

	/** Opens an element, unless the open tokens would leave less than half of a part for text. */
	open(element: Element | undefined, plain = ""): Handle {
		const cost = element ? this.#cost(element) : 0;
		const fits = this.#overhead + cost <= this.#limit.max / 2;
		const handle: Handle = { element: fits ? element : undefined, plain, isShown: false };
		if (fits) this.#overhead += cost;
		this.#waiting.push(handle);
		return handle;
	}

	/** Closes the innermost element. `plain` is the plain text in place of the closing token. */
	close(handle: Handle, plain = ""): void {
		if (handle.element) this.#overhead -= this.#cost(handle.element);
		if (this.#waiting.at(-1) === handle) {
			this.#waiting.pop();
			if (plain !== "" && handle.isShown) this.#mark("swap", plain, "", "previous");
			return;
		}
		this.#open.pop();
		this.#endToken(handle, plain);
	}

	/** Ends the line; at least `count` line ends come before the next text. */
	newline(count = 1): void {
		if (this.#text === "") return;
		this.#endLine();
		this.#blankDepth =
			this.#newlines > 0 ? Math.min(this.#blankDepth, this.#prefixes.length) : this.#prefixes.length;
		this.#newlines = Math.max(this.#newlines, this.#rules.blankLines ? count : 1);
	}

	/** A line break that belongs to the text, as in code: never merged with another. */
	hardNewline(): void {
		if (!this.#rules.blankLines) {
			if (!this.#atLineStart) this.newline();
			return;
		}
		this.#writeNewlines();
		if (this.#atLineStart && !this.#hidesPrefixes) this.#writePrefixes(true, this.#prefixes.length);
		this.#openWaiting();
		if (!this.#hidesPrefixes) this.#endLine();
		this.#append("\n", "\n");
		this.#atLineStart = true;
	}

	/** Ends the line; what is written next is a good place to begin a part. */
	markStart(gap: number): void {
		this.newline(gap);
		this.#blocks.push(this.#plain.length + this.#newlines);
	}

	/** From the next line on, each line starts with this; the first is inside the element of `handle`. */
	pushPrefix(prefix: Prefix, handle?: Handle): void {
		this.#prefixes.push({ prefix, isFirst: prefix.first !== undefined, handle });
	}

	popPrefix(): void {
		this.#prefixes.pop();
		this.#blankDepth = Math.min(this.#blankDepth, this.#prefixes.length);
	}

	/** Writes pending list markers, as before an empty item. */
	touch(): void {
		if (!this.#prefixes.some((one) => one.isFirst)) return;
		this.#writeNewlines();
		if (this.#atLineStart) this.#writePrefixes(false, this.#prefixes.length);
	}

	/** While on, the markup has no line prefixes, as in a fence or a table. */
	hidePrefixes(isHidden: boolean): void {
		this.#hidesPrefixes = isHidden;
	}

	#settle(next: string): void {
		this.#writeNewlines();
		if (this.#atLineStart) this.#writePrefixes(false, this.#prefixes.length);
		const { wordEdge } = this.#rules;
		const isAfterToken = this.#closedAt === this.#text.length && isWord(next.charAt(0));
		const isBeforeToken = isWord(this.#last) && this.#waiting.some((one) => isMarker(one.element?.open));
		if (wordEdge !== "" && (isAfterToken || isBeforeToken)) this.#mark("swap", "", wordEdge, "none");
		this.#openWaiting();
	}

	#writeNewlines(): void {
		for (; this.#newlines > 0; this.#newlines--) {
			if (this.#atLineStart) this.#writePrefixes(true, this.#blankDepth);
			this.#append("\n", "\n");
			this.#atLineStart = true;
		}
	}

	#writePrefixes(isBlank: boolean, depth: number): void {
		this.#atLineStart = false;
		let reopen = "";
		// Deeper ones are left out when those before them take half of a part.
		let room = this.#limit.max / 2;
		for (const one of this.#prefixes.slice(0, depth)) {
			if (one.handle && !one.handle.isShown) this.#openWaiting(one.handle);
			const { first, rest, onBlank } = one.prefix;
			if (isBlank && !onBlank) break;
			const twin = one.isFirst && first ? first : rest;
			const markup = this.#hidesPrefixes && twin === rest ? "" : twin.markup;
			if (twin === rest) room -= sizeOf(twin.plain, this.#limit.unit);
			if (twin === rest && room < 0) continue;
			if (twin.plain !== "" || markup !== "")
				this.#mark("swap", twin.plain, markup, isBlank ? "none" : "next");
			if (!isBlank) one.isFirst = false;
			if (!this.#hidesPrefixes) reopen += one.prefix.reopen;
		}
		const prefix = element("", "", { reopen });
		if (isBlank || reopen === "" || this.#overhead + this.#cost(prefix) > this.#limit.max / 2) return;
		this.#overhead += this.#cost(prefix);
		this.#linePrefix = prefix;
		this.#mark("open", "", "", "none", prefix);
	}

	#openWaiting(last?: Handle): void {
		const count = last ? this.#waiting.indexOf(last) + 1 : this.#waiting.length;
		for (const handle of this.#waiting.splice(0, count)) {
			const { element } = handle;
			const plain = handle.isShown ? "" : handle.plain;
			const glue = plain === "" ? "none" : "next";
			if (element) this.#mark("open", plain, element.open, glue, element);
			else if (plain !== "") this.#mark("swap", plain, "", glue);
			handle.isShown = true;
			this.#open.push(handle);
		}
	}

	#endLine(): void {
		if (!this.#rules.byLine || this.#newlines > 0) return;
		for (const handle of this.#open.toReversed()) this.#endToken(handle, "");
		this.#waiting.unshift(...this.#open.splice(0));
		if (!this.#linePrefix) return;
		this.#mark("close", "", "", "none", this.#linePrefix);
		this.#overhead -= this.#cost(this.#linePrefix);
		this.#linePrefix = undefined;
	}

	#endToken({ element }: Handle, plain: string): void {
		if (element) this.#mark("close", plain, element.close, plain ? "previous" : "none", element);
		else if (plain !== "") this.#mark("swap", plain, "", "previous");
		if (isMarker(element?.close)) this.#closedAt = this.#text.length;
	}

	#mark(kind: Mark["kind"], plain: string, markup: string, glue: Glue, element?: Element): void {
		const at = {
			at: this.#plain.length,
			skip: plain.length,
			textAt: this.#text.length,
			width: markup.length,
		};
		this.#marks.push({ kind, ...at, glue, ...(element && { element }) });
		this.#append(plain, markup);
	}

	#append(plain: string, markup: string): void {
		this.#plain += plain;
		this.#text += markup;
		this.#last = markup.at(-1) ?? this.#last;
	}

	#cost({ reopen, resume, close }: Element): number {
		return sizeOf(reopen + resume + close, this.#limit.unit);
	}
}

/** The tokens that platforms without tags use: one of these characters, once or more. */
function isMarker(token: string | undefined): boolean {
	return token !== undefined && /^[*_~`]+$/.test(token);
}

function isWord(char: string): boolean {
	return /[\p{L}\p{N}\p{M}_]/u.test(char);
}
