// Command completion: candidates narrow as one types; Tab takes their common part, then cycles.
import type { Complete, EditorState, Menu } from "./editor-state.ts";
import { offsetFrom } from "./text.ts";

/** The menu for the current command, if any. */
export function openMenu({ text, cursor }: EditorState, complete: Complete): Menu | null {
	const typed = text.slice(0, cursor);
	if (!typed.startsWith("/") || typed.includes("\n")) return null;
	return menuFor(typed, complete);
}

export function cycle(state: EditorState, way: 1 | -1, complete: Complete): EditorState {
	const typed = state.text.slice(0, state.cursor);
	const menu = state.menu ?? menuFor(typed, complete);
	if (!menu) return state;
	const { candidates, chosen } = menu;
	if (chosen !== null) return choose(state, menu, (chosen + way + candidates.length) % candidates.length);
	const [only] = candidates;
	if (candidates.length === 1 && only) {
		const taken = withLeft(state, only.text);
		return { ...taken, menu: menuFor(only.text, complete) };
	}
	const shared = sharedStart(candidates.map(({ text }) => text));
	if (shared.length > typed.length && shared.startsWith(typed)) {
		const taken = withLeft(state, shared);
		return { ...taken, menu: menuFor(shared, complete) };
	}
	return choose(state, menu, way === 1 ? 0 : candidates.length - 1);
}

/** Leaves the menu with what was written before. */
export function closeMenu(state: EditorState): EditorState {
	const { menu } = state;
	if (!menu || menu.chosen === null) return state;
	return { ...withLeft(state, menu.typed), menu: null };
}

function choose(state: EditorState, menu: Menu, chosen: number): EditorState {
	return { ...withLeft(state, menu.candidates[chosen]?.text ?? ""), menu: { ...menu, chosen } };
}

function menuFor(typed: string, complete: Complete): Menu | null {
	const candidates = complete(typed);
	return candidates.length === 0 ? null : { candidates, chosen: null, typed };
}

function withLeft(state: EditorState, left: string): EditorState {
	const text = left + state.text.slice(state.cursor);
	return { ...state, text, cursor: offsetFrom(text, left.length), historyIndex: state.history.length };
}

function sharedStart(texts: readonly string[]): string {
	return texts.reduce((shared, text) => {
		let length = 0;
		while (length < shared.length && shared[length] === text[length]) length++;
		return shared.slice(0, length);
	});
}
