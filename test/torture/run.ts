// The torture itself: kills and misbehaving platforms until everything was taken and worked off, and then the verdict.
import { expect } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, type Workbench } from "../crash/support.ts";
import { SEED } from "../support/seed.ts";
import { judge } from "./verdict.ts";
import { World } from "./world.ts";

/** How long a gateway lives at most, counted in what reaches its platforms and in writes to its store. */
const PROGRESS = 300;
const WRITES = 800;
/** Some die while they take up what the one before has left. */
const FEW_WRITES = 40;
/** After everything was taken, while what is left is worked off. */
const LATE_KILLS = 3;

export interface Torture {
	readonly bench: Workbench;
	readonly messages: number;
	/** The URL of its store; left out: a file. */
	readonly url?: string;
	readonly onTestFailed: (tell: () => void) => void;
}

export async function torture({ bench, messages, url, onTestFailed }: Torture): Promise<void> {
	console.log(`torture: begins with seed ${SEED}`);
	onTestFailed(() =>
		console.error(`torture: failed with seed ${SEED}: KERYX_SEED=${SEED} repeats its chances`),
	);
	const random = randomBy(SEED);
	const world = await World.create({
		bench,
		random,
		messages,
		conversations: Math.min(500, Math.ceil(messages / 12)),
		...(url !== undefined && { url }),
	});
	const upTo = (most: number) => 1 + Math.floor(random() * most);
	const nextKill = () => {
		if (random() < 0.5) return { afterProgress: upTo(PROGRESS) };
		return { atWrite: upTo(random() < 0.5 ? WRITES : FEW_WRITES) };
	};
	while (!world.isTaken) await world.live(nextKill());
	for (let n = 0; n < LATE_KILLS; n++) await world.live({ atWrite: upTo(FEW_WRITES) });
	expect(await world.live(null)).toBe("drained");
	await world.close();

	const store = await open(world.path, "read");
	const verdict = await judge(store, world);
	await store.close();
	const { problems, ...counts } = verdict;
	console.log(`torture: ${JSON.stringify({ messages, ...world.counts, ...counts, seed: SEED })}`);
	expect(problems, `seed ${SEED}`).toEqual([]);
	expect(world.logs, `seed ${SEED}`).toEqual([]);
	for (const what of ["kills", "redeliveries", "duplicates", "pauses", "lost"] as const)
		expect(world.counts[what], what).toBeGreaterThan(0);
}
