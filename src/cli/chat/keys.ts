// Converts terminal keys to editor keys.
import type { Key as TerminalKey } from "node:readline";

type KeyName =
	| "enter"
	| "newline"
	| "left"
	| "right"
	| "word-left"
	| "word-right"
	| "home"
	| "end"
	| "up"
	| "down"
	| "backspace"
	| "delete"
	| "kill-end"
	| "kill-start"
	| "kill-word"
	| "yank"
	| "tab"
	| "back-tab"
	| "search"
	| "escape"
	| "interrupt"
	| "end-of-input"
	| "clear";

export type Key =
	/** Typed, or pasted as one. */
	{ readonly kind: "text"; readonly text: string } | { readonly kind: KeyName };

const PLAIN: Readonly<Record<string, KeyName>> = {
	return: "enter",
	enter: "newline",
	left: "left",
	right: "right",
	up: "up",
	down: "down",
	home: "home",
	end: "end",
	backspace: "backspace",
	delete: "delete",
	tab: "tab",
	escape: "escape",
};

const CONTROL: Readonly<Record<string, KeyName>> = {
	a: "home",
	b: "left",
	c: "interrupt",
	d: "end-of-input",
	e: "end",
	f: "right",
	g: "escape",
	h: "backspace",
	j: "newline",
	k: "kill-end",
	l: "clear",
	n: "down",
	p: "up",
	r: "search",
	u: "kill-start",
	w: "kill-word",
	y: "yank",
	left: "word-left",
	right: "word-right",
};

const META: Readonly<Record<string, KeyName>> = {
	return: "newline",
	enter: "newline",
	b: "word-left",
	f: "word-right",
	left: "word-left",
	right: "word-right",
	backspace: "kill-word",
};

/** Reads one terminal key at a time; returns nothing for meaningless ones, and during a paste until its end. */
export function createKeyReader(): (typed: string | undefined, key: TerminalKey) => Key | undefined {
	let pasted: string | undefined;
	return (typed, key) => {
		if (key.name === "paste-start") {
			pasted = "";
			return undefined;
		}
		if (key.name === "paste-end") {
			const text = pasted ?? "";
			pasted = undefined;
			return text === "" ? undefined : { kind: "text", text };
		}
		if (pasted !== undefined) {
			pasted += key.sequence ?? typed ?? "";
			return undefined;
		}
		return keyOf(typed, key);
	};
}

function keyOf(typed: string | undefined, { name, ctrl, meta, shift }: TerminalKey): Key | undefined {
	if (name === "tab" && shift) return { kind: "back-tab" };
	const known = name === undefined ? undefined : (ctrl ? CONTROL : meta ? META : PLAIN)[name];
	if (known) return { kind: known };
	if (name === "escape") return { kind: "escape" };
	if (typed === undefined || ctrl || meta || /\p{Cc}/u.test(typed)) return undefined;
	return { kind: "text", text: typed };
}
