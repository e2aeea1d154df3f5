// The list of conversations. Only visible rows are drawn, and pages are read ahead.

import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ListFilter as FilterIcon, ListChecks, Pin, SquarePen } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { Conversation } from "../../../api/types.ts";
import { useShortcut } from "../../../app/shortcuts.ts";
import { classes } from "../../../lib/classes.ts";
import { withoutMarks } from "../../../lib/without-marks.ts";
import { useRunningTurn } from "../../../live/index.ts";
import { texts } from "../../../texts/conversations.ts";
import {
	Badge,
	Button,
	Empty,
	ErrorLine,
	ErrorState,
	IconButton,
	Input,
	PlatformIcon,
	RelativeTime,
	SkeletonRows,
} from "../../../ui/index.ts";
import { type ListFilter, useConversationList } from "./data.ts";
import { FilterLine, FilterMenu } from "./filter.tsx";
import { PutAwayNotice } from "./put-away.tsx";
import { useIsUnread } from "./unread.ts";

const SelectionBar = lazy(() => import("./selection-bar.tsx").then((m) => ({ default: m.SelectionBar })));
const NotifyQuestion = lazy(() =>
	import("../../../app/notify-question.tsx").then((m) => ({ default: m.NotifyQuestion })),
);

const ROW = 62;
/** Rows below the visible ones that are read in advance. */
const AHEAD = 150;
/** A filter searches this many pages by itself, then asks before it goes on. */
const PAGES_AT_ONCE = 20;
const ENOUGH = 50;

export function ConversationList() {
	const [filter, setFilter] = useState<ListFilter>(NO_FILTER);
	const [words, setWords] = useState("");
	const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
	const [error, setError] = useState<unknown>(null);
	const list = useConversationList(filter);
	const pinned = useConversationList(PINNED);
	const isOpen = filter === NO_FILTER || (filter.list ?? "open") === "open";
	const all = useMemo(() => {
		const rows = list.data?.pages.flatMap(({ conversations }) => conversations) ?? [];
		if (!isOpen) return rows;
		const { platform, profile } = filter;
		const first = (pinned.data?.pages ?? [])
			.flatMap(({ conversations }) => conversations)
			.filter(
				(one) => (platform ?? one.platform) === one.platform && (profile ?? one.profile) === one.profile,
			);
		return [...first, ...rows.filter((one) => !one.pinned)];
	}, [list.data, pinned.data, isOpen, filter]);
	const wanted = words.trim().toLowerCase();
	const shown = useMemo(() => (wanted === "" ? all : all.filter((one) => has(one, wanted))), [all, wanted]);
	const change = (next: ListFilter) => {
		setFilter(Object.keys(next).length === 0 ? NO_FILTER : next);
		setChosen(null);
	};
	const choose = (id: string) => {
		const next = new Set(chosen);
		if (!next.delete(id)) next.add(id);
		setChosen(next);
	};
	return (
		<section aria-label={texts.list.conversations} className="flex h-full min-h-0 flex-col">
			<header className="flex h-13 shrink-0 items-center gap-1 border-b px-3 pl-4">
				<h1 className="flex-1 text-lg font-semibold tracking-[-0.01em]">{texts.list.conversations}</h1>
				<IconButton
					label={chosen ? texts.list.stopSelecting : texts.list.selectSeveral}
					aria-pressed={chosen !== null}
					onClick={() => setChosen(chosen ? null : new Set())}
				>
					<ListChecks size={17} strokeWidth={1.75} />
				</IconButton>
				<NewChat />
			</header>
			<search className="flex shrink-0 gap-2 border-b px-3 py-2">
				<Input
					aria-label={texts.list.filterConversations}
					placeholder={texts.list.filter}
					type="search"
					icon={<FilterIcon size={14} />}
					value={words}
					className="min-w-0 flex-1"
					onChange={({ target }) => setWords(target.value)}
				/>
				<FilterMenu filter={filter} all={all} onChange={change} />
			</search>
			<FilterLine filter={filter} onClear={() => change(NO_FILTER)} />
			{list.isPending ? (
				<SkeletonRows rows={8} label={texts.list.loadingConversations} />
			) : list.isError && all.length === 0 ? (
				<ErrorState error={list.error} onRetry={() => void list.refetch()} />
			) : all.length === 0 ? (
				<Empty title={EMPTY[filter.list ?? "open"].title}>{EMPTY[filter.list ?? "open"].about}</Empty>
			) : (
				<Rows
					rows={shown}
					list={list}
					filter={wanted}
					chosen={chosen}
					onChoose={choose}
					key={JSON.stringify(filter)}
				/>
			)}
			{error !== null && (
				<div className="border-t px-4 py-2">
					<ErrorLine error={error} />
				</div>
			)}
			<Suspense>
				{chosen && (
					<SelectionBar
						chosen={all.filter(({ id }) => chosen.has(id))}
						all={shown}
						onAll={() => setChosen(new Set(shown.slice(0, MOST_CHOSEN).map(({ id }) => id)))}
						onDone={() => setChosen(null)}
						onError={setError}
					/>
				)}
			</Suspense>
			<PutAwayNotice onError={setError} />
			<Suspense>{all.length > 0 && <NotifyQuestion />}</Suspense>
		</section>
	);
}

const NO_FILTER: ListFilter = {};
const PINNED: ListFilter = { list: "pinned" };
/** The server's limit for one call. */
const MOST_CHOSEN = 200;

const EMPTY: Readonly<
	Record<NonNullable<ListFilter["list"]>, { readonly title: string; readonly about: string }>
> = {
	open: {
		title: texts.list.noConversationsYet,
		about: texts.list.theyAppearHereAsSoon,
	},
	waiting: {
		title: texts.list.nothingIsWaitingForYou,
		about: texts.list.conversationsAppearHereWhileThe,
	},
	archived: { title: texts.list.nothingIsArchived, about: texts.list.archivedConversationsStayHereUntil },
	deleted: {
		title: texts.list.nothingIsDeleted,
		about: texts.list.deletedConversationsStayHereUntil,
	},
	pinned: { title: texts.list.nothingIsPinned, about: texts.list.pinnedConversationsStayAtThe },
};

function NewChat() {
	const navigate = useNavigate();
	const open = () => void navigate({ to: "/c/$conversation", params: { conversation: "new" } });
	useShortcut("n", texts.list.newChatASeparateEmpty, open);
	return (
		<IconButton label={texts.list.newChatASeparateEmpty} keys="n" onClick={open}>
			<SquarePen size={17} strokeWidth={1.75} />
		</IconButton>
	);
}

function Rows({
	rows,
	list,
	filter,
	chosen,
	onChoose,
}: {
	readonly rows: readonly Conversation[];
	readonly list: ReturnType<typeof useConversationList>;
	readonly filter: string;
	/** Null: not in selection mode. */
	readonly chosen: ReadonlySet<string> | null;
	readonly onChoose: (id: string) => void;
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
		<nav
			ref={scroller}
			aria-label={texts.list.listOfConversations}
			className="min-h-0 flex-1 overflow-y-auto"
		>
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
								{chosen ? (
									<ChoosingRow
										conversation={row}
										isChosen={chosen.has(row.id)}
										onChoose={() => onChoose(row.id)}
									/>
								) : (
									<Row conversation={row} />
								)}
							</li>
						)
					);
				})}
			</ul>
			{filter !== "" && (
				<div className="flex flex-col items-center gap-2 p-4 text-center text-sm text-ink-3">
					{rows.length === 0 && !isFetchingNextPage && <p>{texts.list.noMatchSoFar}</p>}
					{hasNextPage && pages >= searched && (
						<Button size="sm" onClick={() => setSearched(pages + PAGES_AT_ONCE)}>
							{texts.list.searchOlderConversations}
						</Button>
					)}
					<Link to="/search" search={{ q: filter }} className="text-accent underline">
						{texts.list.searchAllMessagesFor(filter)}
					</Link>
				</div>
			)}
			{isFetchNextPageError && (
				<div className="flex justify-center p-3">
					<Button size="sm" onClick={() => void fetchNextPage()}>
						{texts.list.moreCouldNotBeLoaded}
					</Button>
				</div>
			)}
		</nav>
	);
}

/** j and k move to the next and the previous conversation. */
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
	useShortcut("j", texts.list.nextConversation, () => move(1));
	useShortcut("k", texts.list.previousConversation, () => move(-1));
}

const ROW_LOOK =
	"group/row flex h-full w-full gap-2.5 border-b border-line/60 px-4 py-2.5 text-left outline-offset-[-2px] hover:bg-hover data-active:bg-selected";

function Row({ conversation }: { readonly conversation: Conversation }) {
	return (
		<Link
			to="/c/$conversation"
			params={{ conversation: conversation.id }}
			activeProps={{ "data-active": "" }}
			preload={false}
			className={ROW_LOOK}
		>
			<PlatformIcon platform={conversation.platform} />
			<RowText conversation={conversation} />
		</Link>
	);
}

function ChoosingRow({
	conversation,
	isChosen,
	onChoose,
}: {
	readonly conversation: Conversation;
	readonly isChosen: boolean;
	readonly onChoose: () => void;
}) {
	return (
		<label className={classes(ROW_LOOK, "cursor-pointer", isChosen && "bg-selected")}>
			<input
				type="checkbox"
				aria-label={conversation.name}
				checked={isChosen}
				onChange={onChoose}
				className="mt-1 size-4 shrink-0 accent-accent"
			/>
			<RowText conversation={conversation} />
		</label>
	);
}

function RowText({ conversation }: { readonly conversation: Conversation }) {
	const { id, name, preview, last_activity_at, pinned, waiting, profile } = conversation;
	const unread = useIsUnread(conversation);
	const running = useRunningTurn(id);
	return (
		<span className="flex min-w-0 flex-1 flex-col">
			<span className="flex items-baseline gap-2">
				<span className={classes("min-w-0 flex-1 truncate", unread ? "font-semibold" : "font-medium")}>
					{name}
				</span>
				{profile !== "" && (
					<span className="max-w-24 shrink-0 truncate">
						<Badge>{profile}</Badge>
					</span>
				)}
				{pinned && (
					<span className="shrink-0 self-center text-ink-3" title={texts.list.pinned}>
						<Pin size={12} aria-hidden />
						<span className="sr-only">{texts.list.pinned2}</span>
					</span>
				)}
				<RelativeTime at={last_activity_at} className="shrink-0 text-xs text-ink-3 tabular-nums" />
			</span>
			<span className="flex items-center gap-2">
				<span className={classes("min-w-0 flex-1 truncate text-sm", unread ? "text-ink" : "text-ink-2")}>
					{waiting
						? texts.list.waitingForYourAnswer
						: preview === ""
							? texts.list.noMessagesYet
							: withoutMarks(preview)}
				</span>
				{running !== null && (
					<span
						className="pulse size-2 shrink-0 rounded-full border border-accent"
						title={texts.list.workingOnAnAnswer}
					>
						<span className="sr-only">{texts.list.workingOnAnAnswer2}</span>
					</span>
				)}
				{unread && (
					<span className="size-2 shrink-0 rounded-full bg-accent">
						<span className="sr-only">{texts.list.unread}</span>
					</span>
				)}
			</span>
		</span>
	);
}

function has({ name, preview, key, source }: Conversation, words: string): boolean {
	return [name, preview, key, source.user_name ?? "", source.chat_name ?? ""].some((text) =>
		text.toLowerCase().includes(words),
	);
}
