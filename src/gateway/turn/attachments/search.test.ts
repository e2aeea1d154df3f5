import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentFailure } from "../../../agents/index.ts";
import { AttachmentSearch, MOST_EXTRA_CALLS } from "./search.ts";

type Provider = (held: readonly string[]) => AgentFailure | null;

/** One step: asks until it is answered or there is nothing more to leave out. */
function step(
	attached: readonly string[],
	provider: Provider,
): {
	readonly culprits: readonly string[];
	readonly requests: readonly (readonly string[])[];
	readonly failure: AgentFailure | null;
} {
	const search = new AttachmentSearch();
	const requests: string[][] = [];
	for (;;) {
		const held = attached.filter((digest) => !search.without.has(digest));
		requests.push(held);
		const failure = provider(held);
		if (!failure) return { culprits: requests.length > 1 ? search.culprits() : [], requests, failure };
		if (!search.refused(failure)) return { culprits: [], requests, failure };
	}
}

/** Refuses what holds one of these, and does not say why. */
const against =
	(guilty: readonly string[], kind: AgentFailure["kind"] = "refused"): Provider =>
	(held) =>
		held.some((digest) => guilty.includes(digest)) ? failure(held, { kind }) : null;

function failure(held: readonly string[], more: Partial<AgentFailure> = {}): AgentFailure {
	return { kind: "refused", detail: "no", suspects: held.map((digest) => ({ digest, bytes: 1 })), ...more };
}

const files = (count: number) => Array.from({ length: count }, (_, n) => `f${n}`);
const attachments = fc
	.integer({ min: 1, max: 12 })
	.chain((count) => fc.tuple(fc.constant(files(count)), fc.subarray(files(count))));

describe("whatever a provider refuses", () => {
	test("the conversation is answered, within the calls that are allowed", () => {
		fc.assert(
			fc.property(attachments, ([attached, guilty]) => {
				const { requests, failure } = step(attached, against(guilty));
				expect(failure).toBeNull();
				expect(requests.length).toBeLessThanOrEqual(1 + MOST_EXTRA_CALLS);
			}),
		);
	});

	test("of up to four attachments only guilty ones are left out for good", () => {
		fc.assert(
			fc.property(attachments, ([attached, guilty]) => {
				fc.pre(attached.length <= 4);
				const { culprits } = step(attached, against(guilty));
				expect(culprits.filter((digest) => !guilty.includes(digest))).toEqual([]);
			}),
		);
	});

	test("each refusal takes at least one for good, so that it comes to an end", () => {
		fc.assert(
			fc.property(attachments, ([attached, guilty]) => {
				let left: readonly string[] = attached;
				for (let n = 0; n <= guilty.length; n++) {
					const { culprits, requests } = step(left, against(guilty));
					if (requests.length === 1) return;
					expect(culprits.some((digest) => guilty.includes(digest))).toBe(true);
					left = left.filter((digest) => !culprits.includes(digest));
				}
				expect(step(left, against(guilty)).requests).toHaveLength(1);
			}),
		);
	});

	test("one of the newest three is found alone, and everything else is in the request that is answered", () => {
		fc.assert(
			fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 3 }), (count, nth) => {
				const attached = files(count);
				const guilty = attached.at(-nth);
				fc.pre(guilty !== undefined);
				const { culprits, requests } = step(attached, against([guilty as string]));
				expect(culprits).toEqual([guilty]);
				expect(requests.at(-1)).toEqual(attached.filter((digest) => digest !== guilty));
				expect(requests).toHaveLength(1 + nth);
			}),
		);
	});
});

test("the newest is left out first", () => {
	expect(step(["old", "new"], against(["new"])).requests).toEqual([["old", "new"], ["old"]]);
});

test("where nothing helps, the last request has no attachments, and nothing is left out for good", () => {
	const { requests, culprits, failure } = step(files(9), (held) => ({
		kind: "refused",
		detail: "no",
		...(held.length > 0 && { suspects: held.map((digest) => ({ digest, bytes: 1 })) }),
	}));
	expect([requests.length, requests.at(-1), culprits]).toEqual([7, [], []]);
	expect(failure).toEqual({ kind: "refused", detail: "no" });
});

test("an error without a reason is tried twice at most: without the newest, and without all", () => {
	const down = step(files(5), (held) => failure(held, { kind: "provider_down" }));
	expect(down.requests.map(({ length }) => length)).toEqual([5, 4, 0]);
	expect(step(files(2), against(["f0"], "provider_down")).culprits).toEqual(["f0"]);
});

test("what the provider names goes at once, and what it names next goes with it", () => {
	const guilty = ["f0", "f3", "f4", "f6"];
	const { requests, culprits } = step(files(9), (held) => {
		const [named] = held.filter((digest) => guilty.includes(digest));
		return named ? failure(held, { attachments: [named] }) : null;
	});
	expect(requests).toHaveLength(5);
	expect(culprits).toEqual(guilty);
});

test("a provider that names one after another is asked no more than is allowed, the last time without any", () => {
	const { requests } = step(files(20), (held) => failure(held, { attachments: held.slice(0, 1) }));
	expect(requests).toHaveLength(1 + MOST_EXTRA_CALLS);
	expect(requests.at(-1)).toEqual([]);
});

test("a failure for another reason ends the search", () => {
	const search = new AttachmentSearch();
	expect(search.refused(failure(["f0", "f1"]))).toBe(true);
	expect(search.refused({ kind: "rate_limited", detail: "slow down" })).toBe(false);
});
