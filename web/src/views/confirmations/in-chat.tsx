// A question in the transcript, in its current state. It can be answered there while it waits; a decided one is one line.
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { useUnfolded } from "../../lib/unfolded.ts";
import { PlainText, Skeleton } from "../../ui/index.ts";
import { Arguments } from "./arguments.tsx";
import { Outcome, Question, StatusBadge } from "./question.tsx";
import { type Confirmation, useConfirmation } from "./wire.ts";
import { outcome, useWho } from "./words.ts";

export function QuestionInChat({
	id,
	children,
}: {
	readonly id: string;
	/** The text of the question, shown if its confirmation cannot be read. */
	readonly children: ReactNode;
}) {
	const { data, error } = useConfirmation(id);
	if (error && !data) return children;
	return (
		<div id={`question-${id}`} tabIndex={-1} className="mt-2">
			{!data ? (
				<Skeleton className="h-36 w-full" />
			) : data.status === "pending" ? (
				<Question inChat confirmation={data} />
			) : (
				<Decided confirmation={data} />
			)}
		</div>
	);
}

/** The state of a call's confirmation, as a badge. */
export function CallState({ id }: { readonly id: string }) {
	const { data } = useConfirmation(id);
	if (!data) return null;
	return <StatusBadge confirmation={data} />;
}

function Decided({ confirmation }: { readonly confirmation: Confirmation }) {
	const { id, action, description, details } = confirmation;
	const whoOf = useWho();
	const unfolded = useUnfolded(`question ${id}`);
	return (
		<details {...unfolded} className="group/decided rounded-md border bg-raised">
			<summary className="flex min-h-9 list-none flex-wrap items-center gap-x-2 gap-y-1 rounded-md px-3 py-1.5 text-sm hover:bg-hover [&::-webkit-details-marker]:hidden">
				<ChevronRight
					size={14}
					aria-hidden
					className="shrink-0 text-ink-3 transition-transform group-open/decided:rotate-90"
				/>
				<StatusBadge confirmation={confirmation} />
				<span className="min-w-0 font-mono text-xs wrap-anywhere">
					<PlainText text={action} />
				</span>
				<span role="status" className="text-ink-2">
					{outcome(confirmation, whoOf)}
				</span>
			</summary>
			<div className="flex flex-col gap-2.5 border-t px-4 py-3">
				<p className="max-w-prose wrap-anywhere">
					<PlainText text={description} />
				</p>
				<Arguments details={details} />
			</div>
			<Outcome confirmation={confirmation} />
		</details>
	);
}
