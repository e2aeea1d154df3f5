// Going back to sent lines, step by step or by search.
import type { EditorState, Search } from "./editor-state.ts";
import type { Key } from "./keys.ts";
import { before, typable } from "./text.ts";

/** One step back or forward. The unsent text is kept after the newest line. */
export function recall(state: EditorState, way: "up" | "down"): EditorState {
	const { history, historyIndex } = state;
	const next = way === "up" ? historyIndex - 1 : historyIndex + 1;
	if (next < 0 || next > history.length) return state;
	const draft = historyIndex === history.length ? state.text : state.draft;
	const text = history[next] ?? draft;
	return { ...state, draft, historyIndex: next, text, cursor: text.length, goal: null };
}

export function beginSearch(state: EditorState): EditorState {
	const { text, cursor, historyIndex, history } = state;
	const draft = historyIndex === history.length ? text : state.draft;
	return {
		...state,
		draft,
		search: { query: "", found: history.length, before: { text, cursor, historyIndex } },
	};
}

/** A key during a search; undefined if it ends the search and keeps its usual meaning. */
export function searchKey(state: EditorState, search: Search, key: Key): EditorState | undefined {
	const newest = state.history.length - 1;
	if (key.kind === "text") {
		const query = search.query + typable(key.text).replaceAll("\n", " ");
		return found(state, { ...search, query }, newest);
	}
	if (key.kind === "backspace") {
		const query = search.query.slice(0, before(search.query, search.query.length));
		return found(state, { ...search, query }, newest);
	}
	if (key.kind === "search") return found(state, search, search.found - 1);
	if (key.kind === "escape" || key.kind === "interrupt") return { ...state, ...search.before, search: null };
	if (key.kind === "enter") return { ...state, search: null };
	return undefined;
}

/** Searches backwards from a line; if nothing is found, the last match stays. */
function found(state: EditorState, search: Search, from: number): EditorState {
	const { history } = state;
	const query = search.query.toLowerCase();
	if (query === "") return { ...state, ...search.before, search: { ...search, found: history.length } };
	for (let historyIndex = from; historyIndex >= 0; historyIndex--) {
		const text = history[historyIndex];
		if (text?.toLowerCase().includes(query))
			return {
				...state,
				text,
				cursor: text.length,
				historyIndex,
				search: { ...search, found: historyIndex },
			};
	}
	const isNowhere = from === history.length - 1;
	return { ...state, search: isNowhere ? { ...search, found: history.length } : search };
}
