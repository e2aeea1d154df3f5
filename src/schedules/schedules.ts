// Jobs for their creators and managers: the tool, the chat command, the terminal, the API. All job creation goes through here, with an
// exact time, never words.
import {
	type CatchUp,
	checkTiming,
	instantsAfter,
	isTimeZone,
	parseModelName,
	type Speaker,
	type Timing,
	type When,
} from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Job, JobChanges, JobRun, JobScope, JobTask, NewJob, Store, Woken } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import { describeTiming, localWords, nextChangeWords } from "./describe.ts";
import { exactly, readExact, understand } from "./words.ts";

/** Read per call: they may change while Keryx runs. */
export interface ScheduleSettings {
	readonly maxJobs: number;
	readonly minIntervalSeconds: number;
	/** The zone of jobs that name no zone. */
	readonly zone: string;
}

export interface SchedulesOptions {
	readonly store: Store;
	readonly clock: Pick<Clock, "now">;
	readonly settings: () => ScheduleSettings;
}

/** A time as it would be stored. */
export interface TimingView {
	/** The exact form, which creates a job. */
	readonly exact: string;
	/** True if it was already written that way. */
	readonly isExact: boolean;
	readonly zone: string;
	/** In unambiguous words. */
	readonly shown: string;
	/** The next instants. */
	readonly next: readonly number[];
	/** The same in the zone's local time. */
	readonly nextShown: readonly string[];
	/** The effect of the next clock change; null: none within a year. */
	readonly change: { readonly at: number; readonly text: string } | null;
}

export interface WantedJob {
	readonly name?: string | undefined;
	readonly task: JobTask;
	/** The exact form, as `understand` returns it. */
	readonly when: string;
	readonly zone?: string | undefined;
	readonly catchUp?: CatchUp | undefined;
	readonly maxDelaySeconds?: number | null | undefined;
	readonly conversation?: NewJob["conversation"] | undefined;
	readonly deliver?: NewJob["deliver"] | undefined;
	readonly failure?: NewJob["failure"] | undefined;
	readonly origin?: NewJob["origin"] | undefined;
	readonly profile?: string | undefined;
	readonly model?: NewJob["model"] | undefined;
	readonly tools?: NewJob["tools"] | undefined;
	readonly owner: Speaker;
}

export type WantedChanges = Partial<Pick<WantedJob, keyof JobChanges>>;

export interface Schedules {
	/** Makes words or an exact form exact. Throws schedule.invalid if the meaning is unclear. */
	understand(text: string, zone?: string): TimingView;
	/** How an existing job would continue. */
	view(job: Timing): TimingView;
	create(wanted: WantedJob): Promise<Job>;
	/** The job that `create` would make, for callers that commit it together with something else. */
	prepare(wanted: WantedJob): NewJob;
	/** A job was created or changed in another way. */
	wake(woken: Woken | null): void;
	update(scope: JobScope, id: string, changes: WantedChanges): Promise<Job>;
	pause(scope: JobScope, id: string): Promise<Job>;
	resume(scope: JobScope, id: string): Promise<Job>;
	delete(scope: JobScope, id: string): Promise<Job>;
	/** Returns the run's instant, which identifies it. */
	runNow(scope: JobScope, id: string): Promise<number>;
	find(scope: JobScope, id: string): Promise<Job>;
	list(scope: JobScope, page: { readonly limit: number; readonly after?: string }): ReturnType<Store["jobs"]>;
	history(
		scope: JobScope,
		id: string,
		page: { readonly limit: number; readonly before?: number },
	): Promise<readonly JobRun[]>;
	/** Called when a run waits in a conversation, or another may be due. */
	onWoken(listener: (woken: Woken | null) => void): () => void;
}

const SHOWN = 5;
const LONGEST_NAME = 100;
const LONGEST_TASK = 20_000;
const DAY_SECONDS = 86_400;
/** The default for how late a run may start: a day for a reminder, two hours for a regular report. */
const ONCE_DELAY = DAY_SECONDS;
const REGULAR_DELAY = 7200;

export function createSchedules({ store, clock, settings }: SchedulesOptions): Schedules {
	const listeners = new Set<(woken: Woken | null) => void>();
	const wake = (woken: Woken | null) => {
		for (const listener of listeners) listener(woken);
	};
	const viewOf = (timing: Timing, isExact: boolean): TimingView => {
		const next = instantsAfter(timing, clock.now(), SHOWN);
		return {
			exact: exactly(timing.when),
			isExact,
			zone: timing.zone,
			shown: describeTiming(timing),
			next,
			nextShown: next.map((at) => localWords(at, timing.zone)),
			change: nextChangeWords(timing, clock.now()),
		};
	};
	const zoneOf = (given: string | undefined) => {
		const zone = given ?? settings().zone;
		if (!isTimeZone(zone))
			throw new KeryxError("schedule.invalid", `${JSON.stringify(zone)} is not a time zone`, {
				field: "zone",
				hint: "use a name such as Europe/Berlin",
			});
		return zone;
	};
	const changed = (work: Promise<Job>) =>
		work.then((job) => {
			wake(null);
			return job;
		});
	const prepare = (wanted: WantedJob): NewJob => {
		const zone = zoneOf(wanted.zone);
		const when = exactWhen(wanted.when);
		checkTiming({ when, zone }, settings().minIntervalSeconds);
		const task = checkedTask(wanted.task);
		const { catchUp = "once", maxDelaySeconds = isOnce(when) ? ONCE_DELAY : REGULAR_DELAY } = wanted;
		const job: NewJob = {
			name: nameOf(wanted.name, task),
			task,
			when,
			zone,
			catchUp,
			maxDelaySeconds,
			conversation: wanted.conversation ?? null,
			deliver: wanted.deliver ?? null,
			failure: wanted.failure ?? null,
			origin: wanted.origin ?? null,
			profile: wanted.profile ?? "",
			model: wanted.model ?? null,
			tools: wanted.tools ?? null,
			owner: wanted.owner,
		};
		if (task.kind === "text" && job.deliver === null)
			throw new KeryxError("schedule.invalid", "a text needs a target", { field: "deliver" });
		return job;
	};
	return {
		understand: (text, given) => {
			const zone = zoneOf(given);
			const { when, exact } = understand(text, zone, clock.now());
			checkTiming({ when, zone }, settings().minIntervalSeconds);
			const view = viewOf({ when, zone }, exact);
			if (view.next.length === 0) throw past();
			return view;
		},
		view: (timing) => viewOf(timing, true),
		create: async (wanted) => changed(store.createJob({ job: prepare(wanted), most: settings().maxJobs })),
		prepare,
		wake,
		update: async (scope, id, { name, when, zone, task, ...rest }) => {
			const before = await store.job({ scope, id });
			const changes: JobChanges = {
				...withoutUndefined(rest),
				...(task && { task: checkedTask(task) }),
				...(name !== undefined && { name: nameOf(name, before.task) }),
				...(when !== undefined && { when: exactWhen(when) }),
				...(zone !== undefined && { zone: zoneOf(zone) }),
			};
			checkTiming(
				{ when: changes.when ?? before.when, zone: changes.zone ?? before.zone },
				settings().minIntervalSeconds,
			);
			return changed(store.updateJob({ scope, id, changes }));
		},
		pause: (scope, id) => changed(store.pauseJob({ scope, id })),
		resume: (scope, id) => changed(store.resumeJob({ scope, id })),
		delete: (scope, id) => changed(store.deleteJob({ scope, id })),
		runNow: async (scope, id) => {
			const { run, woken } = await store.runJobNow({ scope, id });
			wake(woken);
			return run;
		},
		find: (scope, id) => store.job({ scope, id }),
		list: (scope, { limit, after }) => store.jobs({ scope, limit, ...(after !== undefined && { after }) }),
		history: (scope, job, { limit, before }) =>
			store.runs({ scope, job, limit, ...(before !== undefined && { before }) }),
		onWoken: (listener) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}

/** A job's model as people write it; `default`: its conversation's model. */
export function jobModel(text: string): NewJob["model"] {
	const name = text.trim();
	if (name === "default") return null;
	const model = parseModelName(name);
	if (model) return model;
	throw new KeryxError("schedule.invalid", `${JSON.stringify(text)} is not the name of a model`, {
		field: "model",
		hint: "write a name such as openai:gpt-5, or default",
	});
}

/** As people write it; null: its conversation's model. */
export function jobModelText({ model }: Pick<Job, "model">): string | null {
	return model && [model.provider, model.model].filter(Boolean).join(":");
}

/** Times in words are shown back first. */
function exactWhen(text: string): When {
	const when = readExact(text.trim());
	if (when) return when;
	throw new KeryxError("schedule.invalid", `${JSON.stringify(text)} is not an exact time`, {
		field: "when",
		hint: "turn the words into an exact time first, and show it to the person who wrote them",
	});
}

function isOnce({ kind }: When): boolean {
	return kind === "once" || kind === "wall";
}

function checkedTask({ kind, text }: JobTask): JobTask {
	const trimmed = text.trim();
	if (trimmed === "" || trimmed.length > LONGEST_TASK)
		throw new KeryxError("schedule.invalid", `what the job does must have 1 to ${LONGEST_TASK} characters`, {
			field: kind,
		});
	return { kind, text: trimmed };
}

function nameOf(given: string | undefined, { text }: JobTask): string {
	const name = (given ?? text).replace(/\s+/g, " ").trim();
	const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
	if (short !== "") return short;
	throw new KeryxError("schedule.invalid", "the name must not be empty", { field: "name" });
}

function withoutUndefined<Value extends object>(
	value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
	return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function past(): KeryxError {
	return new KeryxError("schedule.invalid", "that time has passed, or never comes", { field: "when" });
}
