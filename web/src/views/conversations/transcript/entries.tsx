// Transcript entries other than messages.

import { ArrowUpToLine, ChevronRight, CornerUpLeft, Info, RotateCw, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError, api, useApi } from "../../../api/index.ts";
import type { Message, Session } from "../../../api/types.ts";
import { dayName, duration, fullTime, useNow } from "../../../lib/time.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, ErrorLine, Skeleton } from "../../../ui/index.ts";
import { Prose } from "../prose/prose.tsx";
import { VersionSwitch } from "./actions.tsx";
import { textOf } from "./content.ts";
import { Questions } from "./message-item.tsx";
import type { Notice } from "./notices.ts";
import { questionsIn } from "./questions.ts";
import type { Fork } from "./versions.ts";
import { boundaryWords, isReturn, metaWords } from "./words.ts";

export function StartEntry({
	hasOlder,
	error,
	onRetry,
}: {
	readonly hasOlder: boolean;
	readonly error: unknown;
	readonly onRetry: () => void;
}) {
	if (error !== null)
		return (
			<div className="flex items-center justify-center gap-3 py-4">
				<ErrorLine error={error} />
				<Button size="sm" onClick={onRetry}>
					{texts.entries.tryAgain}
				</Button>
			</div>
		);
	if (hasOlder)
		return (
			<div
				className="flex flex-col gap-2 px-3 py-4"
				role="status"
				aria-label={texts.entries.loadingEarlierMessages}
			>
				<Skeleton className="h-3 w-1/4" />
				<Skeleton className="h-3 w-2/3" />
			</div>
		);
	return (
		<p className="flex items-center justify-center gap-1.5 pt-6 pb-2 text-xs text-ink-3">
			<ArrowUpToLine size={13} aria-hidden /> {texts.entries.startOfTheConversation}
		</p>
	);
}

export function DayEntry({ at }: { readonly at: string }) {
	const now = useNow();
	const time = Date.parse(at);
	return (
		<p className="pt-4 pb-1 text-center text-xs font-medium text-ink-3" title={fullTime(time)}>
			{dayName(time, now)}
		</p>
	);
}

/** The boundary between two sessions. The last one can be undone. */
export function BoundaryEntry({
	conversation,
	ended,
	next,
	isLast,
	fork,
}: {
	readonly conversation: string;
	readonly ended: Session | null;
	readonly next: Session | null;
	readonly isLast: boolean;
	readonly fork: Fork | null;
}) {
	const [error, setError] = useState<unknown>(null);
	const [isBusy, setBusy] = useState(false);
	const canContinue = isLast && next !== null && next.base === null && !isReturn(ended, next);
	const goOn = async (): Promise<void> => {
		setBusy(true);
		setError(null);
		try {
			await api.continueSession({ conversation });
		} catch (cause) {
			setError(cause instanceof ApiError ? cause : new Error(String(cause)));
		} finally {
			setBusy(false);
		}
	};
	return (
		<section
			aria-label={texts.entries.sessionBoundary}
			className="my-4 flex flex-col items-center gap-2 border-y bg-panel/60 px-4 py-3 text-center"
		>
			<p className="text-sm text-ink-2">{boundaryWords(ended, next)}</p>
			{fork && <VersionSwitch conversation={conversation} fork={fork} />}
			{ended?.title && (
				<p className="max-w-120 truncate text-xs text-ink-3">{texts.entries.previousSession(ended.title)}</p>
			)}
			{canContinue && (
				<Button size="sm" icon={<CornerUpLeft size={14} />} disabled={isBusy} onClick={() => void goOn()}>
					{texts.entries.continueThePreviousSession}
				</Button>
			)}
			{error !== null && <ErrorLine error={error} />}
		</section>
	);
}

export function MetaEntry({ message }: { readonly message: Message }) {
	return (
		<details className="group/meta mx-3 my-2 rounded-sm border border-dashed">
			<summary className="flex h-8 list-none items-center gap-2 rounded-sm px-2.5 text-sm text-ink-3 hover:bg-hover [&::-webkit-details-marker]:hidden">
				<ChevronRight size={14} aria-hidden className="transition-transform group-open/meta:rotate-90" />
				{metaWords(message.kind)}
			</summary>
			<div className="border-t px-3 py-2 text-sm text-ink-2">
				{message.kind === "summary" ? (
					<Prose text={textOf(message.content)} />
				) : (
					<p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{textOf(message.content)}</p>
				)}
			</div>
		</details>
	);
}

export function NoticeEntry({ notice }: { readonly notice: Notice }) {
	if (notice.kind === "command")
		return (
			<section
				aria-label={texts.entries.answerToACommand}
				className="mx-3 my-2 rounded-sm border bg-panel/60 px-3 py-2"
			>
				<Prose text={notice.text} />
			</section>
		);
	const { rest, questions } = questionsIn(notice.text);
	return (
		<div role="note" aria-label={texts.entries.notice} className="mx-3 my-2 text-sm text-ink-2">
			{rest !== "" && (
				<p className="flex gap-2">
					<Info size={15} aria-hidden className="mt-0.5 shrink-0 text-accent" />
					<span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{rest}</span>
				</p>
			)}
			<Questions questions={questions} />
		</div>
	);
}

/** A failed turn: a sentence, the provider's message folded, and a button to try again. */
export function FailureEntry({
	conversation,
	turn,
	text,
	isLast,
}: {
	readonly conversation: string;
	readonly turn: string;
	readonly text: string;
	/** Nothing was said afterwards, so the same message can be answered again. */
	readonly isLast: boolean;
}) {
	const [error, setError] = useState<unknown>(null);
	const [isBusy, setBusy] = useState(false);
	const again = async (): Promise<void> => {
		setBusy(true);
		setError(null);
		await api.retry({ conversation }).catch(setError);
		setBusy(false);
	};
	return (
		<div
			role="note"
			aria-label={texts.entries.notice}
			className="mx-3 my-2 rounded-md border border-danger/40 bg-danger-soft px-3 py-2.5"
		>
			<p className="flex gap-2">
				<TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-danger" />
				<span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</span>
			</p>
			<div className="mt-1.5 flex flex-wrap items-start gap-x-3 gap-y-2 pl-6">
				{isLast && (
					<Button size="sm" icon={<RotateCw size={13} />} disabled={isBusy} onClick={() => void again()}>
						{texts.entries.tryAgain}
					</Button>
				)}
				<ProviderWords turn={turn} />
			</div>
			{error !== null && <ErrorLine error={error} />}
		</div>
	);
}

/** The provider's message, unchanged. Read only when it is opened. */
function ProviderWords({ turn }: { readonly turn: string }) {
	const [isOpen, setOpen] = useState(false);
	const { data, error } = useApi("turn", { turn }, { enabled: isOpen });
	return (
		<details
			className="group/words min-w-0 flex-1 text-sm"
			onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
		>
			<summary className="flex h-7 w-fit list-none items-center gap-1 rounded-sm text-ink-2 hover:text-ink [&::-webkit-details-marker]:hidden">
				<ChevronRight size={14} aria-hidden className="transition-transform group-open/words:rotate-90" />
				{texts.entries.theProvidersMessage}
			</summary>
			{error ? (
				<ErrorLine error={error} />
			) : (
				<p className="pb-1 font-mono text-xs whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">
					{data ? (data.detail ?? texts.entries.itGaveNoMessage) : "…"}
				</p>
			)}
		</details>
	);
}

/** Shown until the first text arrives. Says that a turn is working, and for how long. */
export function WorkingEntry() {
	const [since] = useState(() => Date.now());
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	return (
		<div role="status" className="flex h-9 items-center gap-2.5 px-3.5 text-sm text-ink-3">
			<span aria-hidden className="pulse size-2 rounded-full bg-accent" />
			{texts.entries.working}
			{now - since > 2000 && <span className="tabular-nums">{duration(now - since)}</span>}
		</div>
	);
}
