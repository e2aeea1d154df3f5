// All processes that belong to one: itself, its group and session, its namespace, everything with its mark, and their children. Only
// proven members are signalled: a group number alone is not proof, because numbers are reused.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type Namespace, namespaceMembers } from "../walls/index.ts";
import {
	bootId,
	everyProcess,
	hasStream,
	hasVariable,
	isAlive,
	type RunningProcess,
	startOrder,
} from "./identity.ts";
import type { ProcessIdentity } from "./types.ts";

/** Set in the environment of every process, and inherited by what it starts. */
export const MARK = "KERYX_PROCESS";

export interface Family {
	readonly id: string;
	/** Where its pipes were created. */
	readonly folder?: string;
	readonly leader: ProcessIdentity | null;
	/** Members seen before. They stay members, even after leaving the group and changing their environment. */
	readonly witnesses: readonly ProcessIdentity[];
	/** For a walled program, while alive: everything in its namespace belongs to it. */
	readonly namespace?: Namespace | null;
}

export interface Member extends ProcessIdentity {
	readonly group: number;
}

export function livingMembers(family: Family): Member[] {
	const { id, folder, leader, witnesses, namespace } = family;
	const pipes = folder === undefined ? NONE : pipesIn(folder);
	const inNamespace = new Set(namespace ? namespaceMembers(namespace) : []);
	const all = everyProcess().filter(({ pid }) => pid !== process.pid);
	const known = new Map(
		[...(leader ? [leader] : []), ...witnesses]
			.filter((identity) => identity.bootId === bootId())
			.map((identity) => [identity.pid, identity.startTime]),
	);
	const isKnown = ({ pid, startTime }: RunningProcess) => known.get(pid) === startTime;
	const inGroup = ({ group, session }: RunningProcess) =>
		leader !== null && (group === leader.pid || session === leader.pid);
	// While a member is in it the kernel does not reuse its number, so everything in it belongs to it.
	const isGroupOurs = all.some((one) => isKnown(one) && inGroup(one));
	const since = leader?.bootId === bootId() && leader.startTime !== "" ? startOrder(leader.startTime) : 0;
	// Pipes are unique: whoever has one as input or output got it from the program.
	const isMarked = (one: RunningProcess) =>
		startOrder(one.startTime) >= since &&
		(hasVariable(one.pid, `${MARK}=${id}`, { settle: inGroup(one) }) || hasStream(one.pid, pipes));
	const members = new Map<number, RunningProcess>();
	for (const one of all)
		if (
			isKnown(one) ||
			inNamespace.has(one.pid) ||
			(isGroupOurs && inGroup(one)) ||
			(!one.isZombie && isMarked(one))
		)
			members.set(one.pid, one);
	addDescendants(members, all);
	return [...members.values()]
		.filter(({ isZombie }) => !isZombie)
		.map(({ pid, startTime, group }) => ({ bootId: bootId(), pid, startTime, group }));
}

const NONE: ReadonlySet<string> = new Set();

/** By the kernel's identifiers: their names are gone by then. */
function pipesIn(folder: string): ReadonlySet<string> {
	try {
		const real = realpathSync(folder);
		return new Set(["stdin", "stdout"].map((name) => `${join(real, name)} (deleted)`));
	} catch {
		return new Set();
	}
}

/** False if it is gone, or may not be signalled. */
export function signalOne(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
	return isAlive(identity) && send(identity.pid, signal);
}

/** In one call for the whole group, as long as its leader is alive. */
export function signalGroup(leader: ProcessIdentity, signal: NodeJS.Signals): boolean {
	return isAlive(leader) && send(-leader.pid, signal);
}

function addDescendants(members: Map<number, RunningProcess>, all: readonly RunningProcess[]): void {
	for (let before = -1; before !== members.size; ) {
		before = members.size;
		for (const one of all) if (members.has(one.parent)) members.set(one.pid, one);
	}
}

function send(target: number, signal: NodeJS.Signals): boolean {
	try {
		process.kill(target, signal);
		return true;
	} catch {
		return false;
	}
}
