// Where reading stopped: UIDVALIDITY and UID of the mailbox. When the server changes the UIDVALIDITY, old UIDs mean nothing any
// more: then times tell which mails are new, and message ids which were already accepted.

/** Mails arrive within this time. */
const SLACK_MS = 2 * 24 * 3_600_000;

export interface Cursor {
	readonly validity: string;
	/** The last mail that was committed or skipped. */
	readonly uid: number;
	/** When the newest mail was received that was there before Keryx; 0: none was. By the server's clock, in whole seconds. */
	readonly begun: number;
	/** When the newest one was received that Keryx has read. */
	readonly newest: number;
	/** The mailbox was numbered anew: up to this UID, everything may have been taken before. 0: it was not. */
	readonly again: number;
}

export function parseCursor(text: string | null): Cursor | null {
	const fields = /^(\d{1,20}):(\d{1,10}):(\d{1,15}):(\d{1,15})(?::(\d{1,10}))?$/.exec(text ?? "");
	if (!fields) return null;
	const [, validity = "", uid, begun, newest, again = 0] = fields;
	return {
		validity,
		uid: Number(uid),
		begun: Number(begun),
		newest: Number(newest),
		again: Number(again),
	};
}

export function formatCursor({ validity, uid, begun, newest, again }: Cursor): string {
	return `${validity}:${uid}:${begun}:${newest}${again > uid ? `:${again}` : ""}`;
}

/** After this mail was taken. */
export function after(cursor: Cursor, uid: number, receivedAt: number): Cursor {
	return { ...cursor, uid, newest: Math.max(cursor.newest, receivedAt) };
}

/** While everything is read again: whether the mail may be new. */
export function mayBeNew({ begun, newest }: Cursor, receivedAt: number, sentAt: number | null): boolean {
	const since = newest - SLACK_MS;
	if (receivedAt <= begun || receivedAt < since) return false;
	// A server that lost the times gives every mail the current one; the sender's own time is then older.
	return sentAt === null || sentAt >= Math.max(begun, since) - SLACK_MS;
}
