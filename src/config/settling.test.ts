import fc from "fast-check";
import { expect, test } from "vitest";
import { SETTLE_MS, type Seen, settle, UNSEEN } from "./settling.ts";

/** A file as it stands in a folder, and what somebody does to it. */
interface World {
	id: number;
	writes: number;
	text: string;
	isThere: boolean;
	isMoved: boolean;
}

type Step =
	| { readonly kind: "write"; readonly text: string; readonly after: number }
	| { readonly kind: "move"; readonly text: string; readonly after: number }
	| { readonly kind: "delete"; readonly after: number };

const text = fc.constantFrom("", "auth: {}\n", "auth: { irc: { allow: [a] } }\n", "# nothing\n");
const after = fc.oneof(fc.integer({ min: 0, max: SETTLE_MS - 1 }), fc.integer({ min: SETTLE_MS, max: 5000 }));
const step: fc.Arbitrary<Step> = fc.oneof(
	fc.record({ kind: fc.constant("write" as const), text, after }),
	fc.record({ kind: fc.constant("move" as const), text, after }),
	fc.record({ kind: fc.constant("delete" as const), after }),
);

function seenOf({ id, writes, text, isThere, isMoved }: World): Seen {
	if (!isThere) return { kind: "none" };
	return { kind: "file", id: `${id}`, stamp: `${writes}`, bytes: Buffer.from(text), isMoved };
}

function act(world: World, step: Step): void {
	if (step.kind === "delete") {
		world.isThere = false;
		return;
	}
	if (step.kind === "move" || !world.isThere) world.id++;
	world.writes++;
	world.isThere = true;
	world.isMoved = step.kind === "move";
	world.text = step.text;
}

interface Judged {
	readonly text: string | null;
	/** How long it had been as it was. */
	readonly stillFor: number;
	readonly wasMoved: boolean;
}

/** Runs the steps on a clock of its own; every change is noticed at once. */
function judgements(steps: readonly Step[]): { readonly judged: readonly Judged[]; readonly world: World } {
	const world: World = { id: 1, writes: 1, text: "first: 1\n", isThere: true, isMoved: false };
	const judged: Judged[] = [];
	let settling = UNSEEN;
	let now = 0;
	let changedAt = 0;
	let due: number | null = null;
	const look = (isStill: boolean) => {
		const seen = seenOf(world);
		const { next, verdict } = settle(settling, seen, isStill);
		settling = next;
		if (verdict === "wait") due = now + SETTLE_MS;
		if (verdict === "rest" || verdict === "judge") due = null;
		if (verdict === "judge")
			judged.push({
				text: seen.kind === "none" ? null : world.text,
				stillFor: now - changedAt,
				wasMoved: world.isMoved,
			});
	};
	const passTo = (until: number) => {
		while (due !== null && due <= until) {
			now = due;
			due = null;
			look(true);
		}
		now = until;
	};
	look(false);
	for (const one of steps) {
		if (world.isThere || one.kind !== "delete") changedAt = now;
		act(world, one);
		look(false);
		passTo(now + one.after);
	}
	passTo(now + SETTLE_MS);
	return { judged, world };
}

test("what is written in place is judged after it was still for a second, and what is moved in at once", () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
			for (const { text, stillFor, wasMoved } of judgements(steps).judged)
				expect(stillFor >= SETTLE_MS || (wasMoved && text !== null && text !== "")).toBe(true);
		}),
	);
});

test("what the file is in the end is what is judged in the end", () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
			const { judged, world } = judgements(steps);
			expect(judged.at(-1)?.text).toBe(world.isThere ? world.text : null);
		}),
	);
});

test("bytes that change under the same size and time are another version", () => {
	const seen = (text: string): Seen => ({
		kind: "file",
		id: "1",
		stamp: "same",
		bytes: Buffer.from(text),
		isMoved: false,
	});
	const first = settle(UNSEEN, seen("a"), false);
	expect(first.verdict).toBe("wait");
	const second = settle(first.next, seen("b"), true);
	expect(second.verdict).toBe("wait");
	expect(settle(second.next, seen("b"), true).verdict).toBe("judge");
});
