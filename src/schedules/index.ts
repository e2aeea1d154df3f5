// keryx/schedules: scheduled jobs, and times in words.
// `createSchedules` on a store creates and manages jobs; the gateway runs due ones.
// Never here: running a job, sending anything, or deciding what somebody may do.

export { describeTiming, localWords, spanWords } from "./describe.ts";
export {
	createSchedules,
	jobModel,
	jobModelText,
	type ScheduleSettings,
	type Schedules,
	type SchedulesOptions,
	type TimingView,
	type WantedChanges,
	type WantedJob,
} from "./schedules.ts";
export { scheduleSettings } from "./settings.ts";
export { exactly, spanSeconds } from "./words.ts";
