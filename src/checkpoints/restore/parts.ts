// Writes the files of a large restore in several threads. Each waits for the disk on its own, and every core has something to do.
import { availableParallelism } from "node:os";
import type { RawPath } from "../names.ts";
import type { FilesThread } from "../thread.ts";
import { type Outcome, type Write, type WriteRequest, type Writing, writeFiles } from "./write.ts";

/** Below this, starting threads costs more than they save. */
const MANY = 2000;
const MOST_THREADS = 4;

export type WriteAll = (request: WriteRequest) => Promise<Writing>;

/** Fails only when every thread has stopped: whoever holds the workspace's lock may let go of it then. */
export function inThreads(start: () => Pick<FilesThread, "ask" | "close">): WriteAll {
	return async (request) => {
		const count = Math.min(MOST_THREADS, availableParallelism());
		const parts = request.writes.length < MANY ? [] : partsOf(request, count);
		if (parts.length < 2) return writeFiles(request);
		const answers = await Promise.allSettled(
			parts.map(async (part) => {
				const thread = start();
				try {
					return await thread.ask("write", part);
				} finally {
					await thread.close();
				}
			}),
		);
		return joined(answers.map(answered));
	};
}

/** Names of one file stay together: replacing one of them changes the times that the others are known by. */
export function partsOf(request: WriteRequest, count: number): readonly WriteRequest[] {
	const names = new Map<bigint, number>();
	for (const { seen } of request.writes) if (seen) names.set(seen.ino, (names.get(seen.ino) ?? 0) + 1);
	const isLinked = ({ seen }: Write) => seen !== undefined && (names.get(seen.ino) ?? 0) > 1;
	const linked = request.writes.filter(isLinked);
	const single = request.writes.filter((write) => !isLinked(write));
	const each = Math.ceil(single.length / count);
	return Array.from({ length: count }, (_, n) => ({
		...request,
		part: n,
		parts: count,
		writes: [...(n === 0 ? linked : []), ...single.slice(n * each, (n + 1) * each)],
	})).filter(({ writes }) => writes.length > 0);
}

function answered(answer: PromiseSettledResult<Writing>): Writing {
	if (answer.status === "rejected") throw answer.reason;
	return answer.value;
}

function joined(all: readonly Writing[]): Writing {
	return {
		outcomes: new Map<RawPath, Outcome>(all.flatMap(({ outcomes }) => [...outcomes])),
		written: new Map(all.flatMap(({ written }) => [...written])),
	};
}
