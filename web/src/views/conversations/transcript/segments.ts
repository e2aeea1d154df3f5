// Pieces of sessions in display order. Pure: rows in, rows out.
import type { Message, Session } from "../../../api/types.ts";

export interface Segment {
	readonly id: string;
	/** Null until it is read: a row may arrive before its session. */
	readonly session: Session | null;
	readonly messages: readonly Message[];
	/** True if its first row is the session's first. */
	readonly isWhole: boolean;
}

/** Turns newest-first sessions into reading order: by start, but the live one last, because new messages go there. */
export function arranged(newestFirst: readonly Session[]): Session[] {
	const live = newestFirst.find(({ live }) => live !== null)?.live ?? null;
	const others = newestFirst.filter(({ id }) => id !== live).reverse();
	return [...others, ...newestFirst.filter(({ id }) => id === live)];
}

/** Adds a row to its session. A known row, or one older than the session's last row here, changes nothing. */
export function appended(segments: readonly Segment[], message: Message): readonly Segment[] {
	const index = segments.findIndex(({ id }) => id === message.session);
	const segment = segments[index];
	if (!segment)
		return [
			...segments,
			{ id: message.session, session: null, messages: [message], isWhole: message.seq === 1 },
		];
	const last = segment.messages.at(-1);
	if (last && last.seq >= message.seq) return segments;
	return segments.with(index, { ...segment, messages: [...segment.messages, message] });
}

/** Replaces a session's newest rows by the ones just read. A page that is not full holds all rows. */
export function replacedTail(
	segments: readonly Segment[],
	id: string,
	newest: readonly Message[],
	pageSize: number,
): readonly Segment[] {
	const from = newest.length < pageSize ? 0 : (newest[0]?.seq ?? 0);
	return segments.map((segment) => {
		if (segment.id !== id) return segment;
		const shown = segment.messages[0]?.seq ?? 0;
		const start = segment.isWhole ? 0 : shown;
		return {
			...segment,
			messages: [
				...segment.messages.filter(({ seq }) => seq < from),
				...newest.filter(({ seq }) => seq >= Math.max(from, start)),
			],
		};
	});
}
