// Jobs that run when nobody is writing. A time in words is made exact by one tool; only the exact form makes a job.
import { z } from "zod";
import { type AnyTool, given, pageSize, tool } from "./tool.ts";

const job = z.string().min(1).max(64).describe("its id, such as job_1a2b3c4d5e");
const zone = z.string().min(1).max(64).optional().describe("IANA time zone; left out: the configured one");
const target = z.string().min(1).max(1100).optional();
const text = z.string().min(1).max(20_000);
const fields = {
	name: z.string().min(1).max(100).optional(),
	zone,
	deliver: target.describe("where the result goes, such as telegram, telegram:123, conversation:id or local"),
	failure: target.describe("where failures are told"),
	catch_up: z
		.enum(["none", "once", "all"])
		.optional()
		.describe("what happens with runs missed while Keryx was off"),
	max_delay_seconds: z
		.int()
		.min(60)
		.max(31_536_000)
		.optional()
		.describe("a run that would begin later is missed"),
	tools: z.array(z.string().max(64)).max(100).optional().describe("the only tools its runs may use"),
	model: z.string().min(1).max(300).optional().describe("model or provider:model, or default"),
};
const exact = z.string().min(1).max(200).describe("exact, as schedules_time answers it");

export const scheduleTools: readonly AnyTool[] = [
	tool(
		"schedules_list",
		"reads",
		"Scheduled jobs, newest first.",
		{ limit: pageSize, after: z.string().max(20).optional().describe("next of the page before") },
		async (input, { client }) => client.schedules(given(input)),
	),
	tool(
		"schedules_get",
		"reads",
		"One job, with its next runs and what the next change of the clock does to it.",
		{ job },
		async (input, { client }) => client.schedule(input),
	),
	tool(
		"schedules_runs",
		"reads",
		"What became of a job's runs, and of the delivery of each result, newest first.",
		{ job, limit: pageSize },
		async (input, { client }) => client.scheduleRuns(given(input)),
	),
	tool(
		"schedules_time",
		"reads",
		"A time in words, such as tomorrow at 9, made exact. Show the answer to the person before you make a job of it.",
		{ text: z.string().min(1).max(200), zone },
		async (input, { client }) => client.understandTime(given(input)),
	),
	tool(
		"schedules_create",
		"changes",
		"Makes a job: a prompt for the agent, a text that is sent as it is, or a command that is asked about like any other.",
		{ ...fields, when: exact, task: z.enum(["prompt", "text", "command"]), text },
		async (input, { client }) => client.createSchedule(given(input)),
	),
	tool(
		"schedules_update",
		"changes",
		"Changes a job; what is left out stays.",
		{ ...fields, job, when: exact.optional(), text: text.optional() },
		async (input, { client }) => client.updateSchedule(given(input)),
	),
	tool("schedules_pause", "changes", "Pauses a job.", { job }, async (input, { client }) =>
		client.pauseSchedule(input),
	),
	tool("schedules_resume", "changes", "Resumes a paused job.", { job }, async (input, { client }) =>
		client.resumeSchedule(input),
	),
	tool(
		"schedules_run",
		"changes",
		"Runs a job now, beside its schedule.",
		{ job },
		async (input, { client }) => client.runSchedule(input),
	),
	tool("schedules_delete", "decides", "Deletes a job with its history.", { job }, async (input, { client }) =>
		client.deleteSchedule(input),
	),
];
