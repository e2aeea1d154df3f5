// What a person has unfolded stays so when it is drawn again: scrolled away and back, or when a row takes the place of an earlier one.
import { type MouseEvent, type SyntheticEvent, useSyncExternalStore } from "react";

const unfolded = new Set<string>();
const listeners = new Set<() => void>();

function set(key: string, isOpen: boolean): void {
	if (unfolded.has(key) === isOpen) return;
	if (isOpen) unfolded.add(key);
	else unfolded.delete(key);
	for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** The attributes of a `<details>` element. */
export function useUnfolded(key: string): {
	readonly open: boolean;
	readonly onClick: (event: MouseEvent<HTMLDetailsElement>) => void;
	readonly onToggle: (event: SyntheticEvent<HTMLDetailsElement>) => void;
} {
	const open = useSyncExternalStore(listen, () => unfolded.has(key));
	return {
		open,
		// At once: the browser tells of a toggle later, when another element may be in its place.
		onClick: (event) => {
			const summary = (event.target as Element).closest("summary");
			if (summary?.parentElement !== event.currentTarget) return;
			event.preventDefault();
			set(key, !unfolded.has(key));
		},
		// Found by the browser's search.
		onToggle: ({ currentTarget }) => set(key, currentTarget.open),
	};
}
