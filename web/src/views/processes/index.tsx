import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { SquareTerminal, X } from "lucide-react";
import { api, useApi } from "../../api/index.ts";
import {
	Button,
	type Column,
	ConversationLink,
	Empty,
	ErrorState,
	Page,
	PlainText,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { howItEnded, isRunning, type Process, ProcessState, Runtime } from "./state.tsx";

const PAGE = 100;
const MOST_RUNNING = 200;
const CHANGES = { on: ["process"] } as const;

export function ProcessesView() {
	const { conversation } = useSearch({ from: "/processes" });
	const of = conversation === undefined ? {} : { conversation };
	const running = useApi("processes", { ...of, which: "running", limit: MOST_RUNNING }, CHANGES);
	const all = useInfiniteQuery({
		queryKey: ["processes", "all", conversation],
		queryFn: ({ pageParam, signal }) =>
			api.processes(
				{ ...of, which: "all", limit: PAGE, ...(pageParam !== "" && { after: pageParam }) },
				signal,
			),
		initialPageParam: "",
		getNextPageParam: ({ next }) => next,
		meta: CHANGES,
	});
	return (
		<Page
			title="Processes"
			about="What the agent runs in the background"
			actions={conversation !== undefined && <OfConversation id={conversation} />}
		>
			<List
				running={running.data?.processes}
				all={all.data?.pages.flatMap(({ processes }) => processes)}
				error={running.error ?? all.error}
				retry={() => {
					void running.refetch();
					void all.refetch();
				}}
			/>
			{all.hasNextPage && (
				<div className="flex justify-center p-4">
					<Button disabled={all.isFetchingNextPage} onClick={() => void all.fetchNextPage()}>
						Show earlier ones
					</Button>
				</div>
			)}
		</Page>
	);
}

function OfConversation({ id }: { readonly id: string }) {
	return (
		<span className="flex min-w-0 items-center gap-1 text-sm text-ink-2">
			of <ConversationLink id={id} />
			<Link
				to="/processes"
				aria-label="Of all conversations"
				className="inline-flex size-7 items-center justify-center rounded-sm hover:bg-hover"
			>
				<X size={14} aria-hidden />
			</Link>
		</span>
	);
}

function List({
	running,
	all,
	error,
	retry,
}: {
	readonly running: readonly Process[] | undefined;
	readonly all: readonly Process[] | undefined;
	readonly error: Error | null;
	readonly retry: () => void;
}) {
	if (!running || !all) return error ? <ErrorState error={error} onRetry={retry} /> : <SkeletonRows />;
	const alive = new Set(running.map(({ id }) => id));
	const ended = all.filter((one) => !alive.has(one.id) && !isRunning(one));
	if (running.length === 0 && ended.length === 0)
		return (
			<Empty icon={<SquareTerminal size={24} />} title="No processes">
				Programs that the agent starts in the background stand here, with their output. They go on when the
				conversation rests, and when Keryx is started anew.
			</Empty>
		);
	return <Table label="Processes" columns={COLUMNS} rows={[...running, ...ended]} rowKey={({ id }) => id} />;
}

const COLUMNS: readonly Column<Process>[] = [
	{
		name: "Command",
		cell: (process) => (
			<Link to="/processes/$id" params={{ id: process.id }} className="block py-1.5 hover:text-accent">
				<span className="line-clamp-2 font-mono text-sm wrap-anywhere md:line-clamp-1">
					<PlainText text={process.command} />
				</span>
			</Link>
		),
	},
	{
		name: "State",
		cell: (process) => (
			<span className="flex items-center gap-2">
				<ProcessState process={process} />
				{process.survivors.length > 0 && !isRunning(process) && (
					<span className="text-xs text-warn">left {process.survivors.length} behind</span>
				)}
				{process.unreachable && (
					<span className="text-xs text-warn" title="This is what was last known">
						host does not answer
					</span>
				)}
			</span>
		),
	},
	{
		name: "How it ended",
		wideOnly: true,
		cell: (process) =>
			!isRunning(process) && (
				<span className="block max-w-56 truncate text-sm text-ink-2" title={howItEnded(process)}>
					{howItEnded(process)}
				</span>
			),
	},
	{
		name: "Conversation",
		wideOnly: true,
		cell: ({ conversation }) => (
			<span className="flex max-w-48">
				<ConversationLink id={conversation} />
			</span>
		),
	},
	{
		name: "Started",
		wideOnly: true,
		cell: ({ started_at }) => <RelativeTime at={started_at} className="whitespace-nowrap text-ink-2" />,
	},
	{ name: "Runtime", align: "right", cell: (process) => <Runtime process={process} /> },
];
