// Reads processes from their files, with or without a host. A process without an end whose host is gone is lost: its outcome is unknown,
// but survivors are found, and can be killed.
import { KeryxError } from "../errors.ts";
import { findNamespace } from "../walls/index.ts";
import { endFamily } from "./ending.ts";
import {
	createGivenUp,
	hasFolder,
	type ProcessRecord,
	processFolder,
	processIds,
	readGivenUp,
	readRecord,
	removeFolder,
	removePipes,
	wallStatusFile,
	writeForgotten,
} from "./files.ts";
import { bootId, identityOf, isAlive } from "./identity.ts";
import { logSize } from "./log/files.ts";
import { type Family, livingMembers } from "./members.ts";
import type { KillOptions, KillOutcome, ProcessEnd, ProcessInfo, ProcessStatus } from "./types.ts";

/** All that were not forgotten, oldest first; or those among the given ids. */
export async function inspect(home: string, ids?: readonly string[]): Promise<ProcessInfo[]> {
	const found: ProcessInfo[] = [];
	for (const id of ids ?? (await processIds(home))) {
		const record = await readRecord(home, id);
		if (!record || record.isForgotten) continue;
		const info = await infoOf(record).catch((error: NodeJS.ErrnoException) => {
			// It was removed while being read.
			if (error.code === "ENOENT") return null;
			throw error;
		});
		if (info) found.push(info);
	}
	return found.sort(byAge);
}

export async function inspectProcess(home: string, id: string): Promise<ProcessInfo> {
	return infoOf(await knownRecord(home, id));
}

/** For a process without a host: what it left behind, or itself. For a running one, ask its host. */
export async function killSurvivors(
	home: string,
	id: string,
	options: KillOptions = {},
): Promise<KillOutcome> {
	const record = await knownRecord(home, id);
	if (statusOf(record) === "running") throw stillRuns(id);
	const family = familyOf(record);
	if (livingMembers(family).length === 0) return { result: "already_exited", survivors: [] };
	const survivors = await endFamily(family, options);
	if (!record.end) await removePipes(record.folder);
	if (survivors.length > 0) return { result: "survived", survivors };
	return { result: record.end ? "already_exited" : "killed", survivors };
}

/** True: it will never be started. False: it has been started. */
export async function giveUpProcess(home: string, id: string, hostPid: number | null): Promise<boolean> {
	try {
		await createGivenUp(home, id, hostPid === null ? null : identityOf(hostPid));
		return true;
	} catch (error) {
		if (!(error instanceof KeryxError) || error.code !== "process.taken") throw error;
		// By a gateway that died before it could say so.
		return (await readGivenUp(home, id)) !== null;
	}
}

/** Removes it from the list and keeps its log. */
export async function forgetProcess(home: string, id: string): Promise<void> {
	const record = await knownRecord(home, id);
	refuseWhileAlive(record);
	if (!record.end) await removePipes(record.folder);
	await writeForgotten(record.folder);
}

/** Deletes its log and all records, forgotten or not. */
export async function removeProcess(home: string, id: string): Promise<void> {
	const record = await readRecord(home, id);
	if (record) refuseWhileAlive(record);
	else if (!(await hasFolder(home, id))) {
		// Its host may have died while it made the folder.
		await removeFolder(processFolder(home, id));
		throw unknown(id);
	} else {
		const host = (await readGivenUp(home, id))?.host;
		if (host && isAlive(host))
			throw new KeryxError("process.running", `the host that was asked for ${id} may still read that`);
	}
	await removeFolder(processFolder(home, id));
}

function byAge(a: ProcessInfo, b: ProcessInfo): number {
	return a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1);
}

export function endedStatus({ cause }: ProcessEnd): ProcessStatus {
	return cause === "signal" ? "exited" : cause;
}

export function unknown(id: string): KeryxError {
	return new KeryxError("process.unknown", `there is no process ${id}`);
}

export function stillRuns(id: string): KeryxError {
	return new KeryxError("process.running", `process ${id} is still running`);
}

async function knownRecord(home: string, id: string): Promise<ProcessRecord> {
	const record = await readRecord(home, id);
	if (!record || record.isForgotten) throw unknown(id);
	return record;
}

async function infoOf(record: ProcessRecord): Promise<ProcessInfo> {
	const { id, folder, meta } = record;
	const { survivors: _, ...end } = record.end ?? { survivors: [] };
	const status = statusOf(record);
	return {
		id,
		argv: meta.argv,
		cwd: meta.cwd,
		pty: meta.pty,
		startedAt: meta.startedAt,
		identity: meta.identity,
		status,
		end: record.end && (end as ProcessEnd),
		survivors: status === "running" ? [] : survivorsOf(record),
		logSize: await logSize(folder),
	};
}

function statusOf({ end, isHeld }: ProcessRecord): ProcessStatus {
	if (end) return endedStatus(end);
	return isHeld ? "running" : "lost";
}

/** If nothing was left at the end, nothing can be there now: only members start others. */
function survivorsOf(record: ProcessRecord): number[] {
	if (record.end?.survivors.length === 0) return [];
	return livingMembers(familyOf(record)).map(({ pid }) => pid);
}

function familyOf({ id, folder, meta, end }: ProcessRecord): Family {
	// An ended one has no namespace any more; nor has one of an earlier boot.
	const namespace = end || meta.host.bootId !== bootId() ? null : findNamespace(wallStatusFile(folder));
	return { id, folder, leader: meta.identity, witnesses: end?.survivors ?? [], namespace };
}

function refuseWhileAlive(record: ProcessRecord): void {
	if (statusOf(record) === "running") throw stillRuns(record.id);
	const survivors = survivorsOf(record);
	if (survivors.length > 0)
		throw new KeryxError(
			"process.running",
			`process ${record.id} left others behind: ${survivors.join(", ")}`,
		);
}
