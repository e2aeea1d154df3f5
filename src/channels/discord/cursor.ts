// The position in Discord's events: the session, its last event committed with everything before it, and what is needed when Discord has
// forgotten the session: the newest message, the private chats (which Discord does not list), and the progress of reading the gap.
import { isAfter, isSnowflake } from "./snowflake.ts";

/** The newest private chats. Each commit writes them. */
const PRIVATE_CHATS = 200;
/** Channels whose position in a gap is kept. Others are read from the gap's start again. */
const READ_CHANNELS = 500;

export interface Session {
	readonly id: string;
	/** Where it can be resumed. */
	readonly url: string;
}

export interface Cursor {
	readonly session: Session;
	readonly sequence: number;
	/** The id of the newest committed message. */
	readonly newest: string;
	/** Newest last. */
	readonly privateChats: readonly string[];
	/** While reading a gap: the last committed history message, by channel. */
	readonly read: Readonly<Record<string, string>>;
}

export function writeCursor({ session, sequence, newest, privateChats, read }: Cursor): string {
	return JSON.stringify({
		id: session.id,
		url: session.url,
		seq: sequence,
		newest,
		dms: privateChats,
		...(Object.keys(read).length > 0 && { read }),
	});
}

/** Null for anything that is not a Discord cursor: then reading starts now. */
export function readCursor(text: string | null): Cursor | null {
	if (text === null) return null;
	try {
		const { id, url, seq, newest, dms, read = {} } = JSON.parse(text) as Record<string, unknown>;
		if (typeof id !== "string" || typeof url !== "string" || !Number.isSafeInteger(seq)) return null;
		if (typeof newest !== "string" || !isSnowflake(newest) || !Array.isArray(dms)) return null;
		const privateChats = dms.filter((dm): dm is string => typeof dm === "string" && isSnowflake(dm));
		return { session: { id, url }, sequence: seq as number, newest, privateChats, read: readPositions(read) };
	} catch {
		return null;
	}
}

/** What an event says about the position: its message. */
export interface Mark {
	readonly message: string;
	readonly privateChat?: string;
}

export function movedTo(cursor: Cursor, sequence: number, mark: Mark | undefined): Cursor {
	if (!mark) return { ...cursor, sequence };
	const { message, privateChat } = mark;
	const { newest } = cursor;
	return {
		...(privateChat === undefined ? cursor : withPrivateChat(cursor, privateChat)),
		sequence,
		newest: isAfter(message, newest) ? message : newest,
	};
}

export function withPrivateChat(cursor: Cursor, chat: string): Cursor {
	const { privateChats } = cursor;
	if (privateChats.at(-1) === chat) return cursor;
	return {
		...cursor,
		privateChats: [...privateChats.filter((dm) => dm !== chat), chat].slice(-PRIVATE_CHATS),
	};
}

/** A channel's history is committed up to this message. */
export function withRead(cursor: Cursor, channel: string, message: string): Cursor {
	const { [channel]: _, ...others } = cursor.read;
	const entries = [...Object.entries(others), [channel, message] as const];
	return { ...cursor, read: Object.fromEntries(entries.slice(-READ_CHANNELS)) };
}

function readPositions(read: unknown): Cursor["read"] {
	if (typeof read !== "object" || read === null) return {};
	const entries = Object.entries(read).filter(
		(entry): entry is [string, string] =>
			typeof entry[1] === "string" && isSnowflake(entry[0]) && isSnowflake(entry[1]),
	);
	return Object.fromEntries(entries);
}
