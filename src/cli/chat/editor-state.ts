// What the input box knows. Everything is a value: a key makes a new state.

export interface EditorState {
	readonly text: string;
	/** In UTF-16 units, always between two characters as a reader sees them. */
	readonly cursor: number;
	/** What was cut last, and whether that was just now: the next cut then adds to it. */
	readonly killed: string;
	readonly isKilling: boolean;
	/** The column that up and down keep to. */
	readonly goal: number | null;
	/** What was sent before, oldest first. */
	readonly history: readonly string[];
	/** Where in the history the text was taken from; its length for what is being written. */
	readonly historyIndex: number;
	/** What was being written when one went back. */
	readonly draft: string;
	readonly menu: Menu | null;
	readonly search: Search | null;
}

export interface Completion {
	/** What stands left of the cursor once it is taken. */
	readonly text: string;
	/** What is shown for it. */
	readonly label: string;
	readonly description: string;
}

/** The ways to go on from what stands left of the cursor. */
export type Complete = (line: string) => readonly Completion[];

export interface Menu {
	readonly candidates: readonly Completion[];
	/** None is taken at first. */
	readonly chosen: number | null;
	/** What was written before one was taken. */
	readonly typed: string;
}

export interface Search {
	readonly query: string;
	/** Which line of the history was found; its length while none is. */
	readonly found: number;
	readonly before: Pick<EditorState, "text" | "cursor" | "historyIndex">;
}
