// The place in the sync is never committed before everything up to it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Intake, type Item } from "./intake.ts";

interface Event {
	readonly room: string;
	/** How many turns of the loop its commit takes. */
	readonly takes: number;
	/** Nothing is committed, this many times. */
	readonly fails: number;
	/** It asks for the place before it fails. */
	readonly asksFirst: boolean;
}

const event: fc.Arbitrary<Event> = fc.record({
	room: fc.constantFrom("!a", "!b", "!c"),
	takes: fc.nat(6),
	fails: fc.constantFrom(0, 0, 0, 1, 2),
	asksFirst: fc.boolean(),
});

test("whatever fails, and in whatever order commits end, no event is passed over and each is committed once", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(fc.array(event, { maxLength: 5 }), { maxLength: 6 }), async (syncs) => {
			const committed: string[] = [];
			const failed = new Map<string, number>();
			let stored = 0;
			const keep = (cursor: string) => {
				stored = Number(cursor);
				const all = syncs.slice(0, stored).flatMap((events, at) => events.map((_, n) => `${at}.${n}`));
				expect(committed).toEqual(expect.arrayContaining(all));
			};
			const intake = new Intake({
				since: null,
				cursorOf: (since) => since,
				keep: async (cursor) => keep(cursor),
			});
			const item = ({ room, takes, fails, asksFirst }: Event, id: string): Item => ({
				room,
				id,
				run: async (cursorNow) => {
					for (let turn = 0; turn < takes; turn++) await Promise.resolve();
					const before = failed.get(id) ?? 0;
					if (before < fails) {
						failed.set(id, before + 1);
						if (asksFirst) cursorNow();
						throw new Error("nothing was committed");
					}
					const cursor = cursorNow();
					committed.push(id);
					if (cursor !== undefined) keep(cursor);
				},
			});
			// As the line does: a sync brings everything since the stored place; after a failure it is asked for again.
			for (let at = 0; at < syncs.length; ) {
				const from = Number(intake.since ?? 0);
				const items = syncs
					.slice(from, at + 1)
					.flatMap((events, offset) => events.map((one, n) => item(one, `${from + offset}.${n}`)));
				intake.add(items, String(at + 1));
				try {
					await intake.settled();
					at++;
				} catch {
					await intake.recover();
				}
			}
			expect(committed.toSorted()).toEqual(
				syncs.flatMap((events, at) => events.map((_, n) => `${at}.${n}`)).toSorted(),
			);
			expect(stored).toBe(syncs.length);
		}),
		{ numRuns: 300 },
	);
});
