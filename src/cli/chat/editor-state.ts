// The input box's state, an immutable value: each key makes a new one.

export interface EditorState {
	readonly text: string;
	/** In UTF-16 units, always between two characters as a reader sees them. */
	readonly cursor: number;
	/** The last cut text, and whether it was just cut: the next cut then adds to it. */
	readonly killed: string;
	readonly isKilling: boolean;
	/** The column that up and down keep to. */
	readonly goal: number | null;
	/** Sent lines, oldest first. */
	readonly history: readonly string[];
	/** Which history entry the text came from; the history's length for new text. */
	readonly historyIndex: number;
	/** The unsent text before going back. */
	readonly draft: string;
	readonly menu: Menu | null;
	readonly search: Search | null;
}

export interface Completion {
	/** The text left of the cursor once taken. */
	readonly text: string;
	/** The text shown for it. */
	readonly label: string;
	readonly description: string;
}

/** The possible continuations of the text left of the cursor. */
export type Complete = (line: string) => readonly Completion[];

export interface Menu {
	readonly candidates: readonly Completion[];
	/** None is taken at first. */
	readonly chosen: number | null;
	/** The text before one was taken. */
	readonly typed: string;
}

export interface Search {
	readonly query: string;
	/** The found history line; the history's length while none. */
	readonly found: number;
	readonly before: Pick<EditorState, "text" | "cursor" | "historyIndex">;
}
