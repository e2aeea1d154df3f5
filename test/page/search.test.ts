// Searching from the page, and getting from a hit to its place.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import { expectGoodLooks } from "./looks.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

const TURNIPS = 24;

let keryx: Keryx;
let browser: Browser;
let kitchen: string;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({ config: { auth: { telegram: { allow_all: true } } } }),
		openBrowser(),
	]);
	kitchen = await say("Kitchen", "where did the aubergine go?");
	await say("Kitchen", "and the second one, the striped aubergine?");
	await say("Garden", "the aubergine outside froze, sow new ones", "telegram");
	await Promise.all(
		Array.from({ length: TURNIPS }, (_, n) => say(`Field ${n}`, `turnip number ${n + 1} of many`)),
	);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("without a query the view says how to search, and the field has the focus", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search" });
	await page.getByRole("heading", { name: "Search all messages" }).waitFor();
	await soon(() => focused(page)).toBe("Search for");
	await leave();
});

test("what is typed is found and marked, with its neighbours, and stands in the address", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search" });
	await page.getByRole("searchbox", { name: "Search for" }).fill("striped");
	const hit = hits(page).filter({ hasText: "the second one" }).first();
	await hit.waitFor();
	expect(await hit.locator("mark").allTextContents()).toEqual(["striped"]);
	expect(await hit.textContent()).toContain("Kitchen");
	expect(await hit.textContent()).toMatch(/Agent: /);
	expect(new URL(page.url()).searchParams.get("q")).toBe("striped");
	await leave();
});

test("what looks like a number is searched for as it was typed", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search?q=007" });
	await page.getByRole("heading", { name: "No results" }).waitFor();
	expect(await page.getByRole("searchbox").inputValue()).toBe("007");
	await page.getByRole("searchbox").fill("1e3");
	await page.waitForURL((url) => url.search === "?q=1e3");
	await page.reload();
	expect(await page.getByRole("searchbox").inputValue()).toBe("1e3");
	await leave();
});

test("filters narrow what is found, stand in the address, and can be cleared", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search?q=aubergine&role=user" });
	await soon(() => hits(page).count()).toBe(3);
	await page.getByLabel("Platform").selectOption("telegram");
	await soon(() => hits(page).count()).toBe(1);
	expect(await hits(page).textContent()).toContain("Garden");
	expect(new URL(page.url()).searchParams.get("platform")).toBe("telegram");
	await page.getByRole("button", { name: "Clear" }).click();
	await page.getByLabel("Conversation").selectOption(kitchen);
	await page.getByLabel("Where", { exact: true }).selectOption("user");
	await soon(() => hits(page).count()).toBe(2);
	await page.getByLabel("To", { exact: true }).fill("2020-01-01");
	await page.getByRole("heading", { name: "No results" }).waitFor();
	await leave();
});

test("a hit leads to its message in its conversation", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search?q=striped&role=user" });
	await hits(page).first().click();
	await page.waitForURL((url) => url.pathname === `/c/${kitchen}`);
	const [, seq] = (new URL(page.url()).searchParams.get("m") ?? "").split(":");
	const { hits: found } = await keryx.client.search({ q: "striped", role: "user" });
	expect(Number(seq)).toBe(found[0]?.seq);
	const transcript = page.getByRole("region", { name: "Transcript" });
	await transcript.getByText("the striped aubergine?").first().waitFor();
	await leave();
});

test("the keyboard goes through the hits and opens one", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search?q=aubergine&role=user" });
	await soon(() => hits(page).count()).toBe(3);
	await page.getByRole("searchbox").press("ArrowDown");
	await soon(() => focusedHit(page)).toBe(0);
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await soon(() => focusedHit(page)).toBe(2);
	await page.keyboard.press("k");
	await soon(() => focusedHit(page)).toBe(1);
	await page.keyboard.press("k");
	await page.keyboard.press("k");
	await soon(() => focused(page)).toBe("Search for");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await page.waitForURL(/\/c\//);
	await leave();
});

test("more hits than fit on a page come when they are asked for, each once", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search?q=turnip&role=user" });
	await soon(() => hits(page).count()).toBe(20);
	await page.getByRole("button", { name: "Show more" }).click();
	await soon(() => hits(page).count()).toBe(TURNIPS);
	const links = await hits(page).evaluateAll((all) => all.map((one) => one.getAttribute("href")));
	expect(new Set(links).size).toBe(TURNIPS);
	await leave();
});

test("a search that fails says so and can be tried again", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/search" });
	await page.route("**/api/search?*", (route) =>
		route.fulfill({ status: 507, json: { error: { code: "store.full", message: "the disk is full" } } }),
	);
	await page.getByRole("searchbox").fill("aubergine");
	await page.getByRole("alert").getByText("The disk is full.").waitFor();
	await page.unroute("**/api/search?*");
	await page.getByRole("button", { name: "Try again" }).click();
	await hits(page).first().waitFor();
	await leave(/507/);
});

test("it looks right with hits, without, and before", async () => {
	await expectGoodLooks(browser, keryx, [
		{
			path: "/search?q=aubergine",
			name: "search",
			ready: (page) => page.getByText("results, best first").waitFor(),
		},
		{
			path: "/search?q=nowhere",
			name: "search-none",
			atAGlance: true,
			ready: (page) => page.getByRole("heading", { name: "No results" }).waitFor(),
		},
		{
			path: "/search",
			name: "search-empty",
			atAGlance: true,
			ready: (page) => page.getByRole("heading", { name: "Search all messages" }).waitFor(),
		},
	]);
});

function hits(page: Page) {
	return page.locator("main ol a");
}

function focusedHit(page: Page): Promise<number> {
	return hits(page).evaluateAll((all) => all.findIndex((one) => one.matches(":focus")));
}

function focused(page: Page): Promise<string | null> {
	return page.locator("*:focus").getAttribute("aria-label");
}

/** Resolves when it was answered. */
async function say(chat: string, text: string, platform = "api_server"): Promise<string> {
	const { id, conversation } = await keryx.client.send({
		text,
		client_message_id: text,
		source: { platform, chat_id: chat, chat_type: "dm", user_id: chat, user_name: chat },
	});
	await keryx.client.inbound({ id, wait: 30 });
	return conversation ?? "";
}
