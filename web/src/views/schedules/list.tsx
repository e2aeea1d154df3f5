import { Link } from "@tanstack/react-router";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { Badge, type Column, Table, type Tone } from "../../ui/index.ts";
import { inYourZone } from "./times.ts";

export type Job = Answer<"schedule">;

const TONES: Readonly<Record<Job["state"], Tone>> = { active: "ok", paused: "warn", ended: "neutral" };
const PAUSED: Readonly<Record<NonNullable<Job["paused_because"]>, string>> = {
	user: "paused",
	failures: "paused after failures",
	owner: "paused: its owner is no longer let in",
};

export function JobList({ jobs }: { readonly jobs: readonly Job[] }) {
	return <Table label="Jobs" columns={COLUMNS} rows={jobs} rowKey={({ id }) => id} />;
}

const COLUMNS: readonly Column<Job>[] = [
	{
		name: "Name",
		cell: ({ id, name }) => (
			<Link to="/schedules" search={{ id }} className="font-medium hover:underline">
				{name}
			</Link>
		),
	},
	{ name: "When", cell: ({ timing }) => timing.shown, wideOnly: true },
	{ name: "Next, in your zone", cell: ({ due_at }) => (due_at === null ? "" : inYourZone(due_at)) },
	{ name: "Does", cell: ({ task }) => task, wideOnly: true },
	{ name: "State", cell: (job) => <JobState job={job} /> },
];

export function JobState({ job: { state, paused_because, running } }: { readonly job: Job }) {
	if (running) return <Badge tone="accent">running</Badge>;
	return <Badge tone={TONES[state]}>{paused_because === null ? state : PAUSED[paused_because]}</Badge>;
}
