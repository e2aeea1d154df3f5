// Hides in values of any form: texts, field names, numbers and bytes, at any depth.
import { KeryxError } from "../errors.ts";
import { isChance, isFree, isHolder, roleOf, type TextRole } from "./structure.ts";

export interface Hiding {
	/** Whether there is anything to hide in it. */
	isIn(text: string): boolean;
	isInBytes(bytes: Uint8Array): boolean;
	/** Whether a number may be a secret. */
	readonly hasNumbers: boolean;
	hide(text: string): string;
	hideBytes(bytes: Uint8Array): Uint8Array;
	/** The length of the longest match in it, in characters. */
	longestIn(text: string): number;
	/** For outside data that Keryx acts on, which must keep its exact bytes; default: this one. */
	readonly exact?: Hiding;
}

/**
 * Who defined an object's fields. own: Keryx, each judged by its name. other: Keryx too, but every text in them is text.
 * free: someone else, so names and numbers may be secrets as well.
 */
export type Ground = "own" | "other" | "free";

/** Deeper values would not fit on the stack of the thread that reads them, and nobody would get an answer. */
const DEEPEST = 500;

/** Returns the same value if there is nothing to hide. */
export function hideIn<Value>(value: Value, hiding: Hiding, ground: Ground): Value {
	return touches(value, hiding, ground) ? (hidden(value, hiding, ground, "") as Value) : value;
}

/** Whether hiding would change it; a name that stands for a secret does not count. */
export function isHiddenIn(value: unknown, hiding: Hiding, ground: Ground): boolean {
	const found = hideIn(value, hiding, ground);
	return found !== value && JSON.stringify(value) !== JSON.stringify(found);
}

/** Checked first: nearly always there is nothing to hide, and nothing is copied. */
function touches(value: unknown, hiding: Hiding, ground: Ground, depth = 0): boolean {
	if (typeof value === "string") return hiding.isIn(value);
	if (typeof value === "number") return hiding.hasNumbers && hiding.isIn(String(value));
	if (typeof value !== "object" || value === null) return false;
	assertShallow(depth);
	if (Array.isArray(value)) {
		for (const item of value) if (touches(item, hiding, ground, depth + 1)) return true;
		return false;
	}
	if (value instanceof Uint8Array) return hiding.isInBytes(value);
	for (const name in value) {
		const item = (value as Readonly<Record<string, unknown>>)[name];
		if (typeof item === "string" ? hiding.isIn(item) : touches(item, hiding, within(ground, name), depth + 1))
			return true;
		if (ground !== "own" && hiding.isIn(name)) return true;
	}
	return false;
}

function within(ground: Ground, field: string): Ground {
	if (ground === "free" || isFree(field)) return "free";
	return ground === "own" && isHolder(field) ? "own" : "other";
}

/** `field`: its name. `role`: the role of a text there. */
function hidden(
	value: unknown,
	hiding: Hiding,
	ground: Ground,
	field: string,
	role: TextRole = "text",
	depth = 0,
): unknown {
	if (ground === "free" && hiding.exact) return hidden(value, hiding.exact, ground, field, role, depth);
	if (typeof value === "string") return hiddenText(value, hiding, role);
	if (typeof value === "number") {
		const text = ground === "free" ? hiding.hide(String(value)) : String(value);
		return text === String(value) ? value : text;
	}
	if (typeof value !== "object" || value === null) return value;
	assertShallow(depth);
	if (Array.isArray(value)) return value.map((item) => hidden(item, hiding, ground, field, role, depth + 1));
	if (value instanceof Uint8Array) return hiding.hideBytes(value);
	return Object.fromEntries(
		Object.entries(value).map(([name, item]) => [
			ground === "own" ? name : hiddenText(name, hiding, ground === "free" ? "text" : "kind"),
			hidden(
				item,
				hiding,
				within(ground, name),
				name,
				ground === "own" ? roleOf(name, field) : "text",
				depth + 1,
			),
		]),
	);
}

function assertShallow(depth: number): void {
	if (depth > DEEPEST)
		throw new KeryxError("argument.invalid", `a value is nested more than ${DEEPEST} levels deep`);
}

function hiddenText(text: string, hiding: Hiding, role: TextRole): string {
	return role !== "text" && isChance(role, text, hiding.longestIn(text)) ? text : hiding.hide(text);
}
