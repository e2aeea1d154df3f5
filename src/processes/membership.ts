// Decides which running processes belong to one, here or on another machine: itself, its group and session, everything with its mark, and
// their children. Pure. Only proven members count: a group number alone is not proof, because numbers are reused.
import { type RunningProcess, startOrder } from "./identity.ts";
import type { ProcessIdentity } from "./types.ts";

export interface Member extends ProcessIdentity {
	readonly group: number;
}

export interface MembershipFacts {
	/** The boot of the machine that the processes run on. */
	readonly bootId: string;
	readonly all: readonly RunningProcess[];
	readonly leader: ProcessIdentity | null;
	/** Members seen before. They stay members, even after leaving the group and changing their environment. */
	readonly witnesses: readonly ProcessIdentity[];
	/** False: the group with the leader's number is not the program's own. Default: true. */
	readonly isOwnGroup?: boolean;
	/** Asked last, and only about living processes that are not older than the leader. */
	readonly isMarked: (one: RunningProcess, isInGroup: boolean) => boolean;
	/** Other proof, such as a shared namespace. */
	readonly isProven?: (one: RunningProcess) => boolean;
}

/** The living members. */
export function membersAmong(facts: MembershipFacts): Member[] {
	const { bootId, all, leader, witnesses, isOwnGroup = true, isMarked, isProven = () => false } = facts;
	const known = new Map(
		[...(leader ? [leader] : []), ...witnesses]
			.filter((identity) => identity.bootId === bootId)
			.map(({ pid, startTime }) => [pid, startTime]),
	);
	const isKnown = ({ pid, startTime }: RunningProcess) => known.get(pid) === startTime;
	const inGroup = ({ group, session }: RunningProcess) =>
		leader !== null && isOwnGroup && (group === leader.pid || session === leader.pid);
	// While a member is in it the kernel does not reuse its number, so everything in it belongs to it.
	const isGroupOurs = all.some((one) => isKnown(one) && inGroup(one));
	const since = leader?.bootId === bootId && leader.startTime !== "" ? startOrder(leader.startTime) : 0;
	const members = new Map<number, RunningProcess>();
	for (const one of all)
		if (
			isKnown(one) ||
			isProven(one) ||
			(isGroupOurs && inGroup(one)) ||
			(!one.isZombie && startOrder(one.startTime) >= since && isMarked(one, inGroup(one)))
		)
			members.set(one.pid, one);
	addDescendants(members, all);
	return [...members.values()]
		.filter(({ isZombie }) => !isZombie)
		.map(({ pid, startTime, group }) => ({ bootId, pid, startTime, group }));
}

function addDescendants(members: Map<number, RunningProcess>, all: readonly RunningProcess[]): void {
	for (let before = -1; before !== members.size; ) {
		before = members.size;
		for (const one of all) if (members.has(one.parent)) members.set(one.pid, one);
	}
}
