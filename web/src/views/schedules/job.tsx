import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, queryClient, useApi } from "../../api/index.ts";
import {
	Badge,
	Button,
	Code,
	type Column,
	ErrorLine,
	ErrorState,
	SkeletonRows,
	Table,
	type Tone,
} from "../../ui/index.ts";
import { type Job, JobState } from "./list.tsx";
import { inYourZone, yourZone } from "./times.ts";

type Run = Answer<"scheduleRuns">["runs"][number];
const CHANGES = { on: ["schedule", "delivery"] } as const;

export function JobDetail({ id }: { readonly id: string }) {
	const job = useApi("schedule", { job: id }, CHANGES);
	const history = useApi("scheduleRuns", { job: id, limit: 100 }, CHANGES);
	if (job.error) return <ErrorState error={job.error} onRetry={() => void job.refetch()} />;
	if (!job.data) return <SkeletonRows />;
	const { name, timing, text, deliver, failure, conversation } = job.data;
	return (
		<article className="flex flex-col gap-4 py-4">
			<section aria-label="Job" className="flex flex-col gap-2 px-4 lg:px-6">
				<Link to="/schedules" className="text-sm text-ink-3 hover:underline">
					All jobs
				</Link>
				<h2 className="flex items-center gap-2 text-base font-semibold">
					{name} <JobState job={job.data} />
				</h2>
				<p>{timing.shown}</p>
				<Code text={text} label="What it does" wrap copy={false} />
				<dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
					<Fact name="Result goes to">{deliver ?? "the conversation it runs in"}</Fact>
					<Fact name="Failures go to">{failure ?? "where the job was made, else the home channels"}</Fact>
					<Fact name="Missed runs">{MISSED[job.data.catch_up]}</Fact>
					{conversation !== null && (
						<Fact name="Conversation">
							<Link to="/c/$conversation" params={{ conversation }} className="underline">
								open it
							</Link>
						</Fact>
					)}
				</dl>
				<Actions job={job.data} />
			</section>
			<section aria-label="Next runs" className="px-4 lg:px-6">
				<h3 className="font-medium">Next runs in your zone ({yourZone()})</h3>
				<ul className="text-sm">
					{timing.next.map((at, n) => (
						<li key={at}>
							{inYourZone(at)}{" "}
							<span className="text-ink-3">
								({timing.next_shown[n]} in {timing.zone})
							</span>
						</li>
					))}
				</ul>
				{timing.change && <p className="mt-2 text-sm text-ink-2">{timing.change.text}</p>}
			</section>
			<section aria-label="History">
				<h3 className="px-4 font-medium lg:px-6">History</h3>
				{history.error ? (
					<ErrorState error={history.error} onRetry={() => void history.refetch()} />
				) : history.data === undefined ? (
					<SkeletonRows />
				) : history.data.runs.length === 0 ? (
					<p className="px-4 text-ink-3 lg:px-6">It has not run yet.</p>
				) : (
					<Table
						label="Runs"
						columns={RUNS}
						rows={history.data.runs}
						rowKey={({ scheduled_at }) => scheduled_at}
					/>
				)}
			</section>
		</article>
	);
}

const MISSED: Readonly<Record<Job["catch_up"], string>> = {
	none: "are not caught up",
	once: "are caught up once",
	all: "are all caught up",
};

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
	return (
		<>
			<dt className="text-ink-3">{name}</dt>
			<dd>{children}</dd>
		</>
	);
}

function Actions({ job: { id, state, running } }: { readonly job: Job }) {
	const navigate = useNavigate({ from: "/schedules" });
	const acting = useMutation({
		mutationFn: async (action: "run" | "pause" | "resume" | "delete") => {
			if (action === "run") await api.runSchedule({ job: id });
			if (action === "pause") await api.pauseSchedule({ job: id });
			if (action === "resume") await api.resumeSchedule({ job: id });
			if (action !== "delete") return;
			await api.deleteSchedule({ job: id });
			await navigate({ search: {} });
		},
		onSettled: () => queryClient.invalidateQueries(),
	});
	return (
		<div className="flex flex-wrap items-center gap-2">
			<Button disabled={running || acting.isPending} onClick={() => acting.mutate("run")}>
				Run now
			</Button>
			{state === "active" && (
				<Button disabled={acting.isPending} onClick={() => acting.mutate("pause")}>
					Pause
				</Button>
			)}
			{state === "paused" && (
				<Button disabled={acting.isPending} onClick={() => acting.mutate("resume")}>
					Resume
				</Button>
			)}
			<Button look="danger" disabled={acting.isPending} onClick={() => acting.mutate("delete")}>
				Delete
			</Button>
			{acting.isError && <ErrorLine error={acting.error} />}
		</div>
	);
}

const RUN_TONES: Readonly<Record<Run["state"], Tone>> = {
	open: "accent",
	answered: "ok",
	asked: "warn",
	failed: "danger",
	expired: "danger",
	stopped: "neutral",
	missed: "warn",
	refused: "danger",
};
const DELIVERY_TONES: Readonly<Record<NonNullable<Run["delivery"]>, Tone>> = {
	waiting: "accent",
	sent: "ok",
	unknown: "warn",
	dead: "danger",
};
const WHY: Readonly<Record<string, string>> = {
	away: "Keryx was not running",
	busy: "the run before had not ended",
	crowded: "too many jobs were running",
	too_late: "later than the job allows",
	superseded: "a newer run took its place",
};

const RUNS: readonly Column<Run>[] = [
	{ name: "Scheduled", cell: ({ scheduled_at }) => inYourZone(scheduled_at) },
	{ name: "Run", cell: ({ state }) => <Badge tone={RUN_TONES[state]}>{state}</Badge> },
	{
		name: "Delivery",
		cell: ({ delivery, via }) =>
			delivery === null ? (
				<span className="text-ink-3">{via === "by_agent" ? "sent by the agent" : "none"}</span>
			) : (
				<Badge tone={DELIVERY_TONES[delivery]}>{delivery}</Badge>
			),
	},
	{
		name: "Why",
		cell: ({ reason, delivery_reason }) =>
			reason === null ? (delivery_reason ?? "") : (WHY[reason] ?? reason),
		wideOnly: true,
	},
];
