// The thread that scans workspaces and restores files: slow disks and many files are slow only here.
import { type MessagePort, parentPort } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import { type Applied, type ApplyRequest, applySteps } from "./restore/apply.ts";
import { undoneSteps } from "./restore/standing.ts";
import { readSteps } from "./restore/step-text.ts";
import { type Written, writeShare } from "./restore/writes.ts";
import { makeSnapshot, type Snapshot, type SnapshotRequest } from "./snapshot.ts";
import { FilesThread } from "./thread.ts";
import type { Job, JobReply, Work } from "./work.ts";

/** By repository, until the next scan of the workspace. */
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
		case "write":
			return writeShare(job.request);
		case "undone":
			return undoneSteps(job.request.root, readSteps(job.request.steps));
	}
}

function snapshot(request: SnapshotRequest): Promise<Snapshot> {
	const put = written.get(request.repository);
	written.delete(request.repository);
	return makeSnapshot(request, put);
}

async function apply(request: ApplyRequest): Promise<Applied> {
	const { applied, written: put } = await applySteps(request, () => new FilesThread());
	written.set(request.repository, put);
	return applied;
}
