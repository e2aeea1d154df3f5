// Splits streaming Markdown into pieces that can be rendered one by one: paragraphs, outermost list items, fences. A piece is returned
// only when nothing later can change its look. (Exception: a link definition below its use; the link is then shown as written.)

export interface Piece {
	readonly source: string;
	/** A blank line precedes it. */
	readonly apart: boolean;
}

interface Fence {
	readonly marker: string;
	/** It is in a list item: an unindented line ends both. */
	readonly inItem: boolean;
}

const FENCE = /^(?:(?:[-+*]|\d{1,9}[.)])[ \t]+|[ \t]+)*(`{3,}|~{3,})(.*)$/;
const BULLET = /^[-+*][ \t]+\S/;
const NUMBER = /^(\d{1,9})[.)][ \t]+\S/;
const RULE = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
/** Only what a marker or a rule could still begin with. */
const UNDECIDED = /^(?:[-+*_ \t]*|\d{1,9}[.)]?[ \t]*)$/;

export class PieceSplitter {
	#source = "";
	/** Where the current piece starts, and the next line to read. */
	#from = 0;
	#lineFrom = 0;
	#isApart = false;
	#sawBlank = false;
	#fence: Fence | undefined;
	/** The last item's number in a numbered list; NaN if the list's numbers do not count up. */
	#number: number | undefined;
	#isItem = false;

	/** All added text. */
	get source(): string {
		return this.#source;
	}

	/** How much was returned, including blank lines after it. */
	get given(): number {
		return this.#from;
	}

	/** The unfinished piece, as far as it is known. */
	get open(): Piece {
		return { source: this.#source.slice(this.#from), apart: this.#isApart };
	}

	/** The unfinished piece ends inside a fence. */
	get isInFence(): boolean {
		return this.#fence !== undefined;
	}

	/** Adds text; returns the pieces that are finished now. */
	add(text: string): Piece[] {
		this.#source += text;
		const pieces: Piece[] = [];
		while (this.#lineFrom < this.#source.length) {
			const feed = this.#source.indexOf("\n", this.#lineFrom);
			const isWhole = feed >= 0;
			const line = this.#source.slice(this.#lineFrom, isWhole ? feed : undefined).replace(/\r$/, "");
			const piece = this.#begins(line, isWhole) ? this.#give() : undefined;
			if (piece) pieces.push(piece);
			if (!isWhole) break;
			this.#read(line);
			this.#lineFrom = feed + 1;
		}
		return pieces;
	}

	/** Whether a piece starts with this line; also false while unknown. */
	#begins(line: string, isWhole: boolean): boolean {
		if (this.#lineFrom === this.#from) return false;
		if (this.#fence && !this.#isLeft(line)) return false;
		if (line === "" || /^[ \t]/.test(line)) return false;
		if (!isWhole && UNDECIDED.test(line)) return false;
		if (RULE.test(line)) return this.#sawBlank && isWhole;
		const number = NUMBER.exec(line)?.[1];
		if (number !== undefined) {
			// Numbers that do not count up are counted by the renderer of the whole list.
			if (this.#number !== undefined) return Number(number) === this.#number + 1;
			return this.#sawBlank || Number(number) === 1;
		}
		return this.#sawBlank || BULLET.test(line);
	}

	#give(): Piece | undefined {
		const source = this.#source.slice(this.#from, this.#lineFrom);
		const isApart = this.#isApart;
		this.#isApart = this.#sawBlank;
		this.#from = this.#lineFrom;
		this.#sawBlank = false;
		this.#number = undefined;
		this.#isItem = false;
		return source.trim() === "" ? undefined : { source, apart: isApart };
	}

	#read(line: string): void {
		if (line.trim() === "") {
			this.#sawBlank = true;
			return;
		}
		this.#sawBlank = false;
		if (this.#fence && !this.#isLeft(line)) {
			if (closes(line, this.#fence.marker)) this.#fence = undefined;
			return;
		}
		this.#fence = undefined;
		const number = NUMBER.exec(line)?.[1];
		if (number !== undefined) this.#count(Number(number));
		if (number !== undefined || BULLET.test(line)) this.#isItem = true;
		const [, marker, info] = FENCE.exec(line) ?? [];
		if (marker === undefined || (marker.startsWith("`") && info?.includes("`"))) return;
		this.#fence = { marker, inItem: this.#isItem && !/^[`~]/.test(line) };
	}

	#count(number: number): void {
		const isNext = this.#number === undefined || this.#number + 1 === number;
		this.#number = isNext ? number : Number.NaN;
	}

	/** The line is outside the item that contains the fence. */
	#isLeft(line: string): boolean {
		return this.#fence?.inItem === true && !/^[ \t]/.test(line);
	}
}

function closes(line: string, marker: string): boolean {
	const run = line.trim();
	return run.length >= marker.length && run === marker.charAt(0).repeat(run.length);
}
