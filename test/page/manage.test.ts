// Conversations as a whole on the page: found, named, put away, taken back; and the page where Keryx is away.
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import {
	axeFindings,
	type Keryx,
	openBrowser,
	openKeryx,
	type Seat,
	screenshot,
	takeSeat,
} from "./support.ts";
import { answer, tell } from "./talk.ts";

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;
const ids: Record<string, string> = {};

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({ script: { otherwise: [{ text: "You said: {{input}}" }] } }),
		openBrowser(),
	]);
	for (const name of ["Rome", "Lisbon", "Oslo", "Vienna"])
		ids[name] = await tell(keryx, name, `about ${name}`);
	seat = await takeSeat(browser, keryx, { viewport: WIDE });
	({ page } = seat);
});

afterAll(async () => {
	await seat.leave();
	await browser.close();
	await keryx.close();
});

const rows = () => page.getByRole("navigation", { name: "List of conversations" }).getByRole("link");
const names = async () => (await rows().allInnerTexts()).map((text) => text.split("\n")[0] ?? "");
const menu = (name: string) => page.getByRole("menuitem", { name });

/** Looked at light and dark, wide and on a phone; nothing for axe to find. */
async function looks(name: string): Promise<void> {
	for (const [look, colorScheme, size] of [
		["light", "light", WIDE],
		["phone-dark", "dark", PHONE],
	] as const) {
		await page.emulateMedia({ colorScheme });
		await page.setViewportSize(size);
		await screenshot(page, `manage-${name}-${look}`);
		expect(await axeFindings(page), `${name} ${look}`).toEqual([]);
	}
	await page.emulateMedia({ colorScheme: "light" });
	await page.setViewportSize(WIDE);
}

test("a conversation is renamed for good, pinned to the top, and called the same everywhere", async () => {
	await page.goto(`${keryx.url}/c/${ids.Rome}`);
	await page.getByRole("button", { name: "More actions for this conversation" }).click();
	await looks("menu");
	await menu("Rename").click();
	await page.getByRole("textbox", { name: "Title" }).fill("Holiday in Rome");
	await page.getByRole("textbox", { name: "Title" }).press("Enter");
	await page.getByRole("heading", { name: "Holiday in Rome" }).waitFor();
	await page.getByRole("button", { name: "More actions for this conversation" }).click();
	await menu("Pin to the top").click();
	await soon(async () => (await names())[0]).toBe("Holiday in Rome");
	await keryx.client.newSession({ conversation: ids.Rome as string });
	expect((await keryx.client.conversation({ conversation: ids.Rome as string })).name).toBe(
		"Holiday in Rome",
	);
	await page.goto(`${keryx.url}/search?q=about&conversation=${ids.Rome}`);
	await page
		.getByRole("link", { name: /Holiday in Rome/ })
		.first()
		.waitFor();
});

test("several are archived at once, undone, archived again, and found under Archived", async () => {
	await page.goto(`${keryx.url}/`);
	await page.getByRole("button", { name: "Select several" }).click();
	await page.getByRole("checkbox", { name: "Oslo" }).check();
	await page.getByRole("checkbox", { name: "Vienna" }).check();
	await page.getByText("2 selected").waitFor();
	await looks("selection");
	await page.getByRole("button", { name: "Archive", exact: true }).click();
	await soon(names).toEqual(["Holiday in Rome", "Lisbon"]);
	await page.getByRole("button", { name: "Undo" }).click();
	await soon(async () => (await names()).length).toBe(4);
	await keryx.client.setConversationState({ conversations: [ids.Oslo as string], state: "archived" });
	await soon(async () => (await names()).includes("Oslo")).toBe(false);
	await page.getByRole("button", { name: "Which conversations to show" }).click();
	await page.getByRole("menuitemradio", { name: "Archived" }).click();
	await soon(names).toEqual(["Oslo"]);
	await looks("archived");
	await tell(keryx, "Oslo", "once more");
	await soon(names).toEqual([]);
});

test("a deleted one leaves the list and the search, is saved first, and can be restored", async () => {
	await page.goto(`${keryx.url}/c/${ids.Vienna}`);
	await page.getByRole("button", { name: "More actions for this conversation" }).click();
	await menu("Delete").click();
	await looks("delete");
	const saved = page.waitForEvent("download");
	await page.getByRole("button", { name: "Save a copy as Markdown" }).click();
	const file = await saved;
	expect(file.suggestedFilename()).toBe("Vienna.md");
	expect(readFileSync(await file.path(), "utf8")).toContain("about Vienna");
	await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
	await page.getByText("This conversation is deleted.").waitFor();
	await soon(async () => (await names()).includes("Vienna")).toBe(false);
	expect((await keryx.client.search({ q: "Vienna" })).hits).toEqual([]);
	await page.getByRole("button", { name: "Restore" }).click();
	await soon(async () => (await names()).includes("Vienna")).toBe(true);
	expect((await keryx.client.search({ q: "Vienna" })).hits.length).toBeGreaterThan(0);
});

test("words are found inside a conversation, one place after the other", async () => {
	for (const word of ["pelican", "heron", "pelican again"]) await tell(keryx, "Lisbon", word);
	await page.goto(`${keryx.url}/c/${ids.Lisbon}`);
	await answer(page, "You said: pelican again").waitFor();
	await page.getByRole("button", { name: "More actions for this conversation" }).click();
	await menu("Find in this conversation").click();
	await page.getByRole("searchbox", { name: "Words to find" }).fill("pelican");
	await page.getByText("1 of 4").waitFor();
	await page.waitForURL(/\?m=/);
	const first = page.url();
	await page.getByRole("button", { name: "Older match" }).click();
	await page.getByText("2 of 4").waitFor();
	await soon(() => page.url()).not.toBe(first);
	await looks("find");
	await page.keyboard.press("Escape");
});

test("Ctrl-K leads to views, conversations, commands and settings", async () => {
	await page.goto(`${keryx.url}/c/${ids.Lisbon}`);
	await answer(page, "You said: pelican again").waitFor();
	const box = page.getByRole("combobox", { name: "Search for" });
	await page.keyboard.press("Control+k");
	await box.fill("rome");
	await page.getByRole("option", { name: /Holiday in Rome/ }).waitFor();
	await looks("palette");
	await box.press("Enter");
	await page.waitForURL(`**/c/${ids.Rome}`);
	await page.keyboard.press("Control+k");
	await box.fill("/status");
	await page.getByRole("option", { name: /^\/status/ }).waitFor();
	await box.fill("titles.by_model");
	await page.getByRole("option", { name: /^titles.by_model/ }).click();
	await page.waitForURL(/\/settings\?.*q=titles\.by_model/);
	await page.keyboard.press("Control+k");
	await box.fill("settings people");
	await box.press("Enter");
	await page.waitForURL(/\/settings\?.*tab=people/);
	await page.keyboard.press("Control+k");
	await box.fill("theme dark");
	await box.press("Enter");
	await soon(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
	await page.keyboard.press("Control+k");
	await box.fill("theme system");
	await box.press("Enter");
	await soon(() => page.locator("html").getAttribute("data-theme")).toBe(null);
	await page.goto(`${keryx.url}/c/${ids.Rome}`);
	await page.getByRole("heading", { name: "Holiday in Rome" }).waitFor();
	await page.keyboard.press("Control+k");
	const saved = page.waitForEvent("download");
	await box.fill("export json");
	await box.press("Enter");
	expect((await saved).suggestedFilename()).toBe("Holiday-in-Rome.jsonl");
	await page.keyboard.press("Control+k");
	await box.fill("insig");
	await box.press("Enter");
	await page.waitForURL("**/insights");
});

test("the tab tells of what is unread, in its title and its icon", async () => {
	await page.goto(`${keryx.url}/insights`);
	await tell(keryx, "Bergen", "something new");
	await soon(() => page.title()).toMatch(/^\(\d+\) Keryx$/);
	expect(await page.locator('link[rel="icon"]').getAttribute("href")).toBe("/favicon-news.svg");
});

test("the page is an app that opens without Keryx, and says that it is away", async () => {
	const other = await takeSeat(browser, keryx, { viewport: WIDE, serviceWorkers: "allow" });
	const manifest = await other.page.locator('link[rel="manifest"]').getAttribute("href");
	const app = (await (
		await other.context.request.get(`${keryx.url}${manifest}`, { maxRetries: 3 })
	).json()) as {
		icons: { src: string }[];
	};
	for (const { src } of app.icons)
		expect((await other.context.request.get(`${keryx.url}${src}`, { maxRetries: 3 })).status()).toBe(200);
	await other.page.evaluate("navigator.serviceWorker.ready.then(() => true)");
	await soon(() => other.page.evaluate("navigator.serviceWorker.controller !== null")).toBe(true);
	const kept = (): Promise<readonly string[]> =>
		other.page.evaluate(`caches.open("keryx-page").then((cache) => cache.keys())
			.then((keys) => keys.map(({ url }) => new URL(url).pathname))`);
	await soon(async () => (await kept()).length).toBeGreaterThan(3);
	expect((await kept()).filter((path) => /^\/(?:api|events|login|health)/.test(path))).toEqual([]);
	await other.context.setOffline(true);
	await other.page.reload();
	await other.page
		.getByText(/away|cannot be reached|reconnecting/i)
		.first()
		.waitFor();
	await soon(() => other.page.evaluate("document.styleSheets.length")).toBeGreaterThan(0);
	await screenshot(other.page, "manage-offline-light");
	await other.context.setOffline(false);
	await other.page.getByRole("navigation", { name: "List of conversations" }).waitFor();
	await other.leave(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
});
