// What happens is on the screen because it is told, not because somebody asks now and then. How fast, `npm run bench -- page` measures.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { median } from "../../bench/harness.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";
import { message, tell } from "./talk.ts";

/** The systems before asked every five seconds; a machine that has a lot to do is slow. */
const LONGEST_MS = 1000;

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx(), openBrowser()]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("a message that was stored is on every open page at once", async () => {
	const conversation = await tell(keryx, "desk", "good day");
	const { page, leave } = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	await message(page, "good day").waitFor();
	const times: number[] = [];
	for (let n = 0; n < 9; n++) {
		const began = performance.now();
		await tell(keryx, "desk", `message ${n} of nine`, { wait: false });
		await message(page, `message ${n} of nine`).waitFor({ state: "attached" });
		times.push(performance.now() - began);
	}
	expect(median(times)).toBeLessThan(LONGEST_MS);
	await leave();
});
