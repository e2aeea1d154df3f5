// Jobs from a chat. A time in words is shown as an exact time first; the exact line creates the job.
import { KeryxError } from "../../errors.ts";
import {
	jobModel,
	jobModelText,
	localWords,
	type Schedules,
	type TimingView,
} from "../../schedules/index.ts";
import { type Job, type JobScope, type NewJob, OPERATOR } from "../../store/index.ts";
import { texts } from "../texts.ts";
import { wrongArgument } from "./parse.ts";
import type { Changing, CommandContext, Listing } from "./types.ts";
import { asCode, quoted } from "./words.ts";

const ACTIONS = /^(pause|resume|run|delete)\s+(job_\w+)$/;
/** `model <name> |` before the prompt. */
const MODEL = /^model\s+(\S+)\s*\|\s*(.+)$/is;
const LISTED = 20;

export const schedule: Changing<"manageJob"> = {
	name: "schedule",
	aliases: ["jobs"],
	usage: "/schedule [when | what]",
	about: texts.schedule.about,
	group: "Answers",
	change: "manageJob",
	plan: async (context) => {
		const { args } = context;
		const schedules = jobsOf(context);
		if (args === "" || args === "list") return list(context, schedules);
		const [, action, id] = ACTIONS.exec(args) ?? [];
		if (id !== undefined)
			return { args: { do: action as "pause" | "resume" | "run" | "delete", scope: scopeOf(context), id } };
		const bar = args.indexOf("|");
		const [words, what] = [args.slice(0, bar).trim(), args.slice(bar + 1).trim()];
		if (bar < 0 || words === "" || what === "")
			throw wrongArgument(texts.schedule.takes, args, "/schedule tomorrow at 9 | say call the dentist");
		const view = schedules.understand(words);
		if (!view.isExact) return shownBack(view, what);
		const job = schedules.prepare({ ...wantedOf(context, what), when: view.exact, zone: view.zone });
		if (job.owner.principal === null) throw unknownPerson();
		return { args: { do: "create", job, most: context.config.schedule.max_jobs } };
	},
	answer: ({ did, job }, context) => {
		const { shown } = jobsOf(context).view(job);
		if (did === "create")
			return texts.schedule.created(
				quoted(job.name, 100),
				shown,
				localWords(job.dueAt ?? context.now, job.zone),
				job.id,
			);
		return texts.schedule.done[did](quoted(job.name, 100), job.id);
	},
};

/** "say ..." sends a text, "run ..." runs a command; anything else is a prompt for the agent, with its own model if one is named. */
function wantedOf(
	{ conversationId, conversation, speaker, role }: CommandContext,
	written: string,
): Pick<NewJob, "task" | "owner" | "origin" | "profile" | "deliver" | "conversation" | "model"> {
	const [, model, what = written] = MODEL.exec(written) ?? [];
	if (model !== undefined && role !== "owner" && !isPrivate(conversation))
		throw new KeryxError("schedule.invalid", "only the owner chooses a model here", { field: "model" });
	const [, verb, rest] = /^(say|run)\s+(.+)$/is.exec(what) ?? [];
	const kind = verb?.toLowerCase() === "say" ? "text" : verb?.toLowerCase() === "run" ? "command" : "prompt";
	// If others read along, a job has the reach of this conversation, so it runs here (I18). A text needs no reach.
	const runsHere = !isPrivate(conversation) && kind !== "text";
	return {
		task: { kind, text: rest ?? what },
		owner: speaker,
		model: model === undefined ? null : jobModel(model),
		origin: conversationId,
		profile: conversation.profile,
		conversation: runsHere ? conversationId : null,
		deliver: runsHere
			? null
			: {
					target: { kind: "conversation", conversation: conversationId },
					shown: conversation.name,
					approved: false,
				},
	};
}

function shownBack(view: TimingView, what: string): Listing {
	const command = `/schedule ${view.exact} | ${what}`;
	const next = view.nextShown.slice(0, 3).join("; ");
	return {
		text: texts.schedule.understood(view.shown, next, view.change?.text ?? "", asCode(command)),
		choices: [{ label: texts.schedule.yes, command }],
	};
}

async function list(context: CommandContext, schedules: Schedules): Promise<string> {
	const { jobs } = await schedules.list(scopeOf(context), { limit: LISTED });
	if (jobs.length === 0) return texts.schedule.none;
	return [...jobs.map((job) => `- ${line(job, schedules)}`), "", texts.schedule.howTo].join("\n");
}

function line(job: Job, schedules: Schedules): string {
	const { shown } = schedules.view(job);
	const state = job.state === "active" ? `next ${localWords(job.dueAt as number, job.zone)}` : job.state;
	const model = jobModelText(job);
	return `${asCode(job.id)} ${quoted(job.name, 60)}: ${shown}; ${state}${model === null ? "" : `; model ${asCode(model)}`}`;
}

/** In a private chat the owner manages all jobs; anyone else only their own, and in a shared chat only those created here. */
function scopeOf({ role, principal, conversation, conversationId }: CommandContext): JobScope {
	if (role === "owner" && isPrivate(conversation)) return OPERATOR;
	if (principal === null) throw unknownPerson();
	return { kind: "owner", principal, role, ...(!isPrivate(conversation) && { origin: conversationId }) };
}

function isPrivate({ shared, chatType }: CommandContext["conversation"]): boolean {
	return !shared && chatType === "dm";
}

function unknownPerson(): KeryxError {
	return new KeryxError(
		"schedule.invalid",
		"the platform does not say who you are, so you cannot have jobs here",
	);
}

function jobsOf({ schedules }: CommandContext): Schedules {
	if (schedules) return schedules;
	throw new KeryxError("gateway.stopped", "jobs are off in this Keryx");
}
