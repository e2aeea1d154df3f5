// All relevant processes, combined from the store and the disk. The two can differ: a dead host reports nothing, and without a gateway
// nobody records an end. Then both sides are shown.

import type { ProcessInfo } from "../../../processes/index.ts";
import { OPERATOR, type Process } from "../../../store/index.ts";
import { found } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";
import type { Reach } from "./reach.ts";

export interface Account {
	readonly id: string;
	/** The store's record. */
	readonly row: Process | null;
	/** The host's record, or what it left behind. */
	readonly info: ProcessInfo | null;
	/** Its host runs but does not answer. */
	readonly isUnreachable: boolean;
}

const WHOLE = /^proc_[0-9a-f]{12}$/;
/** As many as one request to the store returns. */
const MOST = 100_000;

/** Everything alive or without a recorded end, or everything; oldest first. */
export async function accounts(reach: Reach, { all }: { readonly all: boolean }): Promise<Account[]> {
	const { machine } = reach;
	const store = await reach.store();
	const infos = byId(await machine.inspect());
	const rows = byId(
		(all
			? await store?.processes({ scope: OPERATOR, limit: MOST })
			: await store?.unfinishedProcesses({ scope: OPERATOR })) ?? [],
	);
	// Read after the disk: a row exists before its process. Otherwise it is checked again.
	const fresh = [...rows.values()].filter((row) => row.endedAt === null && !infos.has(row.id));
	const later = byId(await machine.inspect(fresh.map(({ id }) => id)));
	const found: Account[] = [];
	for (const id of new Set([...rows.keys(), ...infos.keys()])) {
		const info = later.get(id) ?? infos.get(id) ?? null;
		const row = rows.get(id) ?? null;
		if (!all && row === null && info !== null && !lives(info)) continue;
		// An ended and forgotten one is not missing.
		const looksWrong = row === null || (row.endedAt === null && info === null);
		found.push({ id, info, row: looksWrong ? await rowOf(reach, id) : row, isUnreachable: false });
	}
	return found.filter((account) => all || isOpen(account)).toSorted((a, b) => startOf(a) - startOf(b));
}

/** The store's record of exactly this one. */
export async function rowOf(reach: Reach, id: string): Promise<Process | null> {
	// Other programs' hosts may have ids of another form; the store would take one for the beginning of another.
	if (!WHOLE.test(id)) return null;
	const store = await reach.store();
	return store && found(store.process({ scope: OPERATOR, id }));
}

function byId<One extends { readonly id: string }>(list: readonly One[]): Map<string, One> {
	return new Map(list.map((one) => [one.id, one]));
}

function lives({ status, survivors }: ProcessInfo): boolean {
	return status === "running" || survivors.length > 0;
}

function isOpen({ row, info }: Account): boolean {
	return (row !== null && row.endedAt === null) || (info !== null && lives(info));
}

export function startOf({ row, info }: Account): number {
	return info?.startedAt ?? row?.startedAt ?? 0;
}

/** missing: the store says that it runs, but nothing on this machine knows about it. */
export type AccountState = Process["status"] | "missing";

export function stateOf({ row, info }: Account, machine: string): AccountState {
	if (info) return info.status;
	if (!row) return "missing";
	if (row.status !== "running" || row.backend !== machine) return row.status;
	return "missing";
}

/** Remarks in addition to its state. */
export function remarksOn({ row, info, isUnreachable }: Account, machine: string): string[] {
	const remarks: string[] = [];
	if (isUnreachable) remarks.push(texts.processes.remarks.unreachable);
	const survivors = info?.survivors.join(", ") ?? "";
	if (info?.status === "lost")
		remarks.push(
			survivors === "" ? texts.processes.remarks.hostDied : texts.processes.remarks.hostDiedLeft(survivors),
		);
	else if (survivors !== "") remarks.push(texts.processes.remarks.left(survivors));
	if (row === null) remarks.push(texts.processes.remarks.notStored);
	else if (info === null) {
		if (row.backend !== machine) remarks.push(`on ${row.backend}`);
		else if (row.status === "running") remarks.push(texts.processes.remarks.unknown);
	} else if (row.endedAt === null && info.status !== "running")
		remarks.push(texts.processes.remarks.notRecorded);
	else if (row.endedAt !== null && info.status === "running")
		remarks.push(texts.processes.remarks.ended(row.status));
	return remarks;
}
