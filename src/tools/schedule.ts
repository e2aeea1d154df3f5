// The agent creates and manages jobs for the person it speaks for. A time in words is returned as an exact time: only the exact form
// creates a job.
import { z } from "zod";
import { inlineUntrusted, type Target, targetText } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { jobModel, jobModelText, localWords, type Schedules, type TimingView } from "../schedules/index.ts";
import type { Job, JobRun, JobScope, JobTarget, NewJob } from "../store/index.ts";
import { isAgreed, type Needs, NOT_AGREED, SEND_TO_OTHERS } from "./send.ts";
import { defineTool, type Tool, type ToolCaller, type ToolContext } from "./types.ts";

type Refused = { readonly kind: "refused"; readonly why: string };

export interface ScheduleToolOptions {
	readonly schedules: Schedules;
	/** A target from a caller's view. */
	readonly resolve: (
		text: string,
		caller: ToolCaller,
	) => Promise<
		| { readonly kind: "target"; readonly target: Target; readonly shown: string; readonly needs: Needs }
		| Refused
	>;
	/** Whether a caller may use a previously resolved target. */
	readonly check: (
		target: Target,
		caller: ToolCaller,
	) => Promise<{ readonly kind: "may"; readonly needs: Needs } | Refused>;
}

const SCHEDULE_SEND = "schedule_send";
const SPEAKS_FOR_OTHERS =
	"this answer is for several people, and a job would reach what only one of them may see; a text can be scheduled, or one of them asks alone";
const RUNS_ELSEWHERE =
	"the job has a conversation of its own, where it would reach what others here may not see; create a new one instead";

const input = z.object({
	action: z.enum(["create", "list", "show", "update", "pause", "resume", "run_now", "delete"]),
	job: z.string().max(64).optional().describe("the id of a job, such as job_1a2b3c4d5e"),
	name: z.string().max(100).optional(),
	when: z
		.string()
		.max(200)
		.optional()
		.describe(
			'exact: 2026-11-17T09:00, "every 30m", or cron with five or six fields. Words such as "tomorrow at 9" are made exact and answered; show the answer to the user and call again with the exact form',
		),
	zone: z.string().max(64).optional().describe("IANA time zone; left out: the configured one"),
	prompt: z.string().max(20_000).optional().describe("what the agent is asked in each run"),
	text: z.string().max(20_000).optional().describe("a text that is sent as it is, such as a reminder"),
	command: z.string().max(20_000).optional().describe("a shell command, asked about like any other"),
	here: z.boolean().optional().describe("run in this conversation instead of the job's own"),
	deliver: z.string().max(1100).optional().describe("where the result goes; left out: this chat (origin)"),
	failure: z.string().max(1100).optional().describe("who hears of failures; left out: this chat"),
	tools: z.array(z.string().max(64)).max(100).optional().describe("the only tools its runs may use"),
	model: z
		.string()
		.max(300)
		.optional()
		.describe("the model of its runs, as model or provider:model; default: the one of the conversation"),
	catch_up: z
		.enum(["none", "once", "all"])
		.optional()
		.describe("what happens with runs missed while Keryx was off"),
	max_delay_seconds: z.number().int().min(60).optional().describe("a run that would begin later is missed"),
});
type Input = z.output<typeof input>;

export function createScheduleTool({ schedules, resolve, check }: ScheduleToolOptions): Tool {
	/** All targets the call names. */
	const targets = async (given: Input, caller: ToolCaller) => {
		const found: { deliver?: JobTarget; failure?: JobTarget; asks: Asked[] } = { asks: [] };
		for (const field of ["deliver", "failure"] as const) {
			const text =
				given[field] ??
				(field === "deliver" && given.action === "create" && !runsHere(given, caller) ? "origin" : undefined);
			if (text === undefined) continue;
			const resolved = await resolve(text, caller);
			if (resolved.kind === "refused") throw new KeryxError("schedule.invalid", resolved.why, { field });
			const { target, shown, needs } = resolved;
			found[field] = { target, shown, approved: needs !== "nothing" };
			if (needs !== "nothing") found.asks.push({ shown, needs });
		}
		found.asks.push(...(await kept(given, caller)));
		return found;
	};
	/** Unchanged targets: they were approved for another message, or a less frequent one. */
	const kept = async (given: Input, caller: ToolCaller): Promise<Asked[]> => {
		if (given.action !== "update" || given.job === undefined) return [];
		if (taskOf(given) === null && given.name === undefined && given.when === undefined) return [];
		const job = await schedules.find(scopeOf(caller), given.job);
		const asks: Asked[] = [];
		for (const field of ["deliver", "failure"] as const) {
			const target = given[field] === undefined ? job[field] : null;
			const verdict = target && (await check(target.target, caller));
			if (target && verdict?.kind === "may" && verdict.needs !== "nothing")
				asks.push({ shown: target.shown, needs: verdict.needs });
		}
		return asks;
	};
	return defineTool({
		name: "schedule",
		description:
			"Jobs that run later or again and again, also when nobody writes: reminders, reports, commands. Create, list, show, update, pause, resume, run_now, delete.",
		input,
		repeatable: false,
		confirmation: async (given, caller) => {
			if (given.action !== "create" && given.action !== "update") return null;
			const found = await wouldSend(given, caller).catch((error: unknown) => {
				// If the call is invalid, running it says so.
				if (error instanceof KeryxError) return null;
				throw error;
			});
			if (!found || found.asks.length === 0) return null;
			const { deliver, failure, asks } = found;
			return {
				action: asks.some(({ needs }) => needs === "owner") ? SEND_TO_OTHERS : SCHEDULE_SEND,
				description: `let a scheduled job send messages to ${asks.map(({ shown }) => inlineUntrusted(shown)).join(" and ")}`,
				// The current targets: a home channel changed meanwhile does not redirect an approved message.
				details: {
					...given,
					...(deliver && { deliver: targetText(deliver.target) }),
					...(failure && { failure: targetText(failure.target) }),
				},
			};
		},
		run: async (given, context) => {
			const scope = scopeOf(context);
			switch (given.action) {
				case "list": {
					const { jobs } = await schedules.list(scope, { limit: 50 });
					return said(
						jobs.length === 0 ? "There are no jobs." : jobs.map((job) => line(job, schedules)).join("\n"),
					);
				}
				case "create":
					return create(given, context);
				case "show": {
					const job = await schedules.find(scope, needed(given));
					const runs = await schedules.history(scope, job.id, { limit: 10 });
					return said([line(job, schedules), ...runs.map((run) => runLine(run, job.zone))].join("\n"));
				}
				case "update":
					return update(given, context);
				case "pause":
				case "resume":
				case "delete": {
					const job = await schedules[given.action](scope, needed(given));
					return said(`Done: ${given.action}. ${line(job, schedules)}`);
				}
				case "run_now":
					await schedules.runNow(scope, needed(given));
					return said("The job runs now; its result is delivered as usual.");
			}
		},
	});

	/** Null: the call only makes a time exact. */
	async function wouldSend(given: Input, caller: ToolCaller) {
		const isWords = given.when !== undefined && !schedules.understand(given.when, given.zone).isExact;
		return isWords ? null : targets(given, caller);
	}

	async function agreed(given: Input, context: ToolContext) {
		const found = await targets(given, context);
		if (found.asks.every(({ needs }) => isAgreed(needs, context.approved))) return found;
		throw new KeryxError("schedule.invalid", NOT_AGREED, { field: "deliver" });
	}

	async function create(given: Input, context: ToolContext) {
		if (given.when === undefined)
			throw new KeryxError("schedule.invalid", "when is needed", { field: "when" });
		const view = schedules.understand(given.when, given.zone);
		if (!view.isExact) return said(notYet(given.when, view));
		const task = taskOf(given);
		if (!task)
			throw new KeryxError("schedule.invalid", "give one of prompt, text and command", { field: "prompt" });
		checkReach(task, context);
		const { deliver, failure } = await agreed(given, context);
		const job = await schedules.create({
			task,
			when: view.exact,
			zone: view.zone,
			name: given.name,
			catchUp: given.catch_up,
			maxDelaySeconds: given.max_delay_seconds,
			deliver: deliver ?? null,
			failure: failure ?? null,
			origin: context.conversation,
			...(runsHere(given, context) && { conversation: context.conversation }),
			profile: context.scope.kind === "principal" ? (context.scope.profile ?? "") : "",
			tools: given.tools ?? null,
			model: modelOf(given, context) ?? null,
			owner: {
				principal: context.speaker,
				role: context.standing === "none" ? "guest" : context.standing,
				platform: context.destination.platform,
			},
		});
		return said(`Created. ${line(job, schedules)}\n${nextLines(view)}`);
	}

	async function update(given: Input, context: ToolContext) {
		const id = needed(given);
		const view = given.when === undefined ? null : schedules.understand(given.when, given.zone);
		if (view && !view.isExact) return said(notYet(given.when as string, view));
		const { deliver, failure } = await agreed(given, context);
		const task = taskOf(given);
		if (task) checkReach(task, context, await schedules.find(scopeOf(context), id));
		const job = await schedules.update(scopeOf(context), id, {
			...(task && { task }),
			...(view && { when: view.exact }),
			...(given.zone !== undefined && { zone: given.zone }),
			...(given.name !== undefined && { name: given.name }),
			...(given.catch_up !== undefined && { catchUp: given.catch_up }),
			...(given.max_delay_seconds !== undefined && { maxDelaySeconds: given.max_delay_seconds }),
			...(given.tools !== undefined && { tools: given.tools }),
			...(given.model !== undefined && { model: modelOf(given, context) ?? null }),
			...(deliver && { deliver }),
			...(failure && { failure }),
		});
		return said(`Changed. ${line(job, schedules)}`);
	}
}

function said(content: string) {
	return { content };
}

function notYet(words: string, view: TimingView): string {
	return `Nothing was created yet. "${words}" means: ${view.shown}.\n${nextLines(view)}\nShow this to the user. To go on, call again with when: ${JSON.stringify(view.exact)} and zone: ${JSON.stringify(view.zone)}.`;
}

function nextLines({ nextShown, change }: TimingView): string {
	return [`Next: ${nextShown.slice(0, 3).join("; ")}.`, ...(change ? [change.text] : [])].join("\n");
}

interface Asked {
	readonly shown: string;
	readonly needs: Exclude<Needs, "nothing">;
}

/** Others read along: the person's private things are out of reach here (I18). */
function isShared({ scope }: ToolCaller): boolean {
	return scope.kind === "principal" && scope.principal === "";
}

/**
 * A job runs for one person. In a private chat that others speak in, too, and outside of the conversation where others read along, it
 * would reach what they may not see (I18).
 */
function checkReach(task: Job["task"], context: ToolContext, job?: Job): void {
	if (!isShared(context) || task.kind === "text") return;
	if (!context.destination.group) throw new KeryxError("schedule.invalid", SPEAKS_FOR_OTHERS);
	if (job?.isOwn) throw new KeryxError("schedule.invalid", RUNS_ELSEWHERE, { field: "job" });
}

/** If others read along, a job has the reach of this conversation: it runs here. A text needs no reach. */
function runsHere(given: Input, caller: ToolCaller): boolean {
	return given.here === true || (isShared(caller) && given.text === undefined);
}

/** Jobs of the person it speaks for, in this profile; if others read along, only those created here. */
function scopeOf(context: ToolCaller): JobScope {
	const { speaker, scope, conversation, standing } = context;
	if (speaker === null)
		throw new KeryxError("schedule.invalid", "Keryx does not know who is asking, so there are no jobs");
	return {
		kind: "owner",
		principal: speaker,
		role: standing,
		...(scope.kind === "principal" && scope.profile !== null && { profile: scope.profile }),
		...(isShared(context) && { origin: conversation }),
	};
}

/** If others read along, only the owner chooses a model, as with /model. */
function modelOf({ model }: Input, caller: ToolCaller): NewJob["model"] | undefined {
	if (model === undefined) return undefined;
	if (isShared(caller) && caller.standing !== "owner")
		throw new KeryxError("schedule.invalid", "only the owner chooses a model here", { field: "model" });
	return jobModel(model);
}

function needed({ job }: Input): string {
	if (job === undefined) throw new KeryxError("schedule.invalid", "job is needed: its id", { field: "job" });
	return job;
}

function taskOf({ prompt, text, command }: Input): Job["task"] | null {
	const given = [
		...(prompt === undefined ? [] : [{ kind: "prompt" as const, text: prompt }]),
		...(text === undefined ? [] : [{ kind: "text" as const, text }]),
		...(command === undefined ? [] : [{ kind: "command" as const, text: command }]),
	];
	if (given.length > 1)
		throw new KeryxError("schedule.invalid", "give only one of prompt, text and command", {
			field: "prompt",
		});
	return given[0] ?? null;
}

function line(job: Job, schedules: Schedules): string {
	const { shown } = schedules.view(job);
	const state = job.state === "active" ? `next: ${localWords(job.dueAt as number, job.zone)}` : job.state;
	const model = jobModelText(job);
	return `${job.id} ${JSON.stringify(job.name)} (${job.task.kind}): ${shown}; ${state}${model === null ? "" : `; model ${model}`}`;
}

function runLine({ scheduledAt, state, reason, delivery }: JobRun, zone: string): string {
	const why = reason === null ? "" : ` (${reason})`;
	return `- ${localWords(scheduledAt, zone)}: ${state}${why}${delivery === null ? "" : `; delivery ${delivery}`}`;
}
