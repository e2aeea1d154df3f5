// All processes on this machine that belong to one (membership.ts), including its namespace and the holders of its pipes. Only proven
// members are signalled.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type Namespace, namespaceMembers } from "../walls/index.ts";
import { bootId, everyProcess, hasStream, hasVariable, isAlive } from "./identity.ts";
import { type Member, membersAmong } from "./membership.ts";
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

export function livingMembers({ id, folder, leader, witnesses, namespace }: Family): Member[] {
	const pipes = folder === undefined ? NONE : pipesIn(folder);
	const inNamespace = new Set(namespace ? namespaceMembers(namespace) : []);
	return membersAmong({
		bootId: bootId(),
		all: everyProcess().filter(({ pid }) => pid !== process.pid),
		leader,
		witnesses,
		isProven: ({ pid }) => inNamespace.has(pid),
		// Pipes are unique: whoever has one as input or output got it from the program.
		isMarked: ({ pid }, isInGroup) =>
			hasVariable(pid, `${MARK}=${id}`, { settle: isInGroup }) || hasStream(pid, pipes),
	});
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

function send(target: number, signal: NodeJS.Signals): boolean {
	try {
		process.kill(target, signal);
		return true;
	} catch {
		return false;
	}
}
