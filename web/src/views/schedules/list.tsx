import { Link } from "@tanstack/react-router";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { texts } from "../../texts/schedules.ts";
import { Badge, type Column, Table, type Tone } from "../../ui/index.ts";
import { inYourZone } from "./times.ts";

export type Job = Answer<"schedule">;

const TONES: Readonly<Record<Job["state"], Tone>> = { active: "ok", paused: "warn", ended: "neutral" };

export function JobList({ jobs }: { readonly jobs: readonly Job[] }) {
	return <Table label={texts.list.label} columns={COLUMNS} rows={jobs} rowKey={({ id }) => id} />;
}

const COLUMNS: readonly Column<Job>[] = [
	{
		name: texts.list.name,
		cell: ({ id, name }) => (
			<Link to="/schedules" search={{ id }} className="font-medium hover:underline">
				{name}
			</Link>
		),
	},
	{ name: texts.list.when, cell: ({ timing }) => timing.shown, wideOnly: true },
	{ name: texts.list.next, cell: ({ due_at }) => (due_at === null ? "" : inYourZone(due_at)) },
	{ name: texts.list.task, cell: ({ task }) => texts.tasks[task], wideOnly: true },
	{ name: texts.list.state, cell: (job) => <JobState job={job} /> },
];

export function JobState({ job: { state, paused_because, running } }: { readonly job: Job }) {
	if (running) return <Badge tone="accent">{texts.states.running}</Badge>;
	return (
		<Badge tone={TONES[state]}>
			{paused_because === null ? texts.states[state] : texts.paused[paused_because]}
		</Badge>
	);
}
