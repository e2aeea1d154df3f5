// Hiding in values of any form: texts, names of fields, numbers and bytes, however deep they stand.
import { isChance, isHolder, type Place, placeOf } from "./structure.ts";

export interface Hiding {
	/** Whether there is anything to hide in it. */
	isIn(text: string): boolean;
	isInBytes(bytes: Uint8Array): boolean;
	/** Whether a number may be one. */
	readonly hasNumbers: boolean;
	hide(text: string): string;
	hideBytes(bytes: Uint8Array): Uint8Array;
	/** How many characters the longest find in it has. */
	longestIn(text: string): number;
}

/** The same value where there is nothing to hide. `rows`: it goes into the store, whose own words are left alone. */
export function hideIn<Value>(value: Value, hiding: Hiding, rows: boolean): Value {
	if (!touches(value, hiding, rows)) return value;
	return hidden(value, hiding, rows ? OWN : TEXT) as Value;
}

/** Whether hiding would change it: a name that stands for a secret is none. */
export function isHiddenIn(value: unknown, hiding: Hiding, rows: boolean): boolean {
	return JSON.stringify(value) !== JSON.stringify(hideIn(value, hiding, rows));
}

/** Looked at first: nearly always there is nothing, and nothing is copied. `isOwn`: the names of its fields are Keryx's. */
function touches(value: unknown, hiding: Hiding, isOwn: boolean): boolean {
	if (typeof value === "string") return hiding.isIn(value);
	if (typeof value === "number") return hiding.hasNumbers && hiding.isIn(String(value));
	if (typeof value !== "object" || value === null) return false;
	if (Array.isArray(value)) {
		for (const item of value) if (touches(item, hiding, isOwn)) return true;
		return false;
	}
	if (value instanceof Uint8Array) return hiding.isInBytes(value);
	for (const name in value) {
		const item = (value as Readonly<Record<string, unknown>>)[name];
		if (typeof item === "string" ? hiding.isIn(item) : touches(item, hiding, isOwn && isHolder(name)))
			return true;
		if (!isOwn && hiding.isIn(name)) return true;
	}
	return false;
}

interface Where {
	/** What a text here is. */
	readonly place: Place;
	/** The fields of an object here have names that Keryx gave them, and are judged by these. */
	readonly isHolder: boolean;
	/** Numbers here are counts, times and the like. */
	readonly hasCounts: boolean;
}

const OWN: Where = { place: "text", isHolder: true, hasCounts: true };
const TEXT: Where = { place: "text", isHolder: false, hasCounts: false };

function hidden(value: unknown, hiding: Hiding, where: Where): unknown {
	if (typeof value === "string") return mayStay(value, hiding, where) ? value : hiding.hide(value);
	if (typeof value === "number") {
		const text = where.hasCounts ? "" : hiding.hide(String(value));
		return where.hasCounts || text === String(value) ? value : text;
	}
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map((item) => hidden(item, hiding, where));
	if (value instanceof Uint8Array) return hiding.hideBytes(value);
	const fields = Object.entries(value).map(([name, item]) =>
		where.isHolder
			? [name, hidden(item, hiding, { place: placeOf(name), isHolder: isHolder(name), hasCounts: true })]
			: [hiding.hide(name), hidden(item, hiding, TEXT)],
	);
	return Object.fromEntries(fields);
}

function mayStay(text: string, hiding: Hiding, { place }: Where): boolean {
	return place !== "text" && isChance(place, text, hiding.longestIn(text));
}
