import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, queryClient, useApi } from "../../api/index.ts";
import { texts } from "../../texts/schedules.ts";
import {
	Badge,
	Button,
	Code,
	type Column,
	Dialog,
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
	// True while the job is being deleted. Otherwise the event of its deletion would read it once more.
	const [isGoing, setGoing] = useState(false);
	const job = useApi("schedule", { job: id }, { ...CHANGES, enabled: !isGoing });
	const history = useApi("scheduleRuns", { job: id, limit: 100 }, { ...CHANGES, enabled: !isGoing });
	if (job.error) return <ErrorState error={job.error} onRetry={() => void job.refetch()} />;
	if (!job.data) return <SkeletonRows />;
	const { name, timing, text, deliver, failure, conversation } = job.data;
	return (
		<article className="flex flex-col gap-4 py-4">
			<section aria-label={texts.job.label} className="flex flex-col gap-2 px-4 lg:px-6">
				<Link to="/schedules" className="text-sm text-ink-3 hover:underline">
					{texts.job.all}
				</Link>
				<h2 className="flex items-center gap-2 text-base font-semibold">
					{name} <JobState job={job.data} />
				</h2>
				<p>{timing.shown}</p>
				<Code text={text} label={texts.tasks[job.data.task]} wrap copy={false} />
				<dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
					<Fact name={texts.job.result}>{deliver ?? texts.job.itself}</Fact>
					<Fact name={texts.job.failure}>{failure ?? texts.job.origin}</Fact>
					<Fact name={texts.job.missed}>{texts.catchUp[job.data.catch_up]}</Fact>
					{job.data.model !== null && <Fact name={texts.job.model}>{job.data.model}</Fact>}
					{conversation !== null && (
						<Fact name={texts.job.conversation}>
							<Link to="/c/$conversation" params={{ conversation }} className="underline">
								{texts.job.open}
							</Link>
						</Fact>
					)}
				</dl>
				<Actions job={job.data} onGoing={setGoing} />
			</section>
			<section aria-label={texts.job.next} className="px-4 lg:px-6">
				<h3 className="font-medium">{texts.job.nextIn(yourZone())}</h3>
				<ul className="text-sm">
					{timing.next.map((at, n) => (
						<li key={at}>
							{inYourZone(at)}{" "}
							<span className="text-ink-3">{texts.job.local(timing.next_shown[n] ?? "", timing.zone)}</span>
						</li>
					))}
				</ul>
				{timing.change && <p className="mt-2 text-sm text-ink-2">{timing.change.text}</p>}
			</section>
			<section aria-label={texts.job.history}>
				<h3 className="px-4 font-medium lg:px-6">{texts.job.history}</h3>
				{history.error ? (
					<ErrorState error={history.error} onRetry={() => void history.refetch()} />
				) : history.data === undefined ? (
					<SkeletonRows />
				) : history.data.runs.length === 0 ? (
					<p className="px-4 text-ink-3 lg:px-6">{texts.job.never}</p>
				) : (
					<Table
						label={texts.runs.label}
						columns={RUNS}
						rows={history.data.runs}
						rowKey={({ scheduled_at }) => scheduled_at}
					/>
				)}
			</section>
		</article>
	);
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
	return (
		<>
			<dt className="text-ink-3">{name}</dt>
			<dd>{children}</dd>
		</>
	);
}

interface Going {
	/** Reports whether the job is being deleted. */
	readonly onGoing: (isGoing: boolean) => void;
}

function Actions({ job, onGoing }: Going & { readonly job: Job }) {
	const { id, state, running } = job;
	const [isDeleting, setDeleting] = useState(false);
	const acting = useMutation({
		mutationFn: async (action: "run" | "pause" | "resume") => {
			if (action === "run") await api.runSchedule({ job: id });
			if (action === "pause") await api.pauseSchedule({ job: id });
			if (action === "resume") await api.resumeSchedule({ job: id });
		},
		onSettled: () => queryClient.invalidateQueries(),
	});
	return (
		<div className="flex flex-wrap items-center gap-2">
			<Button disabled={running || acting.isPending} onClick={() => acting.mutate("run")}>
				{texts.actions.run}
			</Button>
			{state === "active" && (
				<Button disabled={acting.isPending} onClick={() => acting.mutate("pause")}>
					{texts.actions.pause}
				</Button>
			)}
			{state === "paused" && (
				<Button disabled={acting.isPending} onClick={() => acting.mutate("resume")}>
					{texts.actions.resume}
				</Button>
			)}
			<Button look="danger" disabled={acting.isPending} onClick={() => setDeleting(true)}>
				{texts.actions.delete}
			</Button>
			{acting.isError && <ErrorLine error={acting.error} />}
			{isDeleting && <DeleteJob job={job} onGoing={onGoing} onClose={() => setDeleting(false)} />}
		</div>
	);
}

function DeleteJob({
	job: { id, name },
	onGoing,
	onClose,
}: Going & { readonly job: Job; readonly onClose: () => void }) {
	const navigate = useNavigate({ from: "/schedules" });
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => api.deleteSchedule({ job: id }),
		onSuccess: async () => {
			await navigate({ search: {} });
			await queryClient.invalidateQueries();
		},
		onError: () => onGoing(false),
	});
	const go = () => {
		onGoing(true);
		mutate();
	};
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={texts.deletion.title(name)}
			about={texts.deletion.about}
			actions={
				<>
					<Button onClick={onClose}>{texts.deletion.cancel}</Button>
					<Button look="danger" disabled={isPending} onClick={go}>
						{texts.deletion.delete}
					</Button>
				</>
			}
		>
			{error && <ErrorLine error={error} />}
		</Dialog>
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
/** Why a run was missed. Other reasons are text already. */
const REASONS: Readonly<Record<string, string>> = texts.reasons;

const RUNS: readonly Column<Run>[] = [
	{ name: texts.runs.scheduled, cell: ({ scheduled_at }) => inYourZone(scheduled_at) },
	{
		name: texts.runs.run,
		cell: ({ state }) => <Badge tone={RUN_TONES[state]}>{texts.runStates[state]}</Badge>,
	},
	{
		name: texts.runs.delivery,
		cell: ({ delivery, via }) =>
			delivery === null ? (
				<span className="text-ink-3">{via === "by_agent" ? texts.runs.byAgent : texts.runs.none}</span>
			) : (
				<Badge tone={DELIVERY_TONES[delivery]}>
					{via === "by_agent"
						? texts.runs.byAgentToo(texts.deliveries[delivery])
						: texts.deliveries[delivery]}
				</Badge>
			),
	},
	{
		name: texts.runs.why,
		cell: ({ reason, delivery_reason }) =>
			reason === null ? (delivery_reason ?? "") : (REASONS[reason] ?? reason),
		wideOnly: true,
	},
];
