// Threads that tests keep behave as a thread that a store starts for itself.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import threads from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkerSettings } from "../src/store/sqlite/messages.ts";
import { Worker as OwnWorker } from "./support/kept-threads.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-threads-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each([
	["a kept thread", () => threads.Worker],
	["a thread of its own", () => OwnWorker],
])("%s", (_, worker) => {
	const start = (name: string) => {
		const settings: WorkerSettings = {
			role: "writer",
			path: join(folder, name),
			startedAt: 0,
			alone: false,
			auditKey: null,
			auditWitness: null,
		};
		const thread = new (worker())(process.env.KERYX_STORE_THREAD ?? "", { workerData: settings });
		const seen: string[] = [];
		thread.on("message", (message) => seen.push(Object.keys(message).sort().join(" ")));
		thread.on("error", (error) => seen.push(`error ${(error as Error).name}`));
		const ended = new Promise<readonly string[]>((resolve) =>
			thread.once("exit", () => resolve([...seen, "exit"])),
		);
		return { thread, ended };
	};

	it("is ready, replies, and ends after its last reply", async () => {
		const { thread, ended } = start("one.db");
		thread.postMessage([{ id: 1, kind: "close" }]);
		expect(await ended).toEqual(["database epoch ready", "changed replies", "exit"]);
	});

	it("that cannot open its store says why, and ends", async () => {
		const { ended } = start("nowhere/store.db");
		expect(await ended).toEqual(["error ready", "exit"]);
	});

	it("that dies tells of its error before its end, and the next store is served", async () => {
		const { thread, ended } = start("one.db");
		// Messages and errors come by different ways: the first message is here before the error is made.
		await once(thread, "message");
		// Requests come in a list; this is none.
		thread.postMessage(5);
		expect(await ended).toEqual(["database epoch ready", "error TypeError", "exit"]);
		const next = start("next.db");
		next.thread.postMessage([{ id: 1, kind: "close" }]);
		expect(await next.ended).toEqual(["database epoch ready", "changed replies", "exit"]);
	});
});
