// Jobs: what is due, past runs, and management. One call turns words into an exact time; only the exact form creates a job.
import { z } from "@hono/zod-openapi";
import { isConversationId, isOwnPlatform } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Schedules, TimingView } from "../../schedules/index.ts";
import {
	type Conversation,
	type Job,
	type JobRun,
	type JobScope,
	type JobTarget,
	OPERATOR,
	type Scope,
} from "../../store/index.ts";
import { type ApiHost, type HandlersOf, running } from "../call.ts";
import { endpoint, pageSize } from "../endpoint.ts";
import type { Visitor } from "../entry/auth.ts";
import { time } from "../schemas.ts";

const timing = z.object({
	exact: z.string().openapi({ description: "the form that makes a job" }),
	is_exact: z.boolean().openapi({ description: "it was written that way" }),
	zone: z.string(),
	shown: z.string().openapi({ description: "in words that leave nothing open" }),
	next: z.array(time),
	next_shown: z.array(z.string()).openapi({ description: "the same as clocks of the zone show them" }),
	change: z.object({ at: time, text: z.string() }).nullable().openapi({
		description: "what the next change of the clock does to it; null: there is none within a year",
	}),
});

const task = z.enum(["prompt", "text", "command"]);
const catchUp = z.enum(["none", "once", "all"]);

const job = z
	.object({
		id: z.string(),
		name: z.string(),
		task,
		text: z.string().openapi({ description: "the prompt, the text or the command" }),
		timing,
		state: z.enum(["active", "paused", "ended"]),
		paused_because: z.enum(["user", "failures", "owner"]).nullable(),
		failures: z.int().openapi({ description: "failed runs in a row" }),
		due_at: time.nullable(),
		running: z.boolean(),
		conversation: z.string().nullable().openapi({ description: "where it runs; null: not run yet" }),
		own_conversation: z.boolean(),
		deliver: z.string().nullable().openapi({ description: "where its result goes, as people read it" }),
		failure: z.string().nullable().openapi({ description: "who hears of failures, as people read it" }),
		catch_up: catchUp,
		max_delay_seconds: z.int().nullable(),
		tools: z.array(z.string()).nullable(),
		model: z.string().nullable().openapi({ description: "null: that of its conversation" }),
		profile: z.string(),
		principal: z.string().nullable().openapi({ description: "its owner; null: the operator" }),
		role: z.enum(["owner", "member", "guest"]),
		created_at: time,
	})
	.openapi("Job");

const run = z
	.object({
		scheduled_at: time,
		scheduled_shown: z.string(),
		begun_by: z.enum(["schedule", "person"]),
		state: z.enum(["open", "answered", "asked", "failed", "expired", "stopped", "missed", "refused"]),
		reason: z.string().nullable(),
		via: z.enum(["none", "chat", "target", "by_agent", "refused"]),
		delivery: z.enum(["waiting", "sent", "unknown", "dead"]).nullable(),
		delivery_reason: z.string().nullable(),
		turn: z.string().nullable(),
		inbound: z.int().nullable(),
		ended_at: time.nullable(),
	})
	.openapi("JobRun");

const ofJob = { job: z.string().min(1).max(64) };
const zone = z
	.string()
	.min(1)
	.max(64)
	.optional()
	.openapi({ description: "IANA; left out: the configured one" });
const target = z.string().min(1).max(1100);
const fields = {
	name: z.string().min(1).max(100).optional(),
	zone,
	catch_up: catchUp.optional(),
	max_delay_seconds: z.int().min(60).max(31_536_000).nullable().optional(),
	deliver: target
		.nullable()
		.optional()
		.openapi({ description: "a target such as telegram, telegram:123, conversation:id or local" }),
	failure: target.nullable().optional(),
	tools: z.array(z.string().max(64)).max(100).nullable().optional(),
	model: z
		.string()
		.min(1)
		.max(300)
		.nullable()
		.optional()
		.openapi({ description: "model or provider:model; null or default: that of its conversation" }),
};

export const scheduleEndpoints = {
	schedules: endpoint("get", "/api/schedules", {
		about: "jobs, newest first",
		query: {
			limit: pageSize,
			after: z.string().max(20).optional().openapi({ description: "next from the previous page" }),
		},
		answer: z.object({ jobs: z.array(job), next: z.string().nullable() }),
	}),
	schedule: endpoint("get", "/api/schedules/{job}", { about: "one job", params: ofJob, answer: job }),
	scheduleRuns: endpoint("get", "/api/schedules/{job}/runs", {
		about: "what became of its runs and of their deliveries, newest first",
		params: ofJob,
		query: { limit: pageSize, before: time.optional() },
		answer: z.object({ runs: z.array(run) }),
	}),
	understandTime: endpoint("get", "/api/schedule-times", {
		about: "a time in words, made exact",
		query: { text: z.string().min(1).max(200), zone },
		answer: timing,
	}),
	createSchedule: endpoint("post", "/api/schedules", {
		about: "a new job; when must be exact",
		body: {
			...fields,
			when: z.string().min(1).max(200),
			task,
			text: z.string().min(1).max(20_000),
			conversation: z
				.string()
				.max(64)
				.optional()
				.openapi({ description: "where it runs; left out: its own" }),
			profile: z.string().max(64).optional(),
		},
		answer: job,
	}),
	updateSchedule: endpoint("post", "/api/schedules/{job}", {
		about: "change a job; what is left out stays",
		params: ofJob,
		body: {
			...fields,
			when: z.string().min(1).max(200).optional(),
			text: z.string().min(1).max(20_000).optional(),
		},
		answer: job,
	}),
	pauseSchedule: endpoint("post", "/api/schedules/{job}/pause", {
		about: "pause it",
		params: ofJob,
		answer: job,
	}),
	resumeSchedule: endpoint("post", "/api/schedules/{job}/resume", {
		about: "resume it; what passed meanwhile was not scheduled",
		params: ofJob,
		answer: job,
	}),
	runSchedule: endpoint("post", "/api/schedules/{job}/run", {
		about: "run it now, beside its schedule",
		params: ofJob,
		answer: z.object({ scheduled_at: time }),
	}),
	deleteSchedule: endpoint("post", "/api/schedules/{job}/delete", {
		about: "delete it with its history",
		params: ofJob,
		answer: z.object({ id: z.string() }),
	}),
} as const;

export const scheduleHandlers: HandlersOf<typeof scheduleEndpoints> = {
	schedules: async ({ limit, after }, { host, scope, visitor }) => {
		const schedules = schedulesOf(host);
		const { jobs, next } = await schedules.list(jobsOf(scope, visitor), {
			limit,
			...(after !== undefined && { after }),
		});
		return { jobs: jobs.map((one) => toWireJob(one, schedules)), next };
	},
	schedule: async ({ job: id }, { host, scope, visitor }) => {
		const schedules = schedulesOf(host);
		return toWireJob(await schedules.find(jobsOf(scope, visitor), id), schedules);
	},
	scheduleRuns: async ({ job: id, limit, before }, { host, scope, visitor }) => {
		const schedules = schedulesOf(host);
		const { zone: of } = await schedules.find(jobsOf(scope, visitor), id);
		const { localWords } = await import("../../schedules/index.ts");
		const page = { limit, ...(before !== undefined && { before: Date.parse(before) }) };
		const runs = await schedules.history(jobsOf(scope, visitor), id, page);
		return { runs: runs.map((one) => toWireRun(one, localWords(one.scheduledAt, of))) };
	},
	understandTime: async ({ text, zone: of }, { host }) =>
		toWireTiming(schedulesOf(host).understand(text, of)),
	createSchedule: async (input, { host }) => {
		const schedules = schedulesOf(host);
		const { conversation } = input;
		if (conversation !== undefined && !isConversationId(conversation)) throw noConversation(conversation);
		if (conversation !== undefined)
			assertNotPrivate(await host.store.conversation({ scope: OPERATOR, ref: { id: conversation } }));
		const made = await schedules.create({
			name: input.name,
			task: { kind: input.task, text: input.text },
			when: input.when,
			zone: input.zone,
			catchUp: input.catch_up,
			maxDelaySeconds: input.max_delay_seconds,
			conversation: conversation ?? null,
			deliver: await targetOf(host, input.deliver, "deliver"),
			failure: await targetOf(host, input.failure, "failure"),
			profile: input.profile,
			tools: input.tools,
			model: await modelOf(input.model),
			owner: { principal: null, role: "owner", platform: "api_server" },
		});
		return toWireJob(made, schedules);
	},
	updateSchedule: async ({ job: id, text, ...input }, { host }) => {
		const schedules = schedulesOf(host);
		const before = await schedules.find(OPERATOR, id);
		const changed = await schedules.update(OPERATOR, id, {
			...(text !== undefined && { task: { kind: before.task.kind, text } }),
			...(input.name !== undefined && { name: input.name }),
			...(input.when !== undefined && { when: input.when }),
			...(input.zone !== undefined && { zone: input.zone }),
			...(input.catch_up !== undefined && { catchUp: input.catch_up }),
			...(input.max_delay_seconds !== undefined && { maxDelaySeconds: input.max_delay_seconds }),
			...(input.tools !== undefined && { tools: input.tools }),
			...(input.model !== undefined && { model: await modelOf(input.model) }),
			...(input.deliver !== undefined && { deliver: await targetOf(host, input.deliver, "deliver") }),
			...(input.failure !== undefined && { failure: await targetOf(host, input.failure, "failure") }),
		});
		return toWireJob(changed, schedules);
	},
	pauseSchedule: async ({ job: id }, { host, scope, visitor }) => {
		const schedules = schedulesOf(host);
		return toWireJob(await schedules.pause(jobsOf(scope, visitor), id), schedules);
	},
	resumeSchedule: async ({ job: id }, { host, scope, visitor }) => {
		const schedules = schedulesOf(host);
		return toWireJob(await schedules.resume(jobsOf(scope, visitor), id), schedules);
	},
	runSchedule: async ({ job: id }, { host, scope, visitor }) => {
		running(host);
		return { scheduled_at: iso(await schedulesOf(host).runNow(jobsOf(scope, visitor), id)) };
	},
	deleteSchedule: async ({ job: id }, { host, scope, visitor }) => ({
		id: (await schedulesOf(host).delete(jobsOf(scope, visitor), id)).id,
	}),
};

/** A person's own jobs. */
function jobsOf(scope: Scope, { speaker }: Visitor): JobScope {
	if (scope.kind === "operator") return scope;
	return { kind: "owner", principal: scope.principal, role: speaker?.role ?? "none" };
}

function schedulesOf({ schedules }: ApiHost): Schedules {
	if (schedules) return schedules;
	throw new KeryxError("gateway.stopped", "jobs are off in this Keryx", {
		hint: "use the Keryx that runs the gateway",
	});
}

/** Loaded on demand. */
async function modelOf(text: string | null | undefined): Promise<Job["model"]> {
	if (text === undefined || text === null) return null;
	const { jobModel } = await import("../../schedules/index.ts");
	return jobModel(text);
}

/** The operator's own targets. */
async function targetOf(
	host: ApiHost,
	text: string | null | undefined,
	field: string,
): Promise<JobTarget | null> {
	if (text === undefined || text === null) return null;
	const sender = { standing: "owner", scope: OPERATOR, origin: null } as const;
	const found = await running(host).sending.resolve(text, sender);
	if (found.kind === "refused") throw new KeryxError("schedule.invalid", found.why, { field });
	return { target: found.target, shown: found.shown, approved: true };
}

/** The job has the operator's rights. In someone's private chat, that person would answer its questions. */
function assertNotPrivate({ shared, platform }: Conversation): void {
	if (shared || isOwnPlatform(platform)) return;
	throw new KeryxError("schedule.invalid", "a job of yours cannot run in somebody's private chat", {
		field: "conversation",
		hint: "let it run in its own conversation, and name that chat in deliver",
	});
}

function noConversation(id: string): KeryxError {
	return new KeryxError("store.not_found", `no conversation ${id}`, { field: "conversation" });
}

function toWireTiming(view: TimingView): z.output<typeof timing> {
	return {
		exact: view.exact,
		is_exact: view.isExact,
		zone: view.zone,
		shown: view.shown,
		next: view.next.map(iso),
		next_shown: [...view.nextShown],
		change: view.change && { at: iso(view.change.at), text: view.change.text },
	};
}

function toWireJob(one: Job, schedules: Schedules): z.output<typeof job> {
	return {
		id: one.id,
		name: one.name,
		task: one.task.kind,
		text: one.task.text,
		timing: toWireTiming(schedules.view(one)),
		state: one.state,
		paused_because: one.pausedBecause,
		failures: one.failures,
		due_at: one.dueAt === null ? null : iso(one.dueAt),
		running: one.openRun !== null,
		conversation: one.conversation,
		own_conversation: one.isOwn,
		deliver: one.deliver?.shown ?? null,
		failure: one.failure?.shown ?? null,
		catch_up: one.catchUp,
		max_delay_seconds: one.maxDelaySeconds,
		tools: one.tools === null ? null : [...one.tools],
		model: one.model && [one.model.provider, one.model.model].filter(Boolean).join(":"),
		profile: one.profile,
		principal: one.owner.principal,
		role: one.owner.role,
		created_at: iso(one.createdAt),
	};
}

function toWireRun(one: JobRun, shown: string): z.output<typeof run> {
	return {
		scheduled_at: iso(one.scheduledAt),
		scheduled_shown: shown,
		begun_by: one.begunBy,
		state: one.state,
		reason: one.reason,
		via: one.via,
		delivery: one.delivery,
		delivery_reason: one.deliveryReason,
		turn: one.turn,
		inbound: one.inbox,
		ended_at: one.endedAt === null ? null : iso(one.endedAt),
	};
}

function iso(at: number): string {
	return new Date(at).toISOString();
}
