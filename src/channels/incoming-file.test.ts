import { expect, test } from "vitest";
import { createVirtualClock } from "../testing/index.ts";
import { fetchInto, Unfetched } from "./incoming-file.ts";

const FILE = { name: "plan.pdf", mediaType: "application/pdf" };
const WAYS = { reasonOf: String, isFinal: (error: unknown) => String(error).includes("gone") };

function scene() {
	const clock = createVirtualClock(0);
	const triedAt: number[] = [];
	const host = { putBlob: async () => "b1" };
	const from = { host, clock, deadlineMs: 1000, isStopping: () => false };
	const opening = (failures: number, reason: string) => async () => {
		triedAt.push(clock.monotonic());
		if (triedAt.length <= failures) throw new Error(reason);
		return (async function* () {})();
	};
	return { clock, triedAt, from, opening };
}

test("a file that fails is asked for again after growing pauses: a connection that was cut may be back", async () => {
	const { clock, triedAt, from, opening } = scene();
	const fetched = fetchInto(FILE, opening(3, "cut"), from, WAYS);
	await clock.advance(60_000);
	expect(await fetched).toMatchObject({ blob: "b1" });
	const [first = 0, second = 0, third = 0, fourth = 0] = triedAt;
	expect(second - first).toBeGreaterThan(0);
	expect(third - second).toBeGreaterThan(second - first);
	expect(fourth - third).toBeGreaterThan(third - second);
});

test("one that is gone is asked for once, and one that fails again and again is given up", async () => {
	const gone = scene();
	await expect(fetchInto(FILE, gone.opening(9, "gone"), gone.from, WAYS)).rejects.toMatchObject({
		isFinal: true,
	});
	expect(gone.triedAt).toHaveLength(1);
	const { clock, triedAt, from, opening } = scene();
	const given = expect(fetchInto(FILE, opening(9, "cut"), from, WAYS)).rejects.toBeInstanceOf(Unfetched);
	await clock.advance(60_000);
	await given;
	expect(triedAt).toHaveLength(4);
});
