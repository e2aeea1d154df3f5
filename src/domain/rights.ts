// A turn's rights (I18): the lowest role and the common reach of the people it speaks for. Pure.

export type PersonRole = "owner" | "member" | "guest";

/** A person's current role; none: no access. */
export type Standing = PersonRole | "none";

/** A person a turn speaks for, with their role when they wrote. */
export interface Speaker {
	/** Null if the platform does not say who wrote. */
	readonly principal: string | null;
	readonly role: PersonRole;
	/** The chat they wrote in. */
	readonly platform: string;
	/** The platform role that admitted them, if any. */
	readonly platformRole?: string;
}

const RANK: Readonly<Record<Standing, number>> = { none: 0, guest: 1, member: 2, owner: 3 };

/** The person with the fewest rights decides. Without people nothing is allowed. */
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

/** The one person all of them are, or null: several, or someone unknown. */
export function soleSpeaker(speakers: readonly Speaker[]): string | null {
	const [first, ...rest] = speakers;
	if (!first || rest.some(({ principal }) => principal !== first.principal)) return null;
	return first.principal;
}

/**
 * Whether a message may join a running turn (busy mode steer): only from the same known person in the same role, so that the turn gets no
 * other words or rights.
 */
export function mayJoin(speakers: readonly Speaker[], joining: Speaker): boolean {
	return (
		joining.principal !== null &&
		speakers.length > 0 &&
		speakers.every(({ principal, role }) => principal === joining.principal && role === joining.role)
	);
}
