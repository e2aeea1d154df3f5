// Terminal descriptors open here. The package opens them inheritable; no walled program may inherit them.
const open = new Set<number>();

export function openTerminals(): readonly number[] {
	return [...open];
}

/** Returns what to call when it is closed. */
export function noteTerminal(descriptor: number): () => void {
	open.add(descriptor);
	return () => open.delete(descriptor);
}
