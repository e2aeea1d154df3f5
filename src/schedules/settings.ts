// Job settings from the configuration.
import type { Config } from "../config/index.ts";
import type { ScheduleSettings } from "./schedules.ts";

export function scheduleSettings({
	schedule,
	session_reset,
}: Pick<Config, "schedule" | "session_reset">): ScheduleSettings {
	return {
		maxJobs: schedule.max_jobs,
		minIntervalSeconds: schedule.min_interval_seconds,
		zone: session_reset.timezone,
	};
}
