// Whose rights a turn has (I18): the least role and the common reach of the people it speaks for. Pure.

export type PersonRole = "owner" | "member" | "guest";

/** What a person may be now; none: no longer let in. */
export type Standing = PersonRole | "none";

/** Somebody a turn speaks for, as they were let in when they wrote. */
export interface Speaker {
	/** Null where the platform does not say who wrote. */
	readonly principal: string | null;
	readonly role: PersonRole;
	/** Where they wrote. */
	readonly platform: string;
	/** The platform's own role that let them in, where one did. */
	readonly platformRole?: string;
}

const RANK: Readonly<Record<Standing, number>> = { none: 0, guest: 1, member: 2, owner: 3 };

/** Of several people, whoever may do least decides. Nobody at all may do nothing. */
export function leastStanding(standings: readonly Standing[]): Standing {
	return standings.reduce(lesser, standings.length === 0 ? "none" : "owner");
}

export function lesser(a: Standing, b: Standing): Standing {
	return RANK[a] <= RANK[b] ? a : b;
}

export function isAtLeast(standing: Standing, needed: Standing): boolean {
	return RANK[standing] >= RANK[needed];
}

/** Each once, in order. */
export function distinctSpeakers(speakers: readonly Speaker[]): Speaker[] {
	const same = ({ principal, role, platform, platformRole }: Speaker) =>
		JSON.stringify([principal, role, platform, platformRole]);
	return [...new Map(speakers.map((speaker) => [same(speaker), speaker])).values()];
}

/** The one person all of them are, or null: several, or somebody unknown. */
export function soleSpeaker(speakers: readonly Speaker[]): string | null {
	const [first, ...rest] = speakers;
	if (!first || rest.some(({ principal }) => principal !== first.principal)) return null;
	return first.principal;
}

/**
 * Whether a message may join a running turn (busy mode steer): only one that gives the turn nobody else's words and no other rights,
 * so only one of the same, known person in the same role.
 */
export function mayJoin(speakers: readonly Speaker[], joining: Speaker): boolean {
	return (
		joining.principal !== null &&
		speakers.length > 0 &&
		speakers.every(({ principal, role }) => principal === joining.principal && role === joining.role)
	);
}
