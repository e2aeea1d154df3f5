// The list of conversations: pages from the API, kept current by events. An event's data is applied at once; a conversation that is not
// listed is read.
import { type InfiniteData, type QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../../api/index.ts";
import type { Conversation, LiveEvent, Message } from "../../../api/types.ts";
import { onFrames } from "../../../live/index.ts";
import { textOf } from "../transcript/content.ts";

interface ListPage {
	readonly conversations: readonly Conversation[];
	readonly next: string | null;
}
type Pages = InfiniteData<ListPage, string | undefined>;

const ROOT = "conversation-list";
const PAGE = 200;
/** The length of the server's previews. */
const PREVIEW_LENGTH = 120;
const READ_EVERY_MS = 250;

export interface ListFilter {
	readonly platform?: string;
	readonly profile?: string;
	/** Default: open. */
	readonly list?: "open" | "waiting" | "archived" | "deleted" | "pinned";
}

export function useConversationList(filter: ListFilter = {}) {
	return useInfiniteQuery({
		queryKey: [ROOT, filter],
		queryFn: ({ pageParam, signal }): Promise<ListPage> =>
			api.conversations(
				{
					limit: PAGE,
					...filter,
					...(pageParam !== undefined && { after: pageParam }),
				},
				signal,
			),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: ({ next }) => next ?? undefined,
	});
}

/** Keeps every list that was read current, even if it is not on the screen. */
export function followConversationList(client: QueryClient): () => void {
	const missing = new Set<string>();
	let reading = false;
	const readMissing = async (): Promise<void> => {
		if (reading) return;
		reading = true;
		while (missing.size > 0) {
			const ids = [...missing];
			missing.clear();
			const found = await Promise.all(
				ids.slice(0, PAGE).map((conversation) => api.conversation({ conversation }).catch(() => null)),
			);
			put(client, new Map(found.flatMap((one) => (one ? [[one.id, one]] : []))));
			await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
		}
		reading = false;
	};
	return onFrames((frames) => {
		const changes = new Map<string, Change>();
		for (const frame of frames) {
			if (frame.kind !== "event" || frame.event.conversation === null) continue;
			const change = changeOf(frame.event);
			const { conversation } = frame.event;
			if (change) changes.set(conversation, { ...changes.get(conversation), ...change });
		}
		if (changes.size === 0) return;
		for (const id of patch(client, changes)) missing.add(id);
		void readMissing();
	});
}

interface Change {
	readonly preview?: string;
	readonly at?: string;
	readonly isGone?: boolean;
	/** The event does not contain the change, so it must be read. */
	readonly read?: boolean;
}

function changeOf({ type, at, message }: LiveEvent): Change | null {
	if (type === "message.appended" && message) return { at, ...previewOf(message) };
	if (type === "turn.ended") return { at };
	if (type === "conversation.deleted") return { isGone: true };
	if (/^(?:conversation|transcript|confirmation)\.|^session\.titled$/.test(type)) return { read: true };
	return null;
}

function previewOf({ role, content }: Message): { readonly preview?: string } {
	if (role !== "user" && role !== "assistant") return {};
	const text = textOf(content)
		.slice(0, PREVIEW_LENGTH * 4)
		.replace(/\s+/g, " ")
		.trim();
	return text === "" ? {} : { preview: text };
}

/** Applies known changes. Returns the conversations that must be read: unlisted ones, and those with unknown changes. */
function patch(client: QueryClient, changes: ReadonlyMap<string, Change>): string[] {
	const known = new Map<string, Conversation>();
	for (const [, pages] of client.getQueriesData<Pages>({ queryKey: [ROOT] }))
		for (const page of pages?.pages ?? [])
			for (const one of page.conversations) if (changes.has(one.id)) known.set(one.id, one);
	const changed = new Map<string, Conversation | null>();
	const missing: string[] = [];
	for (const [id, { preview, at, isGone, read }] of changes) {
		const before = known.get(id);
		if (isGone) changed.set(id, null);
		else if (!before || read) missing.push(id);
		if (before && !isGone && (preview !== undefined || at !== undefined))
			changed.set(id, {
				...before,
				...(preview !== undefined && { preview }),
				...(at !== undefined && at > before.last_activity_at && { last_activity_at: at }),
			});
	}
	put(client, changed);
	return missing;
}

/** Puts conversations at their position by activity, only in the lists they belong to. Null removes one. */
function put(client: QueryClient, changed: ReadonlyMap<string, Conversation | null>): void {
	if (changed.size === 0) return;
	for (const [key, pages] of client.getQueriesData<Pages>({ queryKey: [ROOT] })) {
		if (!pages) continue;
		const filter = key[1] as ListFilter;
		const fitting = [...changed.values()].filter(
			(one): one is Conversation => one !== null && belongs(one, filter),
		);
		client.setQueryData<Pages>(key, { ...pages, pages: merged(pages.pages, changed, fitting) });
	}
}

function belongs({ platform, profile, state, pinned, waiting }: Conversation, filter: ListFilter): boolean {
	if (filter.platform !== undefined && filter.platform !== platform) return false;
	if (filter.profile !== undefined && filter.profile !== profile) return false;
	const { list = "open" } = filter;
	if (list === "pinned") return pinned;
	return list === "waiting" ? waiting && state !== "deleted" : state === list;
}

/** A changed conversation is newer than nearly all others, so its position is searched from the top. */
function merged(
	pages: readonly ListPage[],
	changed: ReadonlyMap<string, unknown>,
	fitting: readonly Conversation[],
): ListPage[] {
	const kept = pages.map((page) =>
		page.conversations.some(({ id }) => changed.has(id))
			? { ...page, conversations: page.conversations.filter(({ id }) => !changed.has(id)) }
			: page,
	);
	const [first, ...rest] = kept;
	if (!first) return kept;
	const head = [...first.conversations];
	for (const one of fitting) {
		const index = head.findIndex((other) => other.last_activity_at <= one.last_activity_at);
		head.splice(index === -1 ? head.length : index, 0, one);
	}
	return [{ ...first, conversations: head }, ...rest];
}
