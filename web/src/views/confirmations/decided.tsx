import { History } from "lucide-react";
import { texts } from "../../texts/confirmations.ts";
import {
	Button,
	type Column,
	Empty,
	ErrorState,
	PlainText,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { StatusBadge } from "./question.tsx";
import { type Confirmation, useDecided } from "./wire.ts";
import { useWho } from "./words.ts";

export function Decided({ onOpen }: { readonly onOpen: (id: string) => void }) {
	const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useDecided();
	const whoOf = useWho();
	if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
	if (isPending) return <SkeletonRows />;
	const rows = data?.pages
		.flatMap(({ confirmations }) => confirmations)
		.filter(({ status }) => status !== "pending");
	if (!rows || rows.length === 0)
		return (
			<Empty icon={<History size={24} />} title={texts.decided.nothingHasBeenDecidedYet}>
				{texts.decided.approvedDeniedAndExpiredRequests}
			</Empty>
		);
	const columns: readonly Column<Confirmation>[] = [
		{
			name: texts.decided.question,
			cell: (one) => (
				<button
					type="button"
					onClick={() => onOpen(one.id)}
					className="block max-w-full py-1.5 text-left hover:text-accent"
				>
					<span className="block font-mono text-sm font-medium wrap-anywhere">{one.action}</span>
					<span className="line-clamp-1 text-sm text-ink-2 wrap-anywhere">
						<PlainText text={one.description} />
					</span>
				</button>
			),
		},
		{ name: texts.decided.state, cell: (one) => <StatusBadge confirmation={one} /> },
		{ name: texts.decided.askedBy, wideOnly: true, cell: (one) => whoOf(one.asked_by) },
		{
			name: texts.decided.decidedBy,
			wideOnly: true,
			cell: (one) => whoOf(one.resolved_by),
		},
		{
			name: texts.decided.when,
			align: "right",
			cell: (one) => (
				<RelativeTime
					at={(one.resolved_at ?? one.created_at) * 1000}
					className="whitespace-nowrap text-ink-2"
				/>
			),
		},
	];
	return (
		<>
			<Table
				label={texts.decided.decidedConfirmations}
				columns={columns}
				rows={rows}
				rowKey={({ id }) => id}
			/>
			{hasNextPage && (
				<div className="flex justify-center p-4">
					<Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
						{texts.decided.showEarlier}
					</Button>
				</div>
			)}
		</>
	);
}
