// The running Keryx's side of an update: the journal tells it to make room, and it becomes the launcher again, which continues. It stays
// the same process for its supervisor: a service manager, a terminal, a container.
import { unwatchFile, watchFile } from "node:fs";
import { HANDED_OVER, hasLauncher } from "./held.ts";
import { readJournal, updatePaths } from "./journal.ts";

const LOOK_MS = 250;

export interface Asked {
	/** Resolves when an update waits for this Keryx to make room. */
	readonly asked: Promise<void>;
	close(): void;
}

export function untilAsked(home: string): Asked {
	const { journal } = updatePaths(home);
	let look = () => {};
	const asked = new Promise<void>((resolve) => {
		look = () => {
			if (isAsked(home)) resolve();
		};
	});
	watchFile(journal, { interval: LOOK_MS, persistent: false }, look);
	look();
	return { asked, close: () => unwatchFile(journal, look) };
}

function isAsked(home: string): boolean {
	try {
		return readJournal(home)?.phase === "asked";
	} catch {
		// The command that wrote it finds out that nobody follows it.
		return false;
	}
}

/** Read before anything is closed: a script that was renamed since can no longer be found. */
export function forHandOver(): { readonly script: string; readonly words: readonly string[] } {
	const [, script = "", ...words] = process.argv;
	return { script, words };
}

/** This process becomes the launcher, as it was started at first. */
export function becomeLauncher(script: string, words: readonly string[]): never {
	const environment = Object.entries(process.env).filter(
		(entry): entry is [string, string] => entry[1] !== undefined,
	);
	process.execve?.(
		process.execPath,
		[process.execPath, ...process.execArgv, script, ...words],
		Object.fromEntries(environment),
	);
	// Without that call the supervisor restarts this process.
	process.exit(HANDED_OVER);
}

/** Never returns. Everything must be closed. */
export function handOver({ script, words }: ReturnType<typeof forHandOver>): never {
	if (process.stdin.isTTY) process.stdin.setRawMode(false);
	if (hasLauncher()) process.exit(HANDED_OVER);
	becomeLauncher(script, words);
}
