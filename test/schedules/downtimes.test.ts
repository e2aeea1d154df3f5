// Many jobs, a Keryx that is away at random, and dies between any two operations of the store: each scheduled instant has exactly one row
// with a stated end, and each result is sent once. `npm test` takes some jobs, `npm run test:crash` ten thousand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { firstInstant, nextInstant, type Timing } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import { ScheduleRunner } from "../../src/gateway/lifecycle/schedule-runner.ts";
import { createSchedules, scheduleSettings } from "../../src/schedules/index.ts";
import { createSecrets, type Job, runId, type Store } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createVirtualClock, trackedEngine } from "../../src/testing/index.ts";
import { countedIds } from "../support/clock.ts";
import { SEED } from "../support/seed.ts";

const JOBS = Number(process.env.KERYX_JOBS ?? 60);
const OPERATOR = { kind: "operator" } as const;
const HOUR = 3_600_000;
/** Two days around the end of summer time in Berlin. */
const START = Date.UTC(2026, 9, 24, 12);
const END = START + 48 * HOUR;

const jobs = fc.record({
	when: fc.constantFrom(
		"every 47m",
		"every 5h",
		"every 13h",
		"15 */3 * * *",
		"30 2 * * *",
		"0 2,14 * * *",
		"15 9 * * 1-5",
		"2026-10-25T02:30",
		"2026-10-25T18:00",
	),
	zone: fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"),
	catchUp: fc.constantFrom("none", "once", "all"),
	maxDelaySeconds: fc.constantFrom(null, 600, 7200),
});

/** Every operation may be the last: from then on the store answers nobody. */
function mortal(store: Store, operations: number, killed: () => void): Store {
	let left = operations;
	return new Proxy(store, {
		get: (target, name) => {
			const value = Reflect.get(target, name) as unknown;
			if (typeof value !== "function" || name === "onCommit" || name === "onFault") return value;
			return (...args: unknown[]) => {
				if (left-- === 0) killed();
				if (left < 0) return Promise.reject(new Error("killed"));
				return (value as (...given: unknown[]) => unknown).apply(target, args);
			};
		},
	});
}

test(`each scheduled instant of ${JOBS} jobs has one row and a stated end, whatever happens to Keryx`, {
	timeout: 10_800_000,
}, async () => {
	const engine = trackedEngine(await openSqlite({ path: ":memory:", startedAt: START, access: "own" }));
	const clock = createVirtualClock(START, { settle: engine.idle });
	const store = storeOn(engine, { clock, ids: countedIds(), secrets: createSecrets(new Map()) });
	const config = configSchema.parse({ schedule: { max_jobs: 1_000_000, disable_after: 1000 } });
	const schedules = createSchedules({ store, clock, settings: () => scheduleSettings(config) });
	const draws = fc.sample(fc.nat(1_000_000), { numRuns: 4000, seed: SEED });
	let drawn = 0;
	const draw = (below: number) => (draws[drawn++ % draws.length] as number) % below;
	const made: Job[] = [];
	for (const wanted of fc.sample(jobs, { numRuns: JOBS, seed: SEED }))
		made.push(
			await schedules.create({
				...wanted,
				task: { kind: "text", text: "now" },
				deliver: { target: { kind: "local" }, shown: "a file", approved: true },
				owner: { principal: null, role: "owner", platform: "local" },
			}),
		);

	const sent = new Map<string, number>();
	let [lives, kills] = [0, 0];
	const live = (operations: number) =>
		new ScheduleRunner({
			store: mortal(store, operations, () => kills++),
			clock,
			config: () => config,
			sending: {
				resolve: () => Promise.reject(new Error("not asked")),
				check: () => Promise.resolve({ kind: "may", needs: "nothing" }),
				show: () => Promise.resolve("a file"),
				isSameChat: () => Promise.reject(new Error("not asked")),
				whereOf: () => Promise.reject(new Error("not asked")),
				// Once by its id, as the store does it.
				send: ({ id }) => {
					sent.set(id, (sent.get(id) ?? 0) + 1);
					return Promise.resolve({} as never);
				},
			},
			homes: () => [],
			wake: () => {
				throw new KeryxError("internal", "a text needs no turn");
			},
			log: () => {},
		});
	while (clock.now() < END) {
		const runner = live(1 + draw(JOBS * 12));
		runner.start();
		await clock.advance(Math.min(END - clock.now(), (1 + draw(120)) * 60_000));
		await runner.stop();
		lives++;
		// Away for up to seven hours: nothing moves but the clock.
		if (draw(2) === 0) clock.jump(Math.min(Math.max(0, END - clock.now()), draw(420) * 60_000));
	}
	const last = live(Number.MAX_SAFE_INTEGER);
	last.start();
	await clock.advance(1000);
	for (let n = 0; n < 10_000; n++) {
		const { jobs: due } = await store.dueJobs({ scope: OPERATOR, now: clock.now(), limit: 1 });
		if (due.length === 0 && (await store.unsettledRuns({ scope: OPERATOR, limit: 1 })).length === 0) break;
		await clock.advance(100);
	}
	const now = clock.now();
	await last.stop();

	let instants = 0;
	const states = new Map<string, number>();
	for (const job of made) {
		const runs = await store.runs({ scope: OPERATOR, job: job.id, limit: 100_000 });
		expect(runs.map(({ scheduledAt }) => scheduledAt).reverse()).toEqual(instantsOf(job, job.createdAt, now));
		for (const { state, reason, scheduledAt, begunAt } of runs) {
			const what = state === "missed" ? `missed: ${reason}` : state;
			states.set(what, (states.get(what) ?? 0) + 1);
			expect(["answered", "missed"]).toContain(state);
			const isSent = sent.has(runId({ job: job.id, at: scheduledAt }));
			expect({ job: job.id, scheduledAt, isSent }).toEqual({
				job: job.id,
				scheduledAt,
				isSent: state === "answered",
			});
			if (job.catchUp === "none" && state === "answered")
				expect(begunAt - scheduledAt).toBeLessThanOrEqual(60_000);
		}
		instants += runs.length;
	}
	console.log(
		`${made.length} jobs, ${lives} lives, ${kills} killed, ${instants} instants:`,
		Object.fromEntries(states),
	);
	expect(instants).toBeGreaterThan(made.length);
	await engine.close();
});

function instantsOf(timing: Timing, from: number, until: number): number[] {
	const all: number[] = [];
	for (let at = firstInstant(timing, from); at !== null && at <= until; at = nextInstant(timing, at))
		all.push(at);
	return all;
}
