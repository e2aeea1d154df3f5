// How a process ended. Recording an end removes it from its host's list at once: so it is heard live, or found on disk or in the store.

import type { endInWords, ProcessBackend, ProcessInfo } from "../../../processes/index.ts";
import { texts } from "../../texts.ts";
import { rowOf } from "./account.ts";
import type { Reach } from "./reach.ts";

/** In the words of the record. */
export type Ended = Parameters<typeof endInWords>[0];

const LOST = texts.processes.hostDied;

/** For an ended or lost one. */
export function endedAs({ status, end }: ProcessInfo): Ended {
	return {
		status: status === "running" ? "lost" : status,
		exitCode: end?.code ?? null,
		signal: end?.signal ?? null,
		cause: end?.reason ?? LOST,
	};
}

/** From now on. */
export function listenForEnd(backend: ProcessBackend, id: string): { heard(): Ended | null } {
	let heard: Ended | null = null;
	backend.onEnd((info) => {
		if (info.id === id) heard = endedAs(info);
	});
	return { heard: () => heard };
}

/** Null while it runs, and if unknown. */
export async function endOf(reach: Reach, id: string): Promise<Ended | null> {
	const [info] = await reach.machine.inspect([id]);
	if (info) return info.status === "running" ? null : endedAs(info);
	const row = await rowOf(reach, id);
	if (!row || row.endedAt === null) return null;
	const { status, exitCode, signal, cause } = row;
	return { status: status as Ended["status"], exitCode, signal, cause: cause ?? "" };
}
