// What stands around every view: keys, themes, a phone's bar; and that all of it can be done without a mouse.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import { axeFindings, type Keryx, openBrowser, openKeryx, screenshot, takeSeat } from "./support.ts";
import { answer, box, tell, transcript } from "./talk.ts";

const NARROW = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

const PLACES = [
	["g a", "Confirmations", "/confirmations"],
	["g p", "Processes", "/processes"],
	["g k", "Checkpoints", "/checkpoints"],
	["g i", "Insights", "/insights"],
	["g h", "Channels", "/channels"],
	["g s", "Search", "/search"],
	["g ,", "Settings", "/settings"],
	["g c", "Conversations", "/"],
] as const;

let keryx: Keryx;
let browser: Browser;
let conversation: string;
let inbound: number;

beforeAll(async () => {
	const script = {
		rules: [
			{
				when: "work",
				steps: [
					{ text: "I look.", tools: [{ name: "terminal", input: { command: "echo forty-two" } }] },
					{ text: "Done." },
				],
			},
			{
				when: "danger",
				steps: [{ tools: [{ name: "terminal", input: { command: "rm -rf ./nowhere" } }] }, { text: "asked" }],
			},
			{
				when: "wide",
				steps: [
					{
						text: `| ${"a wide head | ".repeat(12)}\n| ${"--- | ".repeat(12)}\n| ${"cell | ".repeat(12)}\n\n\`\`\`\n${"long code ".repeat(40)}\n\`\`\`\n\nhttps://example.com/${"x".repeat(300)}`,
					},
				],
			},
		],
		otherwise: [{ text: "You said: {{input}}" }],
	};
	[keryx, browser] = await Promise.all([openKeryx({ script }), openBrowser()]);
	for (const text of ["good day", "work, please", "something wide"])
		conversation = await tell(keryx, "desk", text);
	await tell(keryx, "danger", "danger");
	({ id: inbound } = await keryx.client.send({
		text: "why?",
		client_message_id: "why",
		source: { platform: "web", chat_type: "dm", chat_id: "desk", chat_name: "desk", user_id: "operator" },
	}));
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

describe("keys", () => {
	test("go to every place, and a sheet lists them", async () => {
		const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
		await page.getByRole("heading", { name: "Channels" }).waitFor();
		await page.keyboard.press("?");
		const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
		for (const [, name] of PLACES) await sheet.getByText(`Go to ${name}`).waitFor();
		expect(await axeFindings(page)).toEqual([]);
		await screenshot(page, "shortcuts");
		await page.keyboard.press("Escape");
		await sheet.waitFor({ state: "detached" });
		for (const [keys, name, path] of PLACES) {
			// A view may take the focus into a field, where keys are letters.
			await page.keyboard.press("Escape");
			await page.locator("body").evaluate((body) => (body.ownerDocument.activeElement as typeof body).blur());
			for (const key of keys.split(" ")) await page.keyboard.press(key);
			await page.waitForURL((url) => url.pathname === path);
			await soon(() =>
				page.getByRole("navigation", { name: "Main" }).locator("[data-active]").textContent(),
			).toContain(name);
		}
		await leave();
	});

	test("that are typed into a field are letters", async () => {
		const { page, leave } = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
		await box(page).pressSequentially("go? g p /");
		expect(await box(page).inputValue()).toBe("go? g p /");
		expect(new URL(page.url()).pathname).toBe(`/c/${conversation}`);
		await leave();
	});

	test("alone are enough to open a conversation, write, send and unfold a tool call", async () => {
		const { page, leave } = await takeSeat(browser, keryx);
		await page.getByRole("link", { name: /desk/ }).waitFor();
		await page.keyboard.press("j");
		await page.waitForURL(/\/c\//);
		const first = page.url();
		await transcript(page).waitFor();
		await page.keyboard.press("Escape");
		await page.keyboard.press("j");
		await page.waitForURL((url) => url.href !== first);
		await page.goto(`${keryx.url}/c/${conversation}`);
		await transcript(page).waitFor();
		await page.keyboard.press("Escape");
		await page.keyboard.press("i");
		await soon(() => focusedName(page)).toBe("Message");
		await page.keyboard.type("by hand");
		await page.keyboard.press("Enter");
		await answer(page, "You said: by hand").waitFor();
		const call = transcript(page).locator("summary", { hasText: "terminal" });
		await soon(() => tabTo(page, "Shift+Tab", "SUMMARY")).toBe(true);
		await page.keyboard.press("Enter");
		await transcript(page).getByText("Result").waitFor();
		expect(await call.count()).toBe(1);
		await leave();
	});

	test("reach the content without going through the rail", async () => {
		const { page, leave } = await takeSeat(browser, keryx, { path: "/settings" });
		await page.getByRole("heading", { name: "Settings" }).waitFor();
		await page.keyboard.press("Tab");
		await soon(() => focusedName(page)).toBe("Skip to content");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Tab");
		expect(await page.evaluate("document.querySelector('main').contains(document.activeElement)")).toBe(true);
		await leave();
	});
});

test("a theme that was chosen is there after a reload, before anything is drawn", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels", colorScheme: "light" });
	const ground = () => page.evaluate("getComputedStyle(document.documentElement).colorScheme");
	await page.getByRole("button", { name: "Theme" }).click();
	await page.getByRole("menuitemradio", { name: "Dark" }).click();
	await soon(ground).toBe("dark");
	await page.reload({ waitUntil: "commit" });
	await page.locator("#root").waitFor({ state: "attached" });
	expect(await ground()).toBe("dark");
	await page.getByRole("button", { name: "Theme" }).click();
	await page.getByRole("menuitemradio", { name: "System" }).click();
	await soon(ground).toBe("light dark");
	await leave();
});

test("on a phone there is a bar below, and every place can be reached from it", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/confirmations", ...NARROW });
	const bar = page.getByRole("navigation", { name: "Main" });
	await soon(() => bar.count()).toBe(1);
	for (const [name, path] of [
		["Processes", "/processes"],
		["Search", "/search"],
		["Conversations", "/"],
	] as const) {
		await bar.getByRole("link", { name }).tap();
		await page.waitForURL((url) => url.pathname === path);
	}
	for (const [name, path] of [
		["Insights", "/insights"],
		["Checkpoints", "/checkpoints"],
		["Channels", "/channels"],
		["Settings", "/settings"],
	] as const) {
		await bar.getByRole("button", { name: "More" }).tap();
		await page.getByRole("menuitem", { name }).tap();
		await page.waitForURL((url) => url.pathname === path);
	}
	await leave();
});

test("on a phone a conversation takes the whole screen, and leads back to the list", async () => {
	const { page, leave } = await takeSeat(browser, keryx, NARROW);
	await page.getByRole("link", { name: /desk/ }).tap();
	await transcript(page).waitFor();
	expect(await page.getByRole("navigation", { name: "List of conversations" }).isVisible()).toBe(false);
	await page.getByRole("link", { name: "Back to the list" }).tap();
	await page.getByRole("link", { name: /desk/ }).waitFor();
	await leave();
});

test("no view scrolls sideways at 360 pixels", async () => {
	const { page, leave } = await takeSeat(browser, keryx, NARROW);
	const paths = [
		...PLACES.map(([, , path]) => path),
		`/c/${conversation}`,
		"/c/new",
		`/why/${inbound}`,
		"/confirmations?tab=decided",
		"/confirmations?tab=grants",
		"/confirmations?tab=audit",
		"/settings?tab=tokens",
		"/settings?tab=check",
		"/settings?tab=about",
		`/checkpoints?conversation=${conversation}`,
		"/search?q=wide",
		"/nowhere",
	];
	for (const path of paths) {
		await page.goto(`${keryx.url}${path}`);
		await page.getByRole("heading").first().waitFor();
		await soon(() => page.getByRole("status", { name: /^Loading/ }).count()).toBe(0);
		expect(await wider(page), `${path} is wider than the screen`).toEqual([]);
	}
	await leave(/404/);
});

/** What sticks out to the right, and what is read downwards and scrolls sideways, too. A table or code may scroll by itself. */
function wider(page: Page): Promise<readonly string[]> {
	return page.evaluate(`[...document.querySelectorAll('html, body, main, main *')].filter((one) => {
		const { overflowY } = getComputedStyle(one);
		const isScroller = overflowY === 'auto' || overflowY === 'scroll';
		if (isScroller && one.tagName !== 'PRE' && one.scrollHeight > one.clientHeight + 1 && one.scrollWidth > one.clientWidth + 1)
			return true;
		if (one.getBoundingClientRect().right <= innerWidth + 1) return false;
		for (let up = one.parentElement; up && up.tagName !== 'MAIN'; up = up.parentElement)
			if (getComputedStyle(up).overflowX !== 'visible') return false;
		return true;
	}).map((one) => one.tagName + ' ' + one.className)`) as Promise<string[]>;
}

function focusedName(page: Page): Promise<string> {
	return page.evaluate(
		"document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? ''",
	) as Promise<string>;
}

/** Presses until something of that kind has the focus; false where it came round. */
async function tabTo(page: Page, key: string, tag: string): Promise<boolean> {
	for (let n = 0; n < 40; n++) {
		if ((await page.evaluate("document.activeElement?.tagName")) === tag) return true;
		await page.keyboard.press(key);
	}
	return false;
}
