// The net: each operation of the store, reads too, is made to fail in each scenario, before its commit, after it with the answer lost, or
// by taking 30 s. Whatever it is, the gateway comes to rest by itself within a minute, without a loop, and everything that must hold
// holds. Here a sample; `npm run test:crash` has all of them.
import { expect, test } from "vitest";
import type { Fault } from "../../src/testing/index.ts";
import { type FaultAt, type Outcome, runFaulted, runPlain } from "./net/run.ts";
import { type NetScenario, SCENARIOS } from "./net/scenarios.ts";

const FAULTS: readonly Fault[] = ["before", "after", "slow"];
/** all, or a number of runs; which ones follows from the seed. */
const RUNS = process.env.KERYX_NET_RUNS ?? "160";
const SEED = Number(process.env.KERYX_NET_SEED ?? 20_773);
/** Only scenarios whose names hold this. */
const ONLY = process.env.KERYX_NET_ONLY ?? "";
/** Longest: all of them on a slow machine. */
const HOURS = 3 * 3_600_000;

interface Run extends FaultAt {
	readonly scenario: NetScenario;
	readonly plain: Outcome;
}

/** Without a fault. */
const plainRuns = new Map<NetScenario, Outcome>();

test("every scenario of the net holds without a fault", { timeout: HOURS }, async () => {
	for (const scenario of chosen()) {
		const { problems, spins } = await plainRun(scenario);
		expect({ name: scenario.name, problems, spins }).toEqual({
			name: scenario.name,
			problems: [],
			spins: false,
		});
	}
});

test(`whatever operation fails, the gateway comes to rest and keeps its promises (seed ${SEED})`, {
	timeout: HOURS,
}, async () => {
	const every = await everyRun(FAULTS);
	const { violations } = await tryAll("faults", every, RUNS === "all" ? every.length : Number(RUNS));
	expect(violations).toEqual([]);
});

test(`whenever the store is away or full for a minute, it is asked with pauses, and everything comes to rest (seed ${SEED})`, {
	timeout: HOURS,
}, async () => {
	const every = await everyRun(["away", "full"]);
	const { violations } = await tryAll(
		"times away or full",
		every,
		RUNS === "all" ? every.length : Number(RUNS) / 5,
	);
	expect(violations).toEqual([]);
});

function chosen(): readonly NetScenario[] {
	return SCENARIOS.filter(({ name }) => name.includes(ONLY));
}

/** All tests are held against the same one. */
async function plainRun(scenario: NetScenario): Promise<Outcome> {
	const outcome = plainRuns.get(scenario) ?? (await runPlain(scenario));
	plainRuns.set(scenario, outcome);
	return outcome;
}

async function everyRun(faults: readonly FaultAt["fault"][]): Promise<readonly Run[]> {
	const runs: Run[] = [];
	for (const scenario of chosen()) {
		const plain = await plainRun(scenario);
		for (let at = 1; at <= plain.operations.length; at++)
			for (const fault of faults) runs.push({ scenario, plain, at, fault });
	}
	return runs;
}

/** Prints what was tried and what came of it. */
async function tryAll(
	what: string,
	every: readonly Run[],
	count: number,
): Promise<{ readonly violations: readonly string[] }> {
	const runs = sample(every, count);
	const violations: string[] = [];
	let spins = 0;
	let missed = 0;
	for (const { scenario, plain, at, fault } of runs) {
		const outcome = await runFaulted(scenario, { at, fault }, plain);
		if (!outcome.reached) missed++;
		if (outcome.spins) spins++;
		const where = `${scenario.name}, operation ${at} (${outcome.operations[at - 1]}), ${fault}`;
		for (const problem of outcome.spins ? ["it spins"] : outcome.problems) {
			violations.push(`${where}: ${problem}`);
			// At once: all of them take a while.
			console.log(violations.at(-1));
		}
	}
	const scenarios = new Set(every.map(({ scenario }) => scenario)).size;
	console.log(
		`the net: ${scenarios} scenarios x their operations x ${what} = ${every.length}; tried ${runs.length} ` +
			`(not reached: ${missed}), violations ${violations.length}, spins ${spins}`,
	);
	return { violations };
}

/** The same for the same seed; all of them in their order. */
function sample(runs: readonly Run[], count: number): readonly Run[] {
	if (count >= runs.length) return runs;
	let state = SEED;
	const next = () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
	return runs
		.map((run) => ({ run, key: next() }))
		.sort((one, other) => one.key - other.key)
		.slice(0, count)
		.map(({ run }) => run);
}
