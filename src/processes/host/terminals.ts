// Descriptors of terminals that are open here. The package opens them so that every child inherits them; no program behind a wall may.
const open = new Set<number>();

export function openTerminals(): readonly number[] {
	return [...open];
}

/** Answers what to call when it is closed. */
export function noteTerminal(descriptor: number): () => void {
	open.add(descriptor);
	return () => open.delete(descriptor);
}
