// Branches as people see them: versions of the rows that follow a point. One version is shown, the live one if there is a choice. The
// others are hidden, and a switch at the point leads to them. Pure.
import type { Session } from "../../../api/types.ts";

export interface Path {
	/** The sessions that are shown, in order. */
	readonly sessions: readonly Session[];
	/** By session: the last row shown, if another version continues from there. */
	readonly cuts: ReadonlyMap<string, number>;
	readonly forks: readonly Fork[];
}

/** A point with several versions of the rows that follow. */
export interface Fork {
	readonly session: string;
	/** The last row that all versions share; 0 if none. */
	readonly seq: number;
	/** Oldest first: for each version, the session to switch to. */
	readonly versions: readonly string[];
	/** The index of the version that is shown. */
	readonly shown: number;
}

/** `all` is in reading order, the live session last. */
export function pathOf(all: readonly Session[]): Path {
	const known = new Map(all.map((session) => [session.id, session]));
	const placed = new Set<string>();
	const cuts = new Map<string, number>();
	for (const session of all.toReversed()) {
		if (placed.has(session.id) || leadsTo(session, placed, known)) continue;
		placed.add(session.id);
		for (let at = session; ; ) {
			const base = branchBase(at, known);
			if (!base || placed.has(base.id) || !areVersions(between(all, base, at), base, known)) break;
			placed.add(base.id);
			cuts.set(base.id, at.base?.seq ?? 0);
			at = base;
		}
	}
	return { sessions: all.filter(({ id }) => placed.has(id)), cuts, forks: forksOf(all, placed, cuts, known) };
}

type Known = ReadonlyMap<string, Session>;

function branchBase({ base }: Session, known: Known): Session | undefined {
	return base?.kind === "branch" ? known.get(base.session) : undefined;
}

/** Whether the session branched off a session in the set, directly or through other branches. */
function leadsTo(session: Session, set: ReadonlySet<string>, known: Known): boolean {
	for (let base = branchBase(session, known); base; base = branchBase(base, known))
		if (set.has(base.id)) return true;
	return false;
}

function between(all: readonly Session[], base: Session, branch: Session): readonly Session[] {
	return all.slice(all.indexOf(base) + 1, all.indexOf(branch));
}

/** If anything else was said in between, a branch is shown as a separate session. */
function areVersions(sessions: readonly Session[], base: Session, known: Known): boolean {
	const set = new Set([base.id]);
	return sessions.every((session) => leadsTo(session, set, known));
}

function forksOf(
	all: readonly Session[],
	placed: ReadonlySet<string>,
	cuts: ReadonlyMap<string, number>,
	known: Known,
): Fork[] {
	const branches = all.filter(
		(session) => branchBase(session, known) && placed.has(session.base?.session ?? ""),
	);
	const points = Map.groupBy(branches, ({ base }) => `${base?.session ?? ""}:${String(base?.seq ?? 0)}`);
	return [...points.values()].flatMap((ways) => {
		const [{ base }] = ways as [Session];
		if (!base) return [];
		const { session, seq } = base;
		const cut = cuts.get(session);
		if (cut !== undefined && cut < seq) return [];
		// A branch shown as a separate session is not a version here.
		const others = ways
			.filter(({ id }) => !placed.has(id) || cut === seq)
			.sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
		if (others.length === 0) return [];
		const shown = cut === seq ? others.findIndex(({ id }) => placed.has(id)) + 1 : 0;
		const own = newest(all, (one) => one.id === session || goesOnAfter(one, session, seq, known));
		return [
			{
				session,
				seq,
				versions: [own ?? session, ...others.map(({ id }) => latestIn(id, all, known))],
				shown,
			},
		];
	});
}

/** The last used session among a version and everything that branched off it. */
function latestIn(id: string, all: readonly Session[], known: Known): string {
	const set = new Set([id]);
	return newest(all, (one) => one.id === id || leadsTo(one, set, known)) ?? id;
}

/** Whether the session branched off a later row of `from`, directly or through other branches. */
function goesOnAfter(session: Session, from: string, seq: number, known: Known): boolean {
	for (let at: Session | undefined = session; at; at = branchBase(at, known))
		if (at.base?.kind === "branch" && at.base.session === from) return at.base.seq > seq;
	return false;
}

function newest(all: readonly Session[], isMeant: (session: Session) => boolean): string | null {
	const meant = all.filter(isMeant);
	return meant.sort((a, b) => (a.last_activity_at < b.last_activity_at ? 1 : -1))[0]?.id ?? null;
}
