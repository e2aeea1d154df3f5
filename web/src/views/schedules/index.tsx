// Jobs: the list, one job with its next runs and its history, and a form that shows what a time means before the job is created.
import { useSearch } from "@tanstack/react-router";
import { CalendarClock, Plus } from "lucide-react";
import { useState } from "react";
import { useApi, useMe } from "../../api/index.ts";
import { texts } from "../../texts/schedules.ts";
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
	const { isPerson } = useMe();
	return (
		<Page
			title={texts.view.title}
			about={texts.view.about}
			actions={
				isPerson ? null : (
					<Button icon={<Plus size={14} />} onClick={() => setAdding(true)}>
						{texts.view.add}
					</Button>
				)
			}
		>
			{list.error ? (
				<ErrorState error={list.error} onRetry={() => void list.refetch()} />
			) : jobs === undefined ? (
				<SkeletonRows />
			) : id !== undefined ? (
				<JobDetail id={id} />
			) : jobs.length === 0 ? (
				<Empty icon={<CalendarClock size={20} />} title={texts.view.none}>
					{texts.view.hint}
				</Empty>
			) : (
				<JobList jobs={jobs} />
			)}
			<NewJobDialog open={isAdding} onClose={() => setAdding(false)} />
		</Page>
	);
}
