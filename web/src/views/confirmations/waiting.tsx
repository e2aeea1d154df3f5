// The queue. A question that is answered, expires or is withdrawn while a person looks at it stays in place and says so, until they leave
// or hide it. Nothing moves under a pointer that is about to approve something else.

import { useQueries } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useShortcut } from "../../app/shortcuts.ts";
import { texts } from "../../texts/confirmations.ts";
import { Button, Empty, ErrorState, Marked, SkeletonRows } from "../../ui/index.ts";
import { Question } from "./question.tsx";
import { type Confirmation, confirmationQuery, useWaitingQuestions } from "./wire.ts";

export function Waiting({ wanted }: { readonly wanted: string | undefined }) {
	const { data: waiting, error, refetch, isPending } = useWaitingQuestions();
	const { shown, putAway, settled } = useShown(waiting);
	useKeys();
	useWanted(wanted, shown.length > 0);
	if (error && !waiting) return <ErrorState error={error} onRetry={() => void refetch()} />;
	if (isPending) return <SkeletonRows rows={3} />;
	const count = waiting?.length ?? 0;
	return (
		<div className="mx-auto flex min-h-full w-full max-w-220 flex-col gap-3 p-4 lg:px-6">
			<p
				role="status"
				className={shown.length === 0 ? "sr-only" : "flex min-h-7 items-center gap-2 text-sm text-ink-2"}
			>
				<span className="flex-1">
					{count === 0
						? texts.waiting.nothingIsWaiting
						: count === 1
							? texts.waiting.n1QuestionIsWaiting
							: texts.waiting.questionsAreWaiting(count)}
					{count > 0 && (
						<span className="text-ink-3 pointer-coarse:hidden">
							{" "}
							<Marked text={texts.waiting.jAndKMoveA} />
						</span>
					)}
				</span>
				{settled > 0 && (
					<Button look="quiet" size="sm" onClick={putAway}>
						{texts.waiting.hideDecidedQuestions}
					</Button>
				)}
			</p>
			{shown.length === 0 ? (
				<Empty icon={<ShieldCheck size={24} />} title={texts.waiting.nothingNeedsYourDecision}>
					{texts.waiting.whenTheAgentOrAnother}
				</Empty>
			) : (
				shown.map((one) => <Question key={one.id} confirmation={one} />)
			)}
		</div>
	);
}

/** Waiting questions, and those that were waiting when they were first shown here. */
function useShown(waiting: readonly Confirmation[] | undefined) {
	const [seen, setSeen] = useState<readonly Confirmation[]>([]);
	const open = new Set(waiting?.map(({ id }) => id));
	const fresh = waiting?.filter(({ id }) => !seen.some((one) => one.id === id)) ?? [];
	if (fresh.length > 0) setSeen([...seen, ...fresh]);
	const gone = waiting ? seen.filter(({ id }) => !open.has(id)) : [];
	const after = useQueries({
		queries: gone.map(({ id }) => confirmationQuery(id)),
	});
	const known = new Map(
		[...(waiting ?? []), ...after.flatMap(({ data }) => data ?? [])].map((one) => [one.id, one]),
	);
	return {
		shown: seen.map((one) => known.get(one.id) ?? one),
		settled: gone.length,
		putAway: () => setSeen(seen.filter(({ id }) => open.has(id))),
	};
}

/** Keys act only on the focused question, and only focus the button: Enter presses it. */
function useKeys(): void {
	useShortcut("j", texts.waiting.nextQuestion, () => go(1));
	useShortcut("k", texts.waiting.previousQuestion, () => go(-1));
	useShortcut("a", texts.waiting.approveTheSelectedQuestionThen, () => toButton("approve"));
	useShortcut("d", texts.waiting.denyTheSelectedQuestionThen, () => toButton("deny"));
}

function go(by: 1 | -1): void {
	const all = [...document.querySelectorAll<HTMLElement>("[data-question]")];
	const at = all.findIndex((one) => one.contains(document.activeElement));
	const next = all[at < 0 ? (by === 1 ? 0 : all.length - 1) : at + by];
	next?.focus();
	next?.scrollIntoView({ block: "nearest" });
}

function toButton(answer: "approve" | "deny"): void {
	const question = document.activeElement?.closest("[data-question]");
	question?.querySelector<HTMLElement>(`[data-answer="${answer}"]`)?.focus();
}

/** Scrolls once to the question that the address names. */
function useWanted(id: string | undefined, isShown: boolean): void {
	const done = useRef<string>(undefined);
	useEffect(() => {
		if (id === undefined || !isShown || done.current === id) return;
		const question = document.querySelector<HTMLElement>(`[data-question="${CSS.escape(id)}"]`);
		if (!question) return;
		done.current = id;
		question.focus();
		question.scrollIntoView({ block: "start" });
	}, [id, isShown]);
}
