// Converts message rows to messages.
import type { SessionId } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, type Op, sql } from "../../query.ts";
import type { Message, NewMessage, Role, RowKind } from "../../types.ts";
import { loadLargeText } from "./blobs.ts";
import { isDetail, type MessageBody } from "./content.ts";

export interface MessageRow {
	readonly id: number;
	readonly session: number;
	readonly seq: number;
	readonly role: Role;
	readonly kind: RowKind | null;
	readonly turn: string | null;
	readonly turn_index: number | null;
	readonly tool_call: string | null;
	readonly tool_name: string | null;
	readonly is_error: number;
	readonly counted: number;
	readonly author: string | null;
	readonly created_at: number;
	readonly body: string;
	readonly body_key: number | null;
}

export const MESSAGE_COLUMNS =
	"m.id, m.session, m.seq, m.role, m.kind, m.turn, m.turn_index, m.tool_call, m.tool_name, m.is_error, m.counted, m.author, m.created_at, m.body, m.body_key";

const hiddenOf = sql<{ from_seq: number; to_seq: number }>(
	"SELECT from_seq, to_seq FROM hidden_ranges WHERE session = ? AND undone_at IS NULL",
);

export type Hidden = readonly { readonly from_seq: number; readonly to_seq: number }[];

export function* hiddenIn(session: number): Op<Hidden> {
	return yield* all(hiddenOf, session);
}

export function isHidden(hidden: Hidden, seq: number): boolean {
	return hidden.some((range) => seq >= range.from_seq && seq <= range.to_seq);
}

export function* toMessage(
	row: MessageRow,
	conversation: string,
	session: SessionId,
	hidden: boolean,
): Op<Message> {
	return {
		...(yield* toNewMessage(row, conversation)),
		id: row.id,
		session,
		seq: row.seq,
		turn: row.turn,
		createdAt: row.created_at,
		hidden,
	};
}

/** The message as appended. */
export function* toNewMessage(row: MessageRow, conversation: string): Op<NewMessage> {
	const { content, authorName, ...body } = unseal<MessageBody>(row.body, row.body_key);
	return {
		role: row.role,
		content: yield* loadLargeText(conversation, content),
		...Object.fromEntries(Object.entries(body).filter(([key]) => isDetail(key))),
		...(row.kind !== null && { kind: row.kind }),
		...(row.tool_call !== null && { toolCallId: row.tool_call }),
		...(row.tool_name !== null && { toolName: row.tool_name }),
		...(row.is_error === 1 && { isError: true }),
		...(row.author !== null && {
			author: { principal: row.author, ...(authorName !== undefined && { name: authorName }) },
		}),
	};
}

/** Whether its body is complete: text of usual size, not sealed. To read each body to find out would cost more than the rest of a transcript. */
export function isReadAsItIs({ body, body_key }: MessageRow): boolean {
	return body_key === null && !body.includes("text_blob");
}

/** The row with its body in plain text, large text included. */
export function* withLargeText(row: MessageRow, conversation: string): Op<MessageRow> {
	const { content, ...rest } = unseal<MessageBody>(row.body, row.body_key);
	return { ...row, body: JSON.stringify({ content: yield* loadLargeText(conversation, content), ...rest }) };
}
