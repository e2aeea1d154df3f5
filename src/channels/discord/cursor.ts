// Where Discord was read to: the session, the last of its events that is committed with everything before it, and what is needed when
// Discord has forgotten the session: the newest message by then, and the private chats, which Discord does not name by itself.
import { isAfter, isSnowflake } from "./snowflake.ts";

/** The newest private chats. Each commit writes them. */
const PRIVATE_CHATS = 200;

export interface Session {
	readonly id: string;
	/** Where it can be resumed. */
	readonly url: string;
}

export interface Cursor {
	readonly session: Session;
	readonly sequence: number;
	/** The id of the newest message that is committed. */
	readonly newest: string;
	/** Newest last. */
	readonly privateChats: readonly string[];
}

export function writeCursor({ session, sequence, newest, privateChats }: Cursor): string {
	return JSON.stringify({ id: session.id, url: session.url, seq: sequence, newest, dms: privateChats });
}

/** Null for what is no cursor of Discord: then everything begins now. */
export function readCursor(text: string | null): Cursor | null {
	if (text === null) return null;
	try {
		const { id, url, seq, newest, dms } = JSON.parse(text) as Record<string, unknown>;
		if (typeof id !== "string" || typeof url !== "string" || !Number.isSafeInteger(seq)) return null;
		if (typeof newest !== "string" || !isSnowflake(newest) || !Array.isArray(dms)) return null;
		const privateChats = dms.filter((dm): dm is string => typeof dm === "string" && isSnowflake(dm));
		return { session: { id, url }, sequence: seq as number, newest, privateChats };
	} catch {
		return null;
	}
}

/** What an event says about the place: the message that it brought. */
export interface Mark {
	readonly message: string;
	readonly privateChat?: string;
}

export function movedTo(cursor: Cursor, sequence: number, mark: Mark | undefined): Cursor {
	if (!mark) return { ...cursor, sequence };
	const { message, privateChat } = mark;
	const { newest, privateChats } = cursor;
	return {
		...cursor,
		sequence,
		newest: isAfter(message, newest) ? message : newest,
		privateChats:
			privateChat === undefined || privateChats.at(-1) === privateChat
				? privateChats
				: [...privateChats.filter((dm) => dm !== privateChat), privateChat].slice(-PRIVATE_CHATS),
	};
}
