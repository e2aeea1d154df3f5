// One run of a scenario on a store with at most one fault, and what is wrong with how it came to rest.
import { type Fault, type FaultingEngine, faultingEngine, SLOW_MS } from "../../../src/testing/index.ts";
import { NOON } from "../../support/clock.ts";
import { MINUTE, Scene, type SceneOptions, SECOND } from "../support.ts";
import type { NetScenario, Stage } from "./scenarios.ts";
import { type Found, judge } from "./verdict.ts";

/** What a run may need beyond five times what it needs without a fault. */
const SPARE = 200;
/** Asked in vain while the store is away. */
const VAIN = 200;
/** How long it is away. */
const AWAY_MS = MINUTE;
/** Without a fault a scenario has far fewer. */
const MOST = 5000;

export interface Outcome {
	/** How many operations of the store there were, in order, by name. */
	readonly operations: readonly string[];
	/** Whether the operation that was to fail was reached. */
	readonly reached: boolean;
	readonly spins: boolean;
	readonly problems: readonly string[];
	readonly shown: string;
	/** How many calls of models the record has. */
	readonly calls: number;
}

export interface FaultAt {
	/** The nth operation; 0: none. */
	readonly at: number;
	/** From there on, for a minute, everything fails (away), or every write (full). */
	readonly fault: Fault | "away" | "full";
}

/** Without a fault: how it is, and what the others are held against. */
export function runPlain(scenario: NetScenario): Promise<Outcome> {
	return run(scenario, { at: 0, fault: "before" }, MOST);
}

export async function runFaulted(scenario: NetScenario, fault: FaultAt, plain: Outcome): Promise<Outcome> {
	const vain = isLasting(fault) ? VAIN : 0;
	const outcome = await run(scenario, fault, 5 * plain.operations.length + SPARE + vain);
	if (outcome.spins || outcome.problems.length > 0 || scenario.timely) return outcome;
	// A call that starts a program waits for the store for ten seconds; then its model is told, and goes on in its own way.
	if (isLasting(fault) && scenario.options?.().programs) return outcome;
	const problems: string[] = [];
	if (undated(outcome.shown) !== undated(plain.shown))
		problems.push(`users see ${outcome.shown}, without the fault they see ${plain.shown}`);
	// Of a turn that was cut off, what it had asked may have to be asked again.
	if (outcome.calls !== plain.calls && !scenario.options?.().durable)
		problems.push(
			`${outcome.calls} calls of models are recorded, without the fault there are ${plain.calls}`,
		);
	return { ...outcome, problems };
}

/** How long a session was quiet depends on the fault. */
function undated(shown: string): string {
	return shown.replace(/inactive for \d+ min/g, "inactive for some minutes");
}

function isLasting({ fault }: FaultAt): boolean {
	return fault === "away" || fault === "full";
}

async function run(scenario: NetScenario, faultAt: FaultAt, most: number): Promise<Outcome> {
	const { at, fault } = faultAt;
	const operations: string[] = [];
	let engine: FaultingEngine | undefined;
	const options: SceneOptions = {
		...scenario.options?.(),
		passing: true,
		engine: (under, clock) => {
			// Of all lives together.
			const before = operations.length;
			engine = faultingEngine(under, {
				clock,
				at: at > before ? at - before : 0,
				...(fault === "away" || fault === "full"
					? { fault: "before", forMs: AWAY_MS, readable: fault === "full" }
					: { fault }),
				most: most - before,
				onOperation: (_, name) => operations.push(name),
			});
			return engine;
		},
	};
	const scene = new Scene(options);
	const problems: string[] = [];
	let found: Found | undefined;
	try {
		await scene.open(NOON);
		await scenario.play(stageOn(scene, options, isLasting(faultAt) ? LONGEST_MS / SECOND : 3));
	} catch (error) {
		problems.push(error instanceof Error ? error.message : String(error));
	}
	try {
		await scene.clock.advance(isLasting(faultAt) ? LONGEST_MS : MINUTE + SLOW_MS);
		found = await judge(scene, { ends: scenario.ends ?? [], isAway: isLasting(faultAt) });
		problems.push(...found.problems);
	} finally {
		await scene.end();
	}
	return {
		operations,
		reached: at > 0 && operations.length >= at,
		spins: operations.length >= most,
		problems,
		shown: found.shown,
		calls: found.calls,
	};
}

class Missed extends Error {}

/** Longer than a fault may hold anything up. */
const LONGEST_MS = AWAY_MS + MINUTE + SLOW_MS;

/** `most`: how often somebody insists, a second apart. */
function stageOn(scene: Scene, options: SceneOptions, most: number): Stage {
	const pass = (ms: number) => scene.clock.advance(ms);
	const until: Stage["until"] = async (what, look) => {
		for (const since = scene.clock.now(); scene.clock.now() - since <= LONGEST_MS; await pass(SECOND)) {
			await pass(0);
			const found = await look();
			if (found !== null && found !== undefined) return found;
		}
		throw new Missed(`${what} never came`);
	};
	const settled = async <Value>(what: string, work: Promise<Value>): Promise<Value> => {
		let outcome: { readonly value: Value } | { readonly error: unknown } | null = null;
		work.then(
			(value) => (outcome = { value }),
			(error: unknown) => (outcome = { error }),
		);
		const ended = await until(what, () => outcome);
		if ("error" in ended) throw ended.error;
		return ended.value;
	};
	return {
		scene,
		say: (text, chat = "ada") => scene.world.say({ chat, text }),
		pass,
		until,
		insist: async (action) => {
			for (let tries = 1; ; tries++) {
				try {
					return await settled("an action", action());
				} catch (error) {
					if (tries >= most || error instanceof Missed) throw error;
					await pass(SECOND);
				}
			}
		},
		crash: () => scene.crash(SECOND, options),
		restart: async () => {
			await settled("the end", scene.gateway.stop());
			await scene.crash(SECOND, options);
		},
	};
}
