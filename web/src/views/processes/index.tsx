import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { SquareTerminal, X } from "lucide-react";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/processes.ts";
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
	const { conversation, tab } = useSearch({ from: "/processes" });
	const isAll = tab === "all";
	const kind = isAll ? ("all" as const) : ("background" as const);
	const of = { kind, ...(conversation !== undefined && { conversation }) };
	const running = useApi("processes", { ...of, which: "running", limit: MOST_RUNNING }, CHANGES);
	const all = useInfiniteQuery({
		queryKey: ["processes", "all", kind, conversation],
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
			title={texts.view.processes}
			about={isAll ? texts.view.everyCommandTheAgentRan : texts.view.programsTheAgentRunsIn}
			actions={
				<>
					{conversation !== undefined && <OfConversation id={conversation} />}
					<KindChoice isAll={isAll} />
				</>
			}
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
						{texts.view.showEarlier}
					</Button>
				</div>
			)}
		</Page>
	);
}

/** Shows or hides commands that a turn waits for: they are many, and end quickly. */
function KindChoice({ isAll }: { readonly isAll: boolean }) {
	const navigate = useNavigate({ from: "/processes" });
	return (
		<label className="flex items-center gap-2 text-sm text-ink-2">
			<input
				type="checkbox"
				className="size-4 accent-accent"
				checked={isAll}
				onChange={({ target }) =>
					void navigate({
						search: ({ tab: _, ...rest }) => (target.checked ? { ...rest, tab: "all" } : rest),
						replace: true,
					})
				}
			/>
			{texts.view.includeForegroundCommands}
		</label>
	);
}

function OfConversation({ id }: { readonly id: string }) {
	return (
		<span className="flex min-w-0 items-center gap-1 text-sm text-ink-2">
			{texts.view.in}
			<ConversationLink id={id} />
			<Link
				to="/processes"
				aria-label={texts.view.showAllConversations}
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
			<Empty icon={<SquareTerminal size={24} />} title={texts.view.noProcesses}>
				{texts.view.programsTheAgentStartsIn}
			</Empty>
		);
	return (
		<Table
			label={texts.view.processes}
			columns={COLUMNS}
			rows={[...running, ...ended]}
			rowKey={({ id }) => id}
		/>
	);
}

const COLUMNS: readonly Column<Process>[] = [
	{
		name: texts.view.command,
		cell: (process) => (
			<Link to="/processes/$id" params={{ id: process.id }} className="block py-1.5 hover:text-accent">
				<span className="line-clamp-2 font-mono text-sm wrap-anywhere md:line-clamp-1">
					<PlainText text={process.command} />
				</span>
			</Link>
		),
	},
	{
		name: texts.view.state,
		cell: (process) => (
			<span className="flex items-center gap-2">
				<ProcessState process={process} />
				{process.survivors.length > 0 && !isRunning(process) && (
					<span className="text-xs text-warn">{texts.view.leftRunning(process.survivors.length)}</span>
				)}
				{process.unreachable && (
					<span className="text-xs text-warn" title={texts.view.lastKnownState}>
						{texts.view.hostDoesNotAnswer}
					</span>
				)}
			</span>
		),
	},
	{
		name: texts.view.howItEnded,
		wideOnly: true,
		cell: (process) =>
			!isRunning(process) && (
				<span className="block max-w-56 truncate text-sm text-ink-2" title={howItEnded(process)}>
					{howItEnded(process)}
				</span>
			),
	},
	{
		name: texts.view.conversation,
		wideOnly: true,
		cell: ({ conversation }) => (
			<span className="flex max-w-48">
				<ConversationLink id={conversation} />
			</span>
		),
	},
	{
		name: texts.view.started,
		wideOnly: true,
		cell: ({ started_at }) => <RelativeTime at={started_at} className="whitespace-nowrap text-ink-2" />,
	},
	{ name: texts.view.runtime, align: "right", cell: (process) => <Runtime process={process} /> },
];
