// The thread that looks at workspaces: what is slow there, a disk or the number of files, is slow here and nowhere else.
import { type MessagePort, parentPort } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import { makeSnapshot, type Snapshot, type SnapshotRequest } from "./snapshot.ts";

export interface Job {
	readonly id: number;
	readonly request: SnapshotRequest;
}

export type JobReply =
	| { readonly id: number; readonly snapshot: Snapshot }
	| { readonly id: number; readonly error: ReturnType<KeryxError["toJSON"]> };

const port = parentPort as MessagePort;

port.on("message", (job: Job) => {
	void answer(job).then((reply) => port.postMessage(reply));
});

async function answer({ id, request }: Job): Promise<JobReply> {
	try {
		return { id, snapshot: await makeSnapshot(request) };
	} catch (error) {
		const known =
			error instanceof KeryxError ? error : new KeryxError("checkpoint.failed", (error as Error).message);
		return { id, error: known.toJSON() };
	}
}
