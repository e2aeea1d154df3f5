// The input box as a pure state machine: a state and a key give the next state and the actions.
import { closeMenu, cycle, openMenu } from "./completion.ts";
import type { Complete, EditorState, Menu } from "./editor-state.ts";
import { beginSearch, recall, searchKey } from "./history.ts";
import type { Key } from "./keys.ts";
import {
	after,
	before,
	blankBefore,
	columnOf,
	lineEnd,
	lineStart,
	offsetAt,
	offsetFrom,
	typable,
	wordAfter,
	wordBefore,
} from "./text.ts";

export type Effect =
	| { readonly kind: "submit"; readonly text: string }
	/** A line for the history; repeats of the last are skipped. */
	| { readonly kind: "remember"; readonly text: string }
	| { readonly kind: "interrupt" | "leave" | "clear" };

export interface Step {
	readonly state: EditorState;
	readonly effects: readonly Effect[];
}

export function createEditor(history: readonly string[] = []): EditorState {
	return {
		text: "",
		cursor: 0,
		killed: "",
		isKilling: false,
		goal: null,
		history,
		historyIndex: history.length,
		draft: "",
		menu: null,
		search: null,
	};
}

export function reduce(state: EditorState, key: Key, complete: Complete): Step {
	if (state.search) {
		const searching = searchKey(state, state.search, key);
		return searching ? still(searching) : reduce({ ...state, search: null }, key, complete);
	}
	const step = act(state, key, complete);
	const isCut = key.kind === "kill-end" || key.kind === "kill-start" || key.kind === "kill-word";
	const isVertical = key.kind === "up" || key.kind === "down";
	const isMenu = key.kind === "tab" || key.kind === "back-tab";
	return {
		...step,
		state: {
			...step.state,
			isKilling: isCut && step.state.isKilling,
			goal: isVertical ? step.state.goal : null,
			menu: isMenu ? step.state.menu : menuAfter(step.state, state, key, complete),
		},
	};
}

/** Puts a text into the box. The previous text can be restored like any cut. */
export function replaceText(state: EditorState, text: string): EditorState {
	const taken = typable(text);
	const killed = state.text === "" ? state.killed : state.text;
	return {
		...edited(state, taken, taken.length),
		killed,
		isKilling: false,
		goal: null,
		menu: null,
		search: null,
	};
}

function act(state: EditorState, key: Key, complete: Complete): Step {
	const { text, cursor } = state;
	switch (key.kind) {
		case "text":
			return still(insert(state, typable(key.text)));
		case "newline":
			return still(insert(state, "\n"));
		case "enter":
			return enter(state);
		case "left":
			return still({ ...state, cursor: before(text, cursor) });
		case "right":
			return still({ ...state, cursor: after(text, cursor) });
		case "word-left":
			return still({ ...state, cursor: wordBefore(text, cursor) });
		case "word-right":
			return still({ ...state, cursor: wordAfter(text, cursor) });
		case "home":
			return still({ ...state, cursor: lineStart(text, cursor) });
		case "end":
			return still({ ...state, cursor: lineEnd(text, cursor) });
		case "up":
		case "down":
			return still(vertical(state, key.kind));
		case "backspace":
			return still(without(state, before(text, cursor), cursor));
		case "delete":
			return still(without(state, cursor, after(text, cursor)));
		case "end-of-input":
			if (text === "") return { state, effects: [{ kind: "leave" }] };
			return still(without(state, cursor, after(text, cursor)));
		case "kill-end": {
			const end = lineEnd(text, cursor);
			return still(cut(state, cursor, end === cursor ? after(text, cursor) : end));
		}
		case "kill-start":
			return still(cut(state, lineStart(text, cursor), cursor));
		case "kill-word":
			return still(cut(state, blankBefore(text, cursor), cursor));
		case "yank":
			return still(insert(state, state.killed));
		case "tab":
			return still(cycle(state, 1, complete));
		case "back-tab":
			return still(cycle(state, -1, complete));
		case "escape":
			return still(closeMenu(state));
		case "search":
			return still(beginSearch(state));
		case "interrupt":
			if (text === "") return { state, effects: [{ kind: "interrupt" }] };
			return still({ ...edited(state, "", 0), killed: text });
		case "clear":
			return { state, effects: [{ kind: "clear" }] };
	}
}

function still(state: EditorState): Step {
	return { state, effects: [] };
}

function enter(state: EditorState): Step {
	const { text, cursor, history } = state;
	if (text.endsWith("\\") && cursor === text.length)
		return still(edited(state, `${text.slice(0, -1)}\n`, cursor));
	if (text.trim() === "") return still(state);
	const isNew = history.at(-1) !== text;
	const known = isNew ? [...history, text] : history;
	return {
		state: { ...state, text: "", cursor: 0, history: known, historyIndex: known.length, draft: "" },
		effects: [...(isNew ? [{ kind: "remember", text } as const] : []), { kind: "submit", text }],
	};
}

function insert(state: EditorState, added: string): EditorState {
	if (added === "") return state;
	const { text, cursor } = state;
	return edited(state, text.slice(0, cursor) + added + text.slice(cursor), cursor + added.length);
}

function without(state: EditorState, from: number, to: number): EditorState {
	if (from === to) return state;
	return edited(state, state.text.slice(0, from) + state.text.slice(to), from);
}

function cut(state: EditorState, from: number, to: number): EditorState {
	if (from === to) return state;
	const piece = state.text.slice(from, to);
	const earlier = state.isKilling ? state.killed : "";
	const killed = from === state.cursor ? earlier + piece : piece + earlier;
	return { ...without(state, from, to), killed, isKilling: true };
}

/** Edited text counts as new, wherever it came from. */
function edited(state: EditorState, text: string, cursor: number): EditorState {
	return { ...state, text, cursor: offsetFrom(text, cursor), historyIndex: state.history.length };
}

function vertical(state: EditorState, way: "up" | "down"): EditorState {
	const { text, cursor } = state;
	const goal = state.goal ?? columnOf(text, cursor);
	const start = lineStart(text, cursor);
	const end = lineEnd(text, cursor);
	if (way === "up" && start > 0) return { ...state, goal, cursor: offsetAt(text, start - 1, goal) };
	if (way === "down" && end < text.length) return { ...state, goal, cursor: offsetAt(text, end + 1, goal) };
	return recall(state, way);
}

/** While typing a command, its completions are shown; moving the cursor closes them. */
function menuAfter(state: EditorState, earlier: EditorState, key: Key, complete: Complete): Menu | null {
	if (key.kind === "escape" || state.text === earlier.text || state.historyIndex < state.history.length)
		return null;
	return openMenu(state, complete);
}
