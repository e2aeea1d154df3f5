// A chat command's change to jobs, committed together with the end of the command's message.
import type { Context, Op } from "../../query.ts";
import type { Job } from "../../types.ts";
import type { Woken } from "../inbox/wake.ts";
import { type CreateJobArgs, createJob, deleteJobOp, pauseJob, resumeJob } from "./jobs.ts";
import { foundJob, type JobScope, toJob } from "./rows.ts";
import { runJobNow } from "./runs.ts";

export type ManageJobArgs =
	| ({ readonly do: "create" } & CreateJobArgs)
	| {
			readonly do: "pause" | "resume" | "delete" | "run";
			readonly scope: JobScope;
			readonly id: string;
	  };

export function* manageJob(
	context: Context,
	args: ManageJobArgs,
): Op<{ readonly did: ManageJobArgs["do"]; readonly job: Job; readonly woken: Woken | null }> {
	switch (args.do) {
		case "create":
			return { did: args.do, job: yield* createJob(context, args), woken: null };
		case "pause":
			return { did: args.do, job: yield* pauseJob(context, args), woken: null };
		case "resume":
			return { did: args.do, job: yield* resumeJob(context, args), woken: null };
		case "delete":
			return { did: args.do, job: yield* deleteJobOp(context, args), woken: null };
		case "run": {
			const { woken } = yield* runJobNow(context, args);
			return { did: args.do, job: toJob(yield* foundJob(args.scope, args.id)), woken };
		}
	}
}
