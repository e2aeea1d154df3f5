// What stands in a transcript beside messages.
import { ArrowUpToLine, ChevronRight, CornerUpLeft, Info, Square } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError, api } from "../../api/index.ts";
import type { Message, Session } from "../../api/types.ts";
import { dayName, duration, fullTime, useNow } from "../../lib/time.ts";
import { Button, ErrorLine, Skeleton } from "../../ui/index.ts";
import { textOf } from "./content.ts";
import { Questions } from "./message-item.tsx";
import type { Notice } from "./notices.ts";
import { Prose } from "./prose.tsx";
import { questionsIn } from "./questions.ts";
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
					Try again
				</Button>
			</div>
		);
	if (hasOlder)
		return (
			<div className="flex flex-col gap-2 px-3 py-4" role="status" aria-label="Loading earlier messages">
				<Skeleton className="h-3 w-1/4" />
				<Skeleton className="h-3 w-2/3" />
			</div>
		);
	return (
		<p className="flex items-center justify-center gap-1.5 pt-6 pb-2 text-xs text-ink-3">
			<ArrowUpToLine size={13} aria-hidden /> The conversation begins here
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

/** Where one session ended and the next began; the last one can be taken back. */
export function BoundaryEntry({
	conversation,
	ended,
	next,
	isLast,
}: {
	readonly conversation: string;
	readonly ended: Session | null;
	readonly next: Session | null;
	readonly isLast: boolean;
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
			aria-label="Session boundary"
			className="my-4 flex flex-col items-center gap-2 border-y bg-panel/60 px-4 py-3 text-center"
		>
			<p className="text-sm text-ink-2">{boundaryWords(ended, next)}</p>
			{ended?.title && <p className="max-w-120 truncate text-xs text-ink-3">Before: “{ended.title}”</p>}
			{canContinue && (
				<Button size="sm" icon={<CornerUpLeft size={14} />} disabled={isBusy} onClick={() => void goOn()}>
					Continue previous
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
			<section aria-label="Answer to a command" className="mx-3 my-2 rounded-sm border bg-panel/60 px-3 py-2">
				<Prose text={notice.text} />
			</section>
		);
	const { rest, questions } = questionsIn(notice.text);
	return (
		<aside aria-label="Notice" className="mx-3 my-2 text-sm text-ink-2">
			{rest !== "" && (
				<p className="flex gap-2">
					<Info size={15} aria-hidden className="mt-0.5 shrink-0 text-accent" />
					<span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{rest}</span>
				</p>
			)}
			<Questions questions={questions} />
		</aside>
	);
}

/** While nothing is written yet: that something goes on, for how long, and how to end it. */
export function WorkingEntry({ onStop }: { readonly onStop: () => void }) {
	const [since] = useState(() => Date.now());
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	return (
		<div role="status" className="flex h-9 items-center gap-2.5 px-3.5 text-sm text-ink-3">
			<span aria-hidden className="pulse size-2 rounded-full bg-accent" />
			Working
			{now - since > 2000 && <span className="tabular-nums">{duration(now - since)}</span>}
			<Button size="sm" look="quiet" icon={<Square size={11} fill="currentColor" />} onClick={onStop}>
				Stop
			</Button>
		</div>
	);
}
