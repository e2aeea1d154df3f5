// What jobs cost that have nothing to do: a look for what is due, and a start, with none and with 100,000 of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { NO_SECRETS, OPERATOR, openStore, type Store, systemIds } from "../src/store/index.ts";
import { sampleJob } from "../src/testing/conformance/store/sample-job.ts";
import { systemClock } from "../src/time/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const JOBS = 100_000;
const LOOKS = 500;
const STARTS = 7;
/** A Keryx looks at least once a minute. */
const BAR_MS_PER_MINUTE = 5;
const BAR_START = 1.2;

export async function measureSchedule(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	try {
		const empty = await measureIn(join(folder, "empty"), 0);
		const full = await measureIn(join(folder, "full"), JOBS);
		return [
			measured("a look for due jobs, none there", empty.look, "ms"),
			atMost(BAR_MS_PER_MINUTE, measured("a look for due jobs, 100,000 idle", full.look, "ms")),
			measured("open the store and find what is due, none there", empty.start, "ms"),
			measured("open the store and find what is due, 100,000 idle", full.start, "ms"),
			atMost(
				BAR_START,
				measured("start with 100,000 jobs to start with none", full.start / empty.start, "ratio"),
			),
		];
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

async function measureIn(
	path: string,
	jobs: number,
): Promise<{ readonly look: number; readonly start: number }> {
	const open = () =>
		openStore({
			url: `sqlite:${path}`,
			clock: systemClock,
			ids: systemIds(systemClock),
			secrets: NO_SECRETS,
		});
	const store = await open();
	await fill(store, jobs);
	const looks: number[] = [];
	for (let n = 0; n < LOOKS; n++) looks.push(await timed(() => look(store)));
	await store.close();
	const starts: number[] = [];
	for (let n = 0; n < STARTS; n++)
		starts.push(
			await timed(async () => {
				const opened = await open();
				await look(opened);
				await opened.close();
			}),
		);
	return { look: median(looks), start: median(starts) };
}

/** As the gateway does it: what is due, and what is under way. */
async function look(store: Store): Promise<void> {
	await store.dueJobs({ scope: OPERATOR, now: systemClock.now(), limit: 1 });
	await store.unsettledRuns({ scope: OPERATOR, limit: 200 });
}

async function fill(store: Store, jobs: number): Promise<void> {
	const job = sampleJob({ name: "idle", when: { kind: "every", seconds: 31_536_000 } });
	for (let made = 0; made < jobs; made += 1000)
		await Promise.all(
			Array.from({ length: 1000 }, (_, n) =>
				store.createJob({
					job: { ...job, owner: { ...job.owner, principal: `p${(made + n) % 1000}` } },
					most: jobs,
				}),
			),
		);
}

async function timed(work: () => Promise<void>): Promise<number> {
	const began = performance.now();
	await work();
	return performance.now() - began;
}
