// The transcript on the screen. Only visible rows are drawn. It keeps its position when older rows are added above, follows new rows while
// it is at the end, and says so when it is not.

import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Conversation } from "../../../api/types.ts";
import { type PartialAnswer, usePartial, useRunningTurn } from "../../../live/index.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, ErrorState, SkeletonRows } from "../../../ui/index.ts";
import { useOutgoing } from "../compose/outgoing.ts";
import { useProseReady } from "../prose/prose.tsx";
import { isInRow } from "./content.ts";
import {
	BoundaryEntry,
	DayEntry,
	FailureEntry,
	MetaEntry,
	NoticeEntry,
	StartEntry,
	WorkingEntry,
} from "./entries.tsx";
import { type Item, itemsOf } from "./items.ts";
import { AskedItem, MessageItem, OutgoingItem } from "./message-item.tsx";
import { isNote, useNotesShown } from "./notes.ts";
import type { Spot, Transcript, TranscriptState } from "./store.ts";
import { useTranscript } from "./transcripts.ts";

/** More rows are read when this few are left above or below. */
const AHEAD = 120;
/** Within this distance counts as at the end. */
const END_PX = 48;

type Drawn =
	| Item
	| { readonly kind: "partial"; readonly key: string; readonly partial: PartialAnswer }
	| { readonly kind: "working"; readonly key: string };

const NO_CALLS: readonly never[] = [];

export function TranscriptView({
	conversation,
	transcript,
	spot,
}: {
	readonly conversation: Conversation;
	readonly transcript: Transcript;
	/** The row to show first. */
	readonly spot: Spot | null;
}) {
	const state = useTranscript(transcript);
	const isProseReady = useProseReady();
	if (state.status === "failed")
		return (
			<ErrorState
				error={state.error}
				title={texts.transcript.theTranscriptCouldNotBe}
				onRetry={() => void transcript.load()}
			/>
		);
	if (state.status === "loading" || !isProseReady)
		return <SkeletonRows rows={5} label={texts.transcript.loadingTheTranscript} />;
	return <Rows conversation={conversation} transcript={transcript} state={state} spot={spot} />;
}

function Rows({
	conversation,
	transcript,
	state,
	spot,
}: {
	readonly conversation: Conversation;
	readonly transcript: Transcript;
	readonly state: TranscriptState;
	readonly spot: Spot | null;
}) {
	const scroller = useRef<HTMLElement>(null);
	const drawn = useDrawn(conversation.id, state);
	const virtual = useVirtualizer({
		count: drawn.length,
		getScrollElement: () => scroller.current,
		estimateSize: (index) => heightOf(drawn[index]),
		getItemKey: (index) => drawn[index]?.key ?? index,
		overscan: 10,
		anchorTo: "end",
		followOnAppend: true,
		scrollEndThreshold: END_PX,
		paddingEnd: 16,
	});
	useFirstPosition(virtual, drawn, transcript, state, spot);
	useFollowing(scroller, spot === null && state.isAtEnd, virtual);
	useOwnMessages(conversation.id, virtual);
	const rows = virtual.getVirtualItems();
	const first = rows[0]?.index ?? 0;
	const last = rows.at(-1)?.index ?? 0;
	const { hasOlder, isReadingOlder, olderError, isAtEnd } = state;
	useEffect(() => {
		if (first < AHEAD && hasOlder && !isReadingOlder && olderError === null) void transcript.readOlder();
	}, [first, hasOlder, isReadingOlder, olderError, transcript]);
	useEffect(() => {
		if (!isAtEnd && last > drawn.length - AHEAD) void transcript.readNewer();
	}, [last, drawn.length, isAtEnd, transcript]);
	const toEnd = async (): Promise<void> => {
		if (!isAtEnd) await transcript.load();
		virtual.scrollToEnd();
	};
	return (
		<div className="relative min-h-0 flex-1">
			<section
				ref={scroller}
				aria-label={texts.transcript.transcript}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
				tabIndex={0}
				className="h-full overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]"
			>
				<div className="relative mx-auto w-full max-w-3xl" style={{ height: virtual.getTotalSize() }}>
					{rows.map(({ index, key, start }) => {
						const item = drawn[index];
						return (
							item && (
								<div
									key={key}
									ref={virtual.measureElement}
									data-index={index}
									className="absolute inset-x-0 px-1"
									style={{ transform: `translateY(${start}px)` }}
								>
									<Drawing
										item={item}
										conversation={conversation}
										transcript={transcript}
										olderError={olderError}
										spot={spot}
										isLast={index === drawn.length - 1}
									/>
								</div>
							)
						);
					})}
				</div>
			</section>
			<EndButton
				drawn={drawn}
				isAway={!isAtEnd || !virtual.isAtEnd(END_PX)}
				hasNewer={!isAtEnd}
				onEnd={() => void toEnd()}
			/>
		</div>
	);
}

/** Streamed text is drawn where its row will be, under the same key. */
function useDrawn(conversation: string, state: TranscriptState): readonly Drawn[] {
	const outgoing = useOutgoing(conversation);
	const partial = usePartial(conversation);
	const running = useRunningTurn(conversation);
	const withNotes = useNotesShown();
	const items = useMemo(() => {
		const all = itemsOf(state, outgoing);
		return withNotes ? all : all.filter((item) => !isNote(item));
	}, [state, outgoing, withNotes]);
	const isWorking = running !== null && !partial;
	return useMemo(() => {
		if (!state.isAtEnd) return items;
		if (partial && !isInRow(partial, items))
			return [
				...items,
				{ kind: "partial", key: `${partial.turn}:${String(partial.index)}`, partial } as const,
			];
		return isWorking ? [...items, { kind: "working", key: "working" } as const] : items;
	}, [items, partial, isWorking, state.isAtEnd]);
}

/** Follows the end as it grows, also when rows change size after drawing. Scrolling up stops this; scrolling back to the end resumes it. */
function useFollowing(
	scroller: RefObject<HTMLElement | null>,
	mayFollow: boolean,
	virtual: Virtualizer<HTMLElement, Element>,
): void {
	const follows = useRef(mayFollow);
	useEffect(() => {
		const element = scroller.current;
		if (!element) return;
		let before = element.scrollTop;
		const look = () => {
			const { scrollTop, scrollHeight, clientHeight } = element;
			if (scrollHeight - scrollTop - clientHeight <= END_PX) follows.current = true;
			else if (scrollTop < before) follows.current = false;
			before = scrollTop;
		};
		element.addEventListener("scroll", look, { passive: true });
		return () => element.removeEventListener("scroll", look);
	}, [scroller]);
	const size = virtual.getTotalSize();
	const room = virtual.scrollRect?.height;
	// biome-ignore lint/correctness/useExhaustiveDependencies: another size or room is what moves the end.
	useLayoutEffect(() => {
		const element = scroller.current;
		if (element && mayFollow && follows.current) element.scrollTop = element.scrollHeight;
	}, [scroller, mayFollow, size, room]);
}

/** Scrolls to the end when the person writes, wherever they were reading. */
function useOwnMessages(conversation: string, virtual: Virtualizer<HTMLElement, Element>): void {
	const written = useOutgoing(conversation);
	const known = useRef(new Set(written.map(({ id }) => id)));
	useLayoutEffect(() => {
		const fresh = written.filter(({ id }) => !known.current.has(id));
		for (const { id } of fresh) known.current.add(id);
		if (fresh.length > 0) virtual.scrollToEnd();
	}, [written, virtual]);
}

/** Starts at the end, or at the row that a link names. */
function useFirstPosition(
	virtual: Virtualizer<HTMLElement, Element>,
	drawn: readonly Drawn[],
	transcript: Transcript,
	state: TranscriptState,
	spot: Spot | null,
): void {
	const placed = useRef<string | null>(null);
	const wanted = spot ? `${spot.session}:${String(spot.seq)}` : "end";
	useLayoutEffect(() => {
		if (placed.current === wanted || drawn.length === 0) return;
		if (!spot) {
			// A person who followed a link and reads on is not moved.
			if (placed.current === null) virtual.scrollToEnd();
			placed.current = wanted;
			return;
		}
		const index = drawn.findIndex(
			(item) =>
				item.kind === "message" && item.message.session === spot.session && item.message.seq >= spot.seq,
		);
		const isLoaded = state.segments.some(
			({ id, messages }) =>
				id === spot.session && (messages[0]?.seq ?? 0) <= spot.seq && (messages.at(-1)?.seq ?? 0) >= spot.seq,
		);
		if (index !== -1 && isLoaded) virtual.scrollToIndex(index, { align: "center" });
		else if (placed.current !== `asked ${wanted}`) {
			placed.current = `asked ${wanted}`;
			void transcript.load(spot);
			return;
		}
		placed.current = wanted;
	}, [drawn, spot, wanted, virtual, transcript, state.segments]);
}

function Drawing({
	item,
	conversation,
	transcript,
	olderError,
	spot,
	isLast,
}: {
	readonly item: Drawn;
	readonly conversation: Conversation;
	readonly transcript: Transcript;
	readonly olderError: unknown;
	readonly spot: Spot | null;
	readonly isLast: boolean;
}) {
	switch (item.kind) {
		case "start":
			return (
				<StartEntry hasOlder={item.hasOlder} error={olderError} onRetry={() => void transcript.readOlder()} />
			);
		case "day":
			return <DayEntry at={item.at} />;
		case "boundary":
			return (
				<BoundaryEntry
					conversation={conversation.id}
					ended={item.ended}
					next={item.next}
					isLast={item.isLast}
					fork={item.fork}
				/>
			);
		case "message":
			return (
				<MessageItem
					conversation={conversation}
					message={item.message}
					text={item.text}
					calls={item.calls}
					files={item.files}
					sent={item.sent}
					follows={item.follows}
					fork={item.fork}
					isMarked={spot?.session === item.message.session && spot.seq === item.message.seq}
				/>
			);
		case "partial":
			return (
				<MessageItem
					conversation={conversation}
					message={null}
					text={item.partial.text}
					calls={NO_CALLS}
					files={NO_CALLS}
					sent={null}
					follows={false}
					fork={null}
				/>
			);
		case "meta":
			return <MetaEntry message={item.message} />;
		case "notice":
			return item.notice.turn === null ? (
				<NoticeEntry notice={item.notice} />
			) : (
				<FailureEntry
					conversation={conversation.id}
					turn={item.notice.turn}
					text={item.notice.text}
					isLast={isLast}
				/>
			);
		case "asked":
			return <AskedItem asked={item.asked} />;
		case "outgoing":
			return <OutgoingItem outgoing={item.outgoing} />;
		case "working":
			return <WorkingEntry />;
	}
}

function EndButton({
	drawn,
	isAway,
	hasNewer,
	onEnd,
}: {
	readonly drawn: readonly Drawn[];
	readonly isAway: boolean;
	readonly hasNewer: boolean;
	readonly onEnd: () => void;
}) {
	const [seen, setSeen] = useState(drawn.at(-1)?.key);
	const lastKey = drawn.at(-1)?.key;
	if (!isAway && seen !== lastKey) setSeen(lastKey);
	if (!isAway) return null;
	const seenIndex = drawn.findLastIndex(({ key }) => key === seen);
	const fresh =
		seenIndex === -1 || hasNewer ? 0 : drawn.slice(seenIndex + 1).filter(({ kind }) => kind !== "day").length;
	return (
		<div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
			<Button
				className="rise pointer-events-auto rounded-full!"
				size="sm"
				look={fresh > 0 ? "primary" : "plain"}
				icon={<ArrowDown size={14} />}
				onClick={onEnd}
			>
				{fresh === 0
					? texts.transcript.jumpToTheEnd
					: fresh === 1
						? texts.transcript.newMessage
						: texts.transcript.newMessages(String(fresh))}
			</Button>
		</div>
	);
}

/** An estimate; drawn rows are measured. */
function heightOf(item: Drawn | undefined): number {
	if (!item) return 60;
	if (item.kind === "message")
		return (
			(item.follows ? 12 : 42) +
			textHeight(item.text) +
			item.calls.length * 37 +
			(item.files.length > 0 ? 170 : 0) +
			(item.sent ? 18 : 0)
		);
	if (item.kind === "outgoing") return 60 + textHeight(item.outgoing.text);
	if (item.kind === "asked") return 60 + textHeight(item.asked.text);
	if (item.kind === "notice") return 24 + textHeight(item.notice.text);
	if (item.kind === "boundary") return 130;
	return item.kind === "partial" ? 64 : 44;
}

function textHeight(text: string): number {
	if (text === "") return 0;
	let lines = 0;
	for (const line of text.split("\n", 200)) lines += Math.max(1, Math.ceil(line.length / 95));
	return lines * 22;
}
