// keryx/schedules: jobs that run when nobody is writing, and times in the words of people.
// `createSchedules` on a store makes and manages jobs; the gateway runs what is due.
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
