// What an update leaves behind, and for how long: versions before the last two, and the previous version's store.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { everyProcess } from "../processes/index.ts";
import { type Clock, Rounds } from "../time/index.ts";
import { readCurrent, readJournal, updatePaths, writeCurrent } from "./journal.ts";

const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;
/** Made by a command that may have been killed; the name contains its process id. */
const DRAFT = /^(?:incoming|trial)-(\d+)$/;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Folders of versions that are neither kept nor in use: a process host may run for weeks after its version. */
export function removeOldVersions(home: string, kept: readonly string[]): void {
	const { folder } = updatePaths(home);
	const used = commandLines();
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		const isKept = [...kept, ...used].some((text) => text.includes(`${path}/`));
		if (VERSION.test(name) && !isKept) rmSync(path, { recursive: true, force: true });
	}
}

export function removeDrafts(home: string, isAlive: (pid: number) => boolean): void {
	const { folder } = updatePaths(home);
	if (!existsSync(folder)) return;
	for (const name of readdirSync(folder)) {
		const [, pid] = DRAFT.exec(name) ?? [];
		if (pid !== undefined && !isAlive(Number(pid)))
			rmSync(join(folder, name), { recursive: true, force: true });
	}
}

/** Removes the previous version's store once this process has run for a day. Returns the cancel function. */
export function tidyWhenOld(
	home: string,
	{ clock, warn }: { readonly clock: Clock; readonly warn: (text: string) => void },
): { close(): Promise<void> } {
	const began = clock.monotonic();
	const rounds = new Rounds({
		clock,
		round: async () => {
			if (clock.monotonic() - began >= DAY_MS) forgetBefore(home);
			return readCurrent(home)?.before ? clock.now() + HOUR_MS : null;
		},
		failed: (error) => warn(`the store before the last update was not removed: ${(error as Error).message}`),
	});
	rounds.start();
	return { close: () => rounds.stop() };
}

/** An update that is under way needs it. */
function forgetBefore(home: string): void {
	const current = readCurrent(home);
	if (current?.before == null || readJournal(home) !== null) return;
	rmSync(updatePaths(home).before, { recursive: true, force: true });
	writeCurrent(home, { ...current, before: null });
}

function commandLines(): readonly string[] {
	return everyProcess().map(({ pid }) => commandLine(pid));
}

/** Empty if the system does not say. */
export function commandLine(pid: number): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
	} catch {
		return "";
	}
}
