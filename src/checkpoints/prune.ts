// Prunes to the limits: oldest first, the newest stays. A row goes before its files, so that everything listed can be restored; then the
// repository is repacked and measured.
import type { Checkpoint } from "../store/index.ts";
import { cachedCommit, cacheFile } from "./cache.ts";
import { dropRefs, repack, sizeOf } from "./repository.ts";
import type { PruneReport } from "./types.ts";

export interface PruneInput {
	readonly maxSnapshots: number;
	readonly maxBytes: number;
	/** Oldest first. */
	readonly all: () => Promise<readonly Checkpoint[]>;
	/** Returns which of them are dropped: not one being restored. */
	readonly drop: (ids: readonly string[]) => Promise<readonly string[]>;
}

export async function pruneTo(repository: string, input: PruneInput): Promise<PruneReport> {
	const bytesBefore = await sizeOf(repository);
	const dropped: string[] = [];
	let all = await input.all();
	let excess = Math.max(0, all.length - Math.max(1, input.maxSnapshots));
	for (;;) {
		const gone = excess > 0 ? await input.drop(all.slice(0, excess).map(({ id }) => id)) : [];
		dropped.push(...gone);
		all = await input.all();
		await free(repository, all);
		const bytes = await sizeOf(repository);
		if (bytes <= input.maxBytes || all.length <= 1 || (excess > 0 && gone.length === 0))
			return { dropped, bytesBefore, bytes };
		// About as many as their share of the space, and never the newest.
		const share = Math.ceil(all.length * (1 - input.maxBytes / bytes));
		excess = Math.min(all.length - 1, Math.max(1, share));
	}
}

async function free(repository: string, kept: readonly Checkpoint[]): Promise<void> {
	const commits = new Set(kept.map(({ commit }) => commit));
	const cached = await cachedCommit(cacheFile(repository));
	await dropRefs(repository, new Set(kept.map(({ id }) => id)));
	await repack(repository, [...commits], cached);
}
