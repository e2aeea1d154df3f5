// Commands that are known and wait for a part of Keryx that is not there yet. Each says so; /help does not list them.

const WAITING: Readonly<Record<string, string>> = {
	checkpoint: "file checkpoints",
	rollback: "file checkpoints",
	diff: "file checkpoints",
};

export const WAITING_NAMES: readonly string[] = Object.keys(WAITING);

/** Undefined for a command that does not wait for anything. */
export function waitingSentence(name: string): string | undefined {
	const part = Object.hasOwn(WAITING, name) ? WAITING[name] : undefined;
	return part && `/${name} waits for a part that this Keryx does not have yet: ${part}. Nothing was changed.`;
}
