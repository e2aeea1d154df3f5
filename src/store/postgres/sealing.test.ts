// What nodes tell each other: only among those with the same keys, once, and not long afterwards.
import { expect, test } from "vitest";
import { Sealing, sharedKey } from "./sealing.ts";

const OF_STORE = Sealing.newKey();
const AUDIT_KEY = new Uint8Array(32).fill(7);
let now = 1_000_000;

function node(epoch: number, auditKey: Uint8Array | null = AUDIT_KEY): Sealing {
	return new Sealing(sharedKey(OF_STORE, auditKey), epoch, () => now);
}

test("is heard by other nodes, once each, and not by the one that tells", () => {
	const [a, b] = [node(1), node(2)];
	const sealed = a.seal("stop now");
	expect(b.open(sealed)).toEqual({ from: 1, text: "stop now" });
	expect([b.open(sealed), a.open(sealed)]).toEqual([null, null]);
});

test("is not heard by a node that joins after a minute", () => {
	const sealed = node(1).seal("stop now");
	now += 60_001;
	expect(node(3).open(sealed)).toBe(null);
});

test("cannot be made with what is in the tables alone, nor read", () => {
	const reader = node(9, null);
	expect(node(1).open(reader.seal("stop now"))).toBe(null);
	expect(reader.open(node(1).seal("stop now"))).toBe(null);
	expect(node(1).open("not sealed")).toBe(null);
});
