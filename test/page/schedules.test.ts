// Jobs on the page: a time in words is shown back before the job is created, then its next runs, and the state and delivery of each run.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGoodLooks } from "./looks.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({ config: { session_reset: { timezone: "Europe/Berlin" } } }),
		openBrowser(),
	]);
});
afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("a job is made from words that are shown back, runs now, and shows what became of the run and its delivery", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/schedules" });
	await page.getByText("No jobs yet").waitFor();
	await page.getByRole("button", { name: "New job" }).click();
	await page.getByLabel("When").fill("every weekday at 9");
	await page.getByRole("button", { name: "Check the time" }).click();
	await page.getByText("every weekday, Monday to Friday, at 09:00 (Europe/Berlin)").waitFor();
	expect((await keryx.client.schedules({})).jobs).toEqual([]);
	await page.getByLabel("Task", { exact: true }).selectOption("text");
	await page.getByLabel("Text").fill("stand up");
	await page.getByLabel("Send result to").fill("local");
	await page.getByRole("button", { name: "Create" }).click();
	await page.getByRole("heading", { name: "stand up" }).waitFor();
	await page.getByText(/the clock goes (forward|back)/).waitFor();
	await page.getByText("This job has not run yet.").waitFor();
	await page.getByRole("button", { name: "Run now" }).click();
	const row = page.getByRole("table", { name: "Runs" }).getByRole("row").nth(1);
	await expect.poll(() => row.textContent()).toMatch(/Answered[\s\S]*Sent/);
	const url = new URL(page.url());
	await page.getByRole("link", { name: "All jobs" }).click();
	await page.getByRole("table", { name: "Jobs" }).getByText("stand up").waitFor();
	await page.getByRole("table", { name: "Jobs" }).getByText("stand up").click();
	await page.getByRole("button", { name: "Delete", exact: true }).click();
	await page.getByRole("dialog").getByText("This cannot be undone").waitFor();
	await page.getByRole("button", { name: "Cancel" }).click();
	expect((await keryx.client.schedules({})).jobs).toHaveLength(1);
	await leave();
	await expectGoodLooks(browser, keryx, [
		{
			path: `${url.pathname}${url.search}`,
			name: "schedule-job",
			ready: (seen) => seen.getByRole("table", { name: "Runs" }).waitFor(),
		},
		{
			path: "/schedules",
			name: "schedules",
			ready: (seen) => seen.getByRole("table", { name: "Jobs" }).waitFor(),
			atAGlance: true,
		},
	]);
	const again = await takeSeat(browser, keryx, { path: `${url.pathname}${url.search}` });
	await again.page.getByRole("button", { name: "Delete", exact: true }).click();
	await again.page.getByRole("button", { name: "Delete job" }).click();
	await again.page.getByText("No jobs yet").waitFor();
	expect((await keryx.client.schedules({})).jobs).toEqual([]);
	await again.leave();
});
