import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChannelHealth } from "../channel.ts";
import { judgeHealth } from "./channel-health.ts";

const health = fc.record({
	state: fc.constantFrom<ChannelHealth["state"]>(
		"starting",
		"connected",
		"degraded",
		"down",
		"needs_attention",
		"stopped",
	),
	aliveAt: fc.option(fc.nat(), { nil: null }),
	provenBy: fc.option(fc.constant("poll answered"), { nil: undefined }),
	detail: fc.option(fc.constant("the reason"), { nil: undefined }),
}) as fc.Arbitrary<ChannelHealth>;

test("silence within its time changes nothing; past it, whoever could be alive is down", () => {
	fc.assert(
		fc.property(health, fc.nat(200_000), fc.integer({ min: 5, max: 100 }), (said, silentMs, aliveSeconds) => {
			const judged = judgeHealth(said, { silentMs, aliveSeconds });
			const canBeMissed = said.state === "connected" ? said.provenBy !== undefined : said.state !== "stopped";
			const isSilent = silentMs > aliveSeconds * 1000;
			if (isSilent && canBeMissed && said.state !== "needs_attention") expect(judged.state).toBe("down");
			else expect(judged).toEqual(said);
		}),
	);
});

test("what the channel says of the reason is kept", () => {
	const said = { state: "degraded", aliveAt: 0, detail: "cannot connect" } as const;
	expect(judgeHealth(said, { silentMs: 61_000, aliveSeconds: 60 }).detail).toBe(
		"no sign of life for 61 seconds; cannot connect",
	);
});
