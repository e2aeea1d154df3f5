// The thread that looks at workspaces and puts files back: what is slow there, a disk or the number of files, is slow here and nowhere else.
import { type MessagePort, parentPort } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import type { RawPath } from "./names.ts";
import { type Applied, type ApplyRequest, applySteps, type Written } from "./restore/apply.ts";
import type { Step } from "./restore/plan.ts";
import { undoneSteps } from "./restore/standing.ts";
import { makeSnapshot, type Snapshot, type SnapshotRequest } from "./snapshot.ts";

/** What is asked of the thread, and what it answers, by name. */
export interface Work {
	readonly snapshot: { readonly request: SnapshotRequest; readonly answer: Snapshot };
	readonly apply: { readonly request: ApplyRequest; readonly answer: Applied };
	/** What a restore that was cut off has left. */
	readonly undone: {
		readonly request: { readonly root: string; readonly steps: readonly Step[] };
		readonly answer: readonly RawPath[];
	};
}

export type Job = {
	readonly [Name in keyof Work]: {
		readonly id: number;
		readonly name: Name;
		readonly request: Work[Name]["request"];
	};
}[keyof Work];

export type JobReply =
	| { readonly id: number; readonly answer: Work[keyof Work]["answer"] }
	| { readonly id: number; readonly error: ReturnType<KeryxError["toJSON"]> };

/** By repository, until the next look at the workspace. */
const written = new Map<string, Written>();

const port = parentPort as MessagePort;

port.on("message", (job: Job) => {
	void reply(job).then((done) => port.postMessage(done));
});

async function reply(job: Job): Promise<JobReply> {
	const { id } = job;
	try {
		return { id, answer: await answer(job) };
	} catch (error) {
		const known =
			error instanceof KeryxError ? error : new KeryxError("checkpoint.failed", (error as Error).message);
		return { id, error: known.toJSON() };
	}
}

function answer(job: Job): Promise<Work[keyof Work]["answer"]> | Work[keyof Work]["answer"] {
	switch (job.name) {
		case "snapshot":
			return snapshot(job.request);
		case "apply":
			return apply(job.request);
		case "undone":
			return undoneSteps(job.request.root, job.request.steps);
	}
}

function snapshot(request: SnapshotRequest): Promise<Snapshot> {
	const put = written.get(request.repository);
	written.delete(request.repository);
	return makeSnapshot(request, put);
}

async function apply(request: ApplyRequest): Promise<Applied> {
	const { applied, written: put } = await applySteps(request);
	written.set(request.repository, put);
	return applied;
}
