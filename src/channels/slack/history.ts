// Reads a chat: messages missed while Keryx was away, and the fate of an unacknowledged message.
import type { Outgoing } from "../../gateway/index.ts";
import { wordOf } from "./outcome.ts";
import type { WireMessage } from "./source.ts";
import { isOwn, type Me } from "./source.ts";

/** Slack's page size, and how many pages are read per chat. */
const PAGE = 200;
const PAGES = 5;
export const MISSED_MOST = PAGE * PAGES;
/** By how much Slack's clock may differ. */
const CLOCKS_MS = 5 * 60_000;
const NONE: PageAnswer = { messages: [] };
/** Deliveries carry a hidden id. */
const EVENT_TYPE = "keryx_delivery";

/** One call, in its turn. */
export type Read = <Answer extends object>(
	method: string,
	args: Readonly<Record<string, unknown>>,
) => Promise<Answer>;

interface PageAnswer {
	readonly messages?: readonly WireMessage[];
	readonly has_more?: boolean;
	readonly response_metadata?: { readonly next_cursor?: string };
}

export interface Missed {
	/** Oldest first, including replies. */
	readonly messages: readonly WireMessage[];
	/** There were more than were read. */
	readonly isCut: boolean;
}

/** A chat's messages after `oldest`. Replies are found if their root is among the chat's newest messages. */
export async function missedIn(chat: string, oldest: string, read: Read): Promise<Missed> {
	const seen: WireMessage[] = [];
	let cursor: string | undefined;
	let isCut = false;
	for (let page = 0; ; page++) {
		const answer = await read<PageAnswer>("conversations.history", {
			channel: chat,
			limit: PAGE,
			...(cursor !== undefined && { cursor }),
		});
		seen.push(...(answer.messages ?? []));
		cursor = answer.response_metadata?.next_cursor || undefined;
		const isThrough = !answer.has_more || cursor === undefined || isBefore(seen.at(-1)?.ts, oldest);
		if (isThrough) break;
		isCut = page + 1 >= PAGES;
		if (isCut) break;
	}
	const found = new Map<string, WireMessage>();
	for (const message of seen) if (isAfter(message.ts, oldest)) found.set(message.ts as string, message);
	for (const { ts, latest_reply: latest } of seen)
		if (ts !== undefined && isAfter(latest, oldest)) {
			const replies = await repliesTo(chat, ts, oldest, read);
			for (const reply of replies.messages) found.set(reply.ts as string, reply);
			isCut ||= replies.isCut;
		}
	return { messages: [...found.values()].toSorted((a, b) => Number(a.ts) - Number(b.ts)), isCut };
}

async function repliesTo(chat: string, thread: string, oldest: string, read: Read): Promise<Missed> {
	const messages: WireMessage[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < PAGES; page++) {
		const answer = await read<PageAnswer>("conversations.replies", {
			channel: chat,
			ts: thread,
			oldest,
			limit: PAGE,
			...(cursor !== undefined && { cursor }),
		});
		messages.push(...(answer.messages ?? []).filter(({ ts }) => ts !== thread && isAfter(ts, oldest)));
		cursor = answer.response_metadata?.next_cursor || undefined;
		if (!answer.has_more || cursor === undefined) return { messages, isCut: false };
	}
	return { messages, isCut: true };
}

export function metadataOf({ id }: Pick<Outgoing, "id">): object {
	return { event_type: EVENT_TYPE, event_payload: { id } };
}

export interface LookUp {
	readonly id: string;
	readonly chat: string;
	readonly thread: string | undefined;
	/** Files being sent with it; undefined if this run does not know. */
	readonly files: readonly string[] | undefined;
	/** No attempt was earlier, in milliseconds since 1970. */
	readonly madeAt: number | undefined;
	readonly me: Me;
}

type Found = { readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" };

/** Absent only if every candidate was seen: a message with files carries no id. */
export async function lookUp({ id, chat, thread, files, madeAt, me }: LookUp, read: Read): Promise<Found> {
	const oldest = madeAt === undefined ? undefined : Math.max(0, (madeAt - CLOCKS_MS) / 1000).toFixed(6);
	let cursor: string | undefined;
	let isDoubtful = false;
	for (let page = 0; page < PAGES; page++) {
		const answer = await read<PageAnswer>(
			thread === undefined ? "conversations.history" : "conversations.replies",
			{
				channel: chat,
				limit: PAGE,
				include_all_metadata: true,
				...(oldest !== undefined && { oldest }),
				...(thread !== undefined && { ts: thread }),
				...(cursor !== undefined && { cursor }),
			},
		).catch((error: unknown) => {
			// The thread is gone, with everything in it.
			if (wordOf(error) === "thread_not_found") return NONE;
			throw error;
		});
		for (const message of answer.messages ?? []) {
			const { metadata, ts } = message;
			// Any app can write the same text as ours.
			if (!isOwn(message, me)) continue;
			if (metadata?.event_type === EVENT_TYPE && metadata.event_payload?.id === id && ts !== undefined)
				return { kind: "sent", receipt: ts };
			// Every page of a thread includes its root.
			if (oldest !== undefined && !isAfter(ts, oldest)) continue;
			const ids = (message.files ?? []).map((file) => file.id ?? "");
			if (ids.length === 0) continue;
			if (files && ids.some((file) => files.includes(file)))
				return { kind: "sent", receipt: receiptOf(files) };
			isDoubtful ||= files === undefined;
		}
		cursor = answer.response_metadata?.next_cursor || undefined;
		if (!answer.has_more || cursor === undefined) return { kind: isDoubtful ? "unknown" : "absent" };
	}
	return { kind: "unknown" };
}

/** Slack does not say which message contains a file; that can be asked later. */
export function receiptOf(files: readonly string[]): string {
	return `file:${files.join(",")}`;
}

function isAfter(ts: string | undefined, oldest: string): boolean {
	return ts !== undefined && Number(ts) > Number(oldest);
}

function isBefore(ts: string | undefined, oldest: string): boolean {
	return ts !== undefined && Number(ts) <= Number(oldest);
}
