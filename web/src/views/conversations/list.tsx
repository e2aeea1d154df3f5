// The list of conversations: only the rows on the screen exist, and pages are read ahead of the eye.
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ListFilter, SquarePen } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Conversation } from "../../api/types.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { classes } from "../../lib/classes.ts";
import { conversationName } from "../../lib/conversation-name.ts";
import { useRunningTurn } from "../../live/index.ts";
import {
	Button,
	Empty,
	ErrorState,
	IconButton,
	Input,
	PlatformIcon,
	platformName,
	RelativeTime,
	Select,
	SkeletonRows,
} from "../../ui/index.ts";
import { useConversationList } from "./list-data.ts";
import { useIsUnread } from "./unread.ts";

const ROW = 62;
/** So many rows below the eye are there before they are needed. */
const AHEAD = 150;
/** A filter looks through so many more pages by itself; then it asks. */
const PAGES_AT_ONCE = 20;
const ENOUGH = 50;

export function ConversationList() {
	const [platform, setPlatform] = useState<string | undefined>();
	const [words, setWords] = useState("");
	const list = useConversationList(platform);
	const all = useMemo(
		() => list.data?.pages.flatMap(({ conversations }) => conversations) ?? [],
		[list.data],
	);
	const wanted = words.trim().toLowerCase();
	const shown = useMemo(() => (wanted === "" ? all : all.filter((one) => has(one, wanted))), [all, wanted]);
	const platforms = usePlatforms(all, platform);
	return (
		<section aria-label="Conversations" className="flex h-full min-h-0 flex-col">
			<header className="flex h-13 shrink-0 items-center gap-2 border-b px-3 pl-4">
				<h1 className="flex-1 text-lg font-semibold tracking-[-0.01em]">Conversations</h1>
				<NewChat />
			</header>
			<search className="flex shrink-0 gap-2 border-b px-3 py-2">
				<Input
					aria-label="Filter conversations"
					placeholder="Filter"
					type="search"
					icon={<ListFilter size={14} />}
					value={words}
					className="min-w-0 flex-1"
					onChange={({ target }) => setWords(target.value)}
				/>
				{platforms.length > 1 && (
					<div className="w-28 shrink-0">
						<Select
							aria-label="Platform"
							className="text-sm"
							value={platform ?? ""}
							onChange={({ target }) => setPlatform(target.value || undefined)}
						>
							<option value="">All</option>
							{platforms.map((name) => (
								<option key={name} value={name}>
									{platformName(name)}
								</option>
							))}
						</Select>
					</div>
				)}
			</search>
			{list.isPending ? (
				<SkeletonRows rows={8} label="Loading conversations" />
			) : list.isError && all.length === 0 ? (
				<ErrorState error={list.error} onRetry={() => void list.refetch()} />
			) : all.length === 0 ? (
				<Empty title="No conversations yet">
					They appear here as soon as somebody writes, on this page or in a chat.
				</Empty>
			) : (
				<Rows rows={shown} list={list} filter={wanted} key={platform ?? ""} />
			)}
		</section>
	);
}

function NewChat() {
	const navigate = useNavigate();
	const open = () => void navigate({ to: "/c/$conversation", params: { conversation: "new" } });
	useShortcut("n", "New chat", open);
	return (
		<IconButton label="New chat" keys="n" onClick={open}>
			<SquarePen size={17} strokeWidth={1.75} />
		</IconButton>
	);
}

function Rows({
	rows,
	list,
	filter,
}: {
	readonly rows: readonly Conversation[];
	readonly list: ReturnType<typeof useConversationList>;
	readonly filter: string;
}) {
	const scroller = useRef<HTMLElement>(null);
	const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
	const [searched, setSearched] = useState(PAGES_AT_ONCE);
	const virtual = useVirtualizer({
		count: rows.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => ROW,
		getItemKey: (index) => rows[index]?.id ?? index,
		overscan: 16,
	});
	const items = virtual.getVirtualItems();
	const last = items.at(-1)?.index ?? 0;
	const isNear = filter === "" ? last + AHEAD > rows.length : rows.length < Math.max(ENOUGH, last + ENOUGH);
	const pages = list.data?.pages.length ?? 0;
	const mayGoOn = hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
	useEffect(() => {
		if (mayGoOn && isNear && (filter === "" || pages < searched)) void fetchNextPage();
	}, [mayGoOn, isNear, filter, pages, searched, fetchNextPage]);
	useListKeys(rows, (index) => virtual.scrollToIndex(index));
	return (
		<nav ref={scroller} aria-label="List of conversations" className="min-h-0 flex-1 overflow-y-auto">
			<ul className="relative" style={{ height: virtual.getTotalSize() }}>
				{items.map(({ index, key, start }) => {
					const row = rows[index];
					return (
						row && (
							<li
								key={key}
								className="absolute inset-x-0"
								style={{ height: ROW, transform: `translateY(${start}px)` }}
								aria-setsize={hasNextPage ? -1 : rows.length}
								aria-posinset={index + 1}
							>
								<Row conversation={row} />
							</li>
						)
					);
				})}
			</ul>
			{filter !== "" && (
				<div className="flex flex-col items-center gap-2 p-4 text-center text-sm text-ink-3">
					{rows.length === 0 && !isFetchingNextPage && <p>No conversation that was looked through fits.</p>}
					{hasNextPage && pages >= searched && (
						<Button size="sm" onClick={() => setSearched(pages + PAGES_AT_ONCE)}>
							Look further back
						</Button>
					)}
					<Link to="/search" search={{ q: filter }} className="text-accent underline">
						Search all messages for “{filter}”
					</Link>
				</div>
			)}
			{isFetchNextPageError && (
				<div className="flex justify-center p-3">
					<Button size="sm" onClick={() => void fetchNextPage()}>
						More could not be read. Try again
					</Button>
				</div>
			)}
		</nav>
	);
}

/** j and k go from one to the next. */
function useListKeys(rows: readonly Conversation[], onMove: (index: number) => void): void {
	const navigate = useNavigate();
	const { conversation } = useParams({ strict: false });
	const move = (by: number) => {
		const at = rows.findIndex(({ id }) => id === conversation);
		const index = Math.min(rows.length - 1, Math.max(0, at === -1 ? 0 : at + by));
		const next = rows[index];
		if (!next) return;
		onMove(index);
		void navigate({ to: "/c/$conversation", params: { conversation: next.id } });
	};
	useShortcut("j", "Next conversation", () => move(1));
	useShortcut("k", "Previous conversation", () => move(-1));
}

function Row({ conversation }: { readonly conversation: Conversation }) {
	const { id, platform, preview, last_activity_at } = conversation;
	const unread = useIsUnread(conversation);
	const running = useRunningTurn(id);
	return (
		<Link
			to="/c/$conversation"
			params={{ conversation: id }}
			activeProps={{ "data-active": "" }}
			preload={false}
			className="group/row flex h-full gap-2.5 border-b border-line/60 px-4 py-2.5 outline-offset-[-2px] hover:bg-hover data-active:bg-selected"
		>
			<PlatformIcon platform={platform} />
			<span className="flex min-w-0 flex-1 flex-col">
				<span className="flex items-baseline gap-2">
					<span className={classes("min-w-0 flex-1 truncate", unread ? "font-semibold" : "font-medium")}>
						{conversationName(conversation)}
					</span>
					<RelativeTime at={last_activity_at} className="shrink-0 text-xs text-ink-3 tabular-nums" />
				</span>
				<span className="flex items-center gap-2">
					<span className={classes("min-w-0 flex-1 truncate text-sm", unread ? "text-ink" : "text-ink-2")}>
						{preview === "" ? "Nothing said yet" : withoutMarks(preview)}
					</span>
					{running !== null && (
						<span
							className="pulse size-2 shrink-0 rounded-full border border-accent"
							title="Working on an answer"
						>
							<span className="sr-only">working on an answer</span>
						</span>
					)}
					{unread && (
						<span className="size-2 shrink-0 rounded-full bg-accent">
							<span className="sr-only">unread</span>
						</span>
					)}
				</span>
			</span>
		</Link>
	);
}

/** One line has no room for Markdown, only for its words. */
function withoutMarks(text: string): string {
	return text
		.replace(/```[\w-]*\s?|\*\*|`|~~/g, "")
		.replace(/(^|\s)(?:#{1,6}|>)\s+/g, "$1")
		.replace(/\[([^\]]*)\]\([^)\s]*\)/g, "$1");
}

function has({ display_name, preview, key, source }: Conversation, words: string): boolean {
	return [display_name, preview, key, source.user_name ?? "", source.chat_name ?? ""].some((text) =>
		text.toLowerCase().includes(words),
	);
}

/** Those seen so far: a filter must not take its own choices away. */
function usePlatforms(all: readonly Conversation[], chosen: string | undefined): readonly string[] {
	const known = useRef(new Set<string>());
	return useMemo(() => {
		for (const { platform } of all) known.current.add(platform);
		if (chosen !== undefined) known.current.add(chosen);
		return [...known.current].sort();
	}, [all, chosen]);
}
