import { expect, test } from "vitest";
import type { Store } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { LastAnswered } from "../lanes/last-answered.ts";
import { Neighbours } from "./neighbours.ts";

test("home channels are read again when another gateway has set one, and after a gap in the events", async () => {
	let committed = () => {};
	const pages: unknown[] = [{ kind: "page", cursor: "e1", events: [] }];
	const store = {
		cluster: {
			onCommitElsewhere: (listener: () => void) => {
				committed = listener;
				return () => {};
			},
			onNodeDead: () => () => {},
			onLease: () => () => {},
		},
		events: async () => pages.shift() ?? { kind: "page", cursor: "e9", events: [] },
	} as unknown as Store;
	let reads = 0;
	const neighbours = new Neighbours({
		store,
		clock: systemClock,
		lanes: { has: () => false } as unknown as Lanes,
		lastAnswered: new LastAnswered(),
		refresh: async () => {},
		lookForUnheard: () => {},
		turnEnded: () => {},
		readHomes: async () => {
			reads++;
		},
		letGo: () => {},
		takeOver: async () => {},
		log: (_, error) => {
			throw error;
		},
	});
	await neighbours.start();
	expect(reads).toBe(1);
	for (const [n, page] of [
		[2, { kind: "page", cursor: "e2", events: [{ type: "home.set", conversation: "c", turn: null }] }],
		[3, { kind: "resync", cursor: "e3" }],
	] as const) {
		pages.push(page);
		committed();
		await expect.poll(() => reads).toBe(n);
	}
	await neighbours.stop();
});
