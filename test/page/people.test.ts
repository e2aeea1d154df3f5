// The owner gives somebody a login on the page, sees it in the list, and ends it.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx(), openBrowser()]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("a link for a guest logs in one browser with that role, and logging it out closes its page", async () => {
	const owner = await takeSeat(browser, keryx, { path: "/settings?tab=people" });
	const { page } = owner;
	await page.getByRole("button", { name: "New login link" }).click();
	await page.getByLabel("Person").fill("max");
	await page.getByLabel("Role").selectOption("guest");
	await page.getByRole("button", { name: "Create the link" }).click();
	const link = await page.getByRole("textbox", { name: "A link for max" }).inputValue();
	expect(await axeFindings(page)).toEqual([]);
	await page.getByRole("button", { name: "Done" }).click();

	const guest = await takeSeat(browser, { url: keryx.url, link: () => link });
	await guest.page.getByText("Keryx is running").waitFor();
	expect(await guest.page.getByRole("link", { name: "Settings" }).count()).toBe(0);
	expect((await browser.newContext().then((other) => other.request.get(link))).status()).toBe(401);

	// The list follows by itself.
	const row = page.getByRole("row", { name: /max/ });
	await row.getByText("guest", { exact: true }).waitFor();
	await row.getByRole("button", { name: "Log out max" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Log out" }).click();
	await row.getByText("logged out").waitFor();
	await guest.page.getByRole("heading", { name: "You are not logged in" }).waitFor();
	await guest.leave(/401/);
	await owner.leave();
});
