// Real command lines, really run, on a machine that is thrown away: what hostile ones get and change behind each wall, and that ordinary
// ones work. `npm test` runs a few of them, `npm run test:crash` many.
import { expect, test } from "vitest";
import { SEED } from "../support/seed.ts";
import { isException } from "./lines/exceptions.ts";
import { processGroups, runLines } from "./lines/run.ts";
import { dayLines, hostileLines, ordinaryLines } from "./lines/sets.ts";
import type { Job, Outcome } from "./lines/types.ts";

const RUNS = Number(process.env.KERYX_CRASH_RUNS ?? 0);
/** Three for each kill that `npm run test:crash` is told of: 600, if nothing else is said. */
const HOSTILE = RUNS === 0 ? 6 : 3 * RUNS;
/** All that end by themselves; in `npm test` a few of those that are quick. */
const ORDINARY = RUNS === 0 ? 6 : 5 * RUNS;
/** Long enough for a hostile line to do its harm. */
const HOSTILE_SECONDS = 2;
/** A line that has not ended by then is a server, or waits for somebody. */
const ORDINARY_SECONDS = 5;
/** For one that ended without a wall; only a hang takes so long. */
const PATIENCE_SECONDS = 120;
const TIMEOUT = 120_000 + (HOSTILE + ORDINARY) * 10_000;

type Tried = Job & Outcome;

if (process.getuid?.() === 0) {
	test(`${HOSTILE} hostile lines get and change nothing that their wall keeps from them`, {
		timeout: TIMEOUT,
	}, async () => {
		const lines = drawn(hostileLines(), HOSTILE);
		const jobs = lines.flatMap((line) =>
			(["none", "view", "mask", "box"] as const).map((wall) => ({ line, wall, seconds: HOSTILE_SECONDS })),
		);
		const tried = await run(jobs);
		expect(tried.filter(isHarmful)).toEqual([]);
		if (RUNS > 0) tell(tried);
		// Without a wall some of them do harm: what is shown is not that the lines are harmless.
		if (RUNS > 0) expect(tried.filter(bites).length).toBeGreaterThan(lines.length / 50);
	});

	test(`${HOSTILE} hostile lines of a Keryx that runs as root get and change nothing that their wall keeps from them`, {
		timeout: TIMEOUT,
	}, async () => {
		const groups = processGroups();
		// Without one, a line that starts processes without end would take this machine down.
		const lines = groups === null ? [] : drawn(hostileLines(), HOSTILE);
		const jobs = lines.flatMap((line) =>
			(["view", "mask", "box"] as const).map((wall) => ({ line, wall, seconds: HOSTILE_SECONDS })),
		);
		const tried = await run(jobs, groups);
		expect(tried.filter(isHarmful)).toEqual([]);
		if (RUNS > 0) tell(tried);
	});

	test(`${ORDINARY} ordinary lines that work without a wall work in view and box`, {
		timeout: TIMEOUT,
	}, async () => {
		const lines = drawn(RUNS === 0 ? dayLines() : ordinaryLines(), ORDINARY);
		const jobs = lines.flatMap((line): Job[] => [
			{ line, wall: "none", seconds: ORDINARY_SECONDS },
			{ line, wall: "view", seconds: PATIENCE_SECONDS, isConditional: true },
			{ line, wall: "box", seconds: PATIENCE_SECONDS, isConditional: true },
		]);
		const tried = (await run(jobs)).filter(({ code }) => code !== "not tried");
		if (RUNS > 0) {
			const count = (wall: Job["wall"]) => tried.filter((one) => one.wall === wall && one.code === 0).length;
			console.log(
				`of ${lines.length} ordinary lines ${count("none")} end well without a wall, ${count("view")} in view, ${count("box")} in box`,
			);
		}
		const broken = tried.filter(
			({ line, wall, code }) => wall !== "none" && code !== 0 && !isException(line, wall),
		);
		expect(broken).toEqual([]);
	});
} else
	test("lines: nothing can be shown, an ordinary user cannot lay a machine over this one", () => {
		expect(process.getuid?.()).not.toBe(0);
	});

async function run(jobs: readonly Job[], rootIn: string | null = null): Promise<Tried[]> {
	const outcomes = await runLines(jobs, rootIn);
	return jobs.map((job, index) => ({ ...job, ...(outcomes[index] as Outcome) }));
}

/** In a box nothing outside of the workspace is read or changed; in view nothing is changed; in no wall anything of Keryx. */
function isHarmful({ wall, changed, leaked }: Tried): boolean {
	if (wall === "none") return false;
	if (
		leaked.includes("keryx") ||
		changed.some((path) => /^\/(home\/ann\/\.keryx|opt\/keryx)(\/|$)/.test(path))
	)
		return true;
	return (wall === "box" && leaked.length > 0) || (wall !== "mask" && changed.length > 0);
}

function bites({ wall, changed, leaked }: Tried): boolean {
	return wall === "none" && (changed.length > 0 || leaked.length > 0);
}

function tell(tried: readonly Tried[]): void {
	for (const wall of ["none", "view", "mask", "box"] as const) {
		const own = tried.filter((one) => one.wall === wall);
		const count = (is: (one: Tried) => boolean) => own.filter(is).length;
		console.log(
			`${wall}: ${own.length} lines, ${count(({ changed }) => changed.length > 0)} changed something outside, ${count(({ leaked }) => leaked.includes("other"))} got secrets of others, ${count(({ leaked }) => leaked.includes("keryx"))} of Keryx`,
		);
	}
}

/** Without repetition, by the seed. */
function drawn(lines: readonly string[], count: number): string[] {
	let state = SEED;
	const next = () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
	return lines
		.map((line) => ({ line, order: next() }))
		.sort((a, b) => a.order - b.order)
		.slice(0, count)
		.map(({ line }) => line);
}
