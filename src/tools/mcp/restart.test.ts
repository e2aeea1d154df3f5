import { expect, test } from "vitest";
import { decideRestart } from "./restart.ts";

test("the pauses grow, and then the breaker opens", () => {
	expect([1, 2, 3, 4, 5, 6, 100].map(decideRestart)).toEqual([
		{ kind: "waiting", ms: 1000 },
		{ kind: "waiting", ms: 2000 },
		{ kind: "waiting", ms: 4000 },
		{ kind: "waiting", ms: 8000 },
		{ kind: "waiting", ms: 16_000 },
		{ kind: "broken", ms: 300_000 },
		{ kind: "broken", ms: 300_000 },
	]);
});
