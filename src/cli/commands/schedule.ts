// `keryx schedule`: jobs that run later. A time in words is shown as an exact time first.
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import type { Client } from "../../http/client/index.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { readCount } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { texts } from "../texts.ts";

interface AddOptions {
	readonly say?: string;
	readonly ask?: string;
	readonly run?: string;
	readonly zone?: string;
	readonly name?: string;
	readonly to?: string;
	readonly failure?: string;
	readonly model?: string;
	readonly yes?: true;
}

export function addSchedule(program: Command, context: CliContext): void {
	const schedule = addGroup(program, "schedule", texts.schedule.about);
	addList(schedule, context);
	addAdd(schedule, context);
	addShow(schedule, context);
	for (const action of ["pause", "resume", "run", "delete"] as const) addAction(schedule, context, action);
}

function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.schedule.list.about)
		.addHelpText("after", texts.schedule.list.help)
		.action(() =>
			withConnection(context, "read", async ({ client, output }) => {
				const jobs = await allJobs(client);
				if (output.json) return output.value({ jobs });
				if (jobs.length === 0) return output.note(texts.schedule.list.none);
				output.table(
					["id", "name", "task", "when", "state", "next"],
					jobs.map(({ id, name, task, timing, state, due_at }) => [
						id,
						name,
						task,
						timing.shown,
						state,
						due_at === null ? "" : (timing.next_shown[0] ?? due_at),
					]),
					{ elastic: [1] },
				);
			}),
		);
}

async function allJobs(client: Client) {
	const jobs = [];
	for (let after: string | undefined; ; ) {
		const page = await client.schedules({ limit: 200, ...(after !== undefined && { after }) });
		jobs.push(...page.jobs);
		if (page.next === null) return jobs;
		after = page.next;
	}
}

function addAdd(parent: Command, context: CliContext): void {
	parent
		.command("add")
		.allowExcessArguments(false)
		.description(texts.schedule.add.about)
		.argument("<when>", texts.schedule.add.when)
		.option("--ask <prompt>", texts.schedule.add.ask)
		.option("--say <text>", texts.schedule.add.say)
		.option("--run <command>", texts.schedule.add.run)
		.option("--to <target>", texts.schedule.add.to)
		.option("--failure <target>", texts.schedule.add.failure)
		.option("--model <name>", texts.schedule.add.model)
		.option("--zone <zone>", texts.schedule.add.zone)
		.option("--name <name>", texts.schedule.add.name)
		.option("--yes", texts.schedule.add.yes)
		.addHelpText("after", texts.schedule.add.help)
		.action((when: string, options: AddOptions) =>
			withConnection(context, "change", async ({ client, output }) => {
				const given = [
					["prompt", options.ask],
					["text", options.say],
					["command", options.run],
				].filter((one): one is ["prompt" | "text" | "command", string] => one[1] !== undefined);
				const [only] = given;
				if (!only || given.length > 1)
					throw new KeryxError("usage.invalid", texts.schedule.add.one, { field: "--ask" });
				const zone = options.zone === undefined ? {} : { zone: options.zone };
				const view = await client.understandTime({ text: when, ...zone });
				if (!view.is_exact && !options.yes) {
					if (output.json) return output.value({ created: null, timing: view });
					output.line(texts.schedule.add.understood(view.shown));
					for (const line of view.next_shown.slice(0, 3)) output.line(`  ${line}`);
					if (view.change) output.line(view.change.text);
					return output.note(texts.schedule.add.notYet(view.exact));
				}
				const [task, text] = only;
				const job = await client.createSchedule({
					when: view.exact,
					zone: view.zone,
					task,
					text,
					...(options.name !== undefined && { name: options.name }),
					...(options.to !== undefined && { deliver: options.to }),
					...(options.failure !== undefined && { failure: options.failure }),
					...(options.model !== undefined && { model: options.model }),
				});
				if (output.json) return output.value({ created: job, timing: view });
				output.line(texts.schedule.add.done(job.id, job.timing.shown));
			}),
		);
}

function addShow(parent: Command, context: CliContext): void {
	parent
		.command("show")
		.allowExcessArguments(false)
		.description(texts.schedule.show.about)
		.argument("<job>", texts.schedule.job)
		.option("--limit <n>", texts.schedule.show.limit, "20")
		.addHelpText("after", texts.schedule.show.help)
		.action((id: string, { limit }: { readonly limit: string }) =>
			withConnection(context, "read", async ({ client, output }) => {
				const job = await client.schedule({ job: id });
				const { runs } = await client.scheduleRuns({ job: id, limit: readCount("--limit", limit, [1, 200]) });
				if (output.json) return output.value({ job, runs });
				output.line(`${job.name}: ${job.timing.shown}, ${job.state}`);
				if (job.model !== null) output.line(texts.schedule.show.model(job.model));
				for (const line of job.timing.next_shown.slice(0, 3)) output.line(`  ${line}`);
				if (job.timing.change) output.line(job.timing.change.text);
				output.table(
					["scheduled", "run", "why", "delivery"],
					runs.map((run) => [run.scheduled_shown, run.state, run.reason ?? "", deliveryOf(run)]),
					{ elastic: [2] },
				);
			}),
		);
}

function deliveryOf({ via, delivery }: { readonly via: string; readonly delivery: string | null }): string {
	const state = delivery ?? "";
	return via === "by_agent" ? `${state} by the agent`.trim() : state;
}

function addAction(
	parent: Command,
	context: CliContext,
	action: "pause" | "resume" | "run" | "delete",
): void {
	parent
		.command(action)
		.allowExcessArguments(false)
		.description(texts.schedule[action].about)
		.argument("<job>", texts.schedule.job)
		.addHelpText("after", texts.schedule[action].help)
		.action((id: string) =>
			withConnection(context, "change", async ({ client, output }) => {
				const calls = {
					pause: client.pauseSchedule,
					resume: client.resumeSchedule,
					run: client.runSchedule,
					delete: client.deleteSchedule,
				};
				const done = await calls[action]({ job: id });
				if (output.json) return output.value(done);
				output.line(texts.schedule[action].done(id));
			}),
		);
}
