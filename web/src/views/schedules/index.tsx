// Jobs: the list, one job with its next runs and its history, and a form that shows a time back before it holds.
import { useSearch } from "@tanstack/react-router";
import { CalendarClock, Plus } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/index.ts";
import { Button, Empty, ErrorState, Page, SkeletonRows } from "../../ui/index.ts";
import { JobDetail } from "./job.tsx";
import { JobList } from "./list.tsx";
import { NewJobDialog } from "./new-job.tsx";

const MOST = 200;

export function SchedulesView() {
	const { id } = useSearch({ from: "/schedules" });
	const [isAdding, setAdding] = useState(false);
	const list = useApi("schedules", { limit: MOST }, { on: ["schedule"] });
	const jobs = list.data?.jobs;
	return (
		<Page
			title="Schedules"
			about="Jobs that run when nobody is writing"
			actions={
				<Button icon={<Plus size={14} />} onClick={() => setAdding(true)}>
					New job
				</Button>
			}
		>
			{list.error ? (
				<ErrorState error={list.error} onRetry={() => void list.refetch()} />
			) : jobs === undefined ? (
				<SkeletonRows />
			) : id !== undefined ? (
				<JobDetail id={id} />
			) : jobs.length === 0 ? (
				<Empty icon={<CalendarClock size={20} />} title="No jobs yet">
					Ask the agent for a reminder or a regular report, or make a job here.
				</Empty>
			) : (
				<JobList jobs={jobs} />
			)}
			<NewJobDialog open={isAdding} onClose={() => setAdding(false)} />
		</Page>
	);
}
