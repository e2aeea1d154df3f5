import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { atLeast, measured, median, perSecond } from "../bench/harness.ts";

const MAIN = fileURLToPath(new URL("../bench/main.ts", import.meta.url));

test.each([[["nowhere"]], [[]], [["toString"]], [["domain", "more"]]])(
	"%j is no area: the areas are listed and the exit code is 2",
	async (args) => {
		const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
			execFile(
				process.execPath,
				["--disable-warning=ExperimentalWarning", MAIN, ...args],
				(error, _stdout, stderr) => {
					resolve({ code: error?.code ?? 0, stderr });
				},
			);
		});
		expect(code).toBe(2);
		expect(stderr).toContain("areas: domain");
	},
);

test("a bar holds from its value on, and a row without one neither holds nor fails", () => {
	const row = measured("x, against nothing", 10, "per second");
	expect(row).toMatchObject({ bar: null, holds: null });
	expect(atLeast(10, row)).toMatchObject({ bar: 10, holds: true });
	expect(atLeast(10.1, row)).toMatchObject({ bar: 10.1, holds: false });
});

test("the median is the middle one, or the mean of the two in the middle", () => {
	expect(median([3, 100, 1])).toBe(3);
	expect(median([4, 1, 2, 100])).toBe(3);
});

test("a rate is calls by time", () => {
	let calls = 0;
	const rate = perSecond(() => calls++, { warmUpMs: 5, samples: 3, sampleMs: 5 });
	expect(calls).toBeGreaterThan(0);
	expect(rate).toBeGreaterThan(0);
	expect(Number.isFinite(rate)).toBe(true);
});
