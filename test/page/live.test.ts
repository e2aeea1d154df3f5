// Several pages on one conversation: what is said anywhere is read everywhere, alike.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";
import { answer, box, message, tell, texts, transcript, write } from "./talk.ts";

/** So high that every row is drawn. */
const TALL = { viewport: { width: 1100, height: 6000 } };
const EACH = 5;

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({
			script: {
				// With a full stop: a last letter may begin a secret, and is held back.
				rules: [{ when: "hold", steps: [{ chunks: ["it is ", "on its way."], hang: true }] }],
				otherwise: [{ chunks: ["You ", "said: ", "{{input}}"], chunk_delay_ms: 5 }],
			},
			config: { session_reset: { mode: "none", max_messages: 0 } },
		}),
		openBrowser(),
	]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("two pages and the API write at once, and both pages show the same record", async () => {
	const conversation = await tell(keryx, "shared", "good day");
	const path = `/c/${conversation}`;
	const [one, two] = await Promise.all([
		takeSeat(browser, keryx, { path, ...TALL }),
		takeSeat(browser, keryx, { path, ...TALL }),
	]);
	const pages = [one.page, two.page];
	for (const page of pages) await message(page, "good day").waitFor();
	await Promise.all([
		...pages.map(async (page, who) => {
			for (let n = 0; n < EACH; n++) await write(page, `page ${who} says ${n}`);
		}),
		...Array.from({ length: EACH }, (_, n) => tell(keryx, "shared", `the API says ${n}`)),
	]);
	const { live_session } = await keryx.client.conversation({ conversation });
	const record = async () => {
		const { messages } = await keryx.client.messages({ session: live_session ?? "", limit: 200 });
		return messages.map(({ content }) => content);
	};
	const people = async () => (await record()).filter((text) => !String(text).startsWith("You said"));
	await soon(async () => (await people()).length).toBe(1 + 3 * EACH);
	// Everything was said, so the last row is an answer once the last turn has ended.
	await soon(async () => String((await record()).at(-1))).toMatch(/^You said/);
	for (const page of pages) {
		await soon(() => page.getByRole("button", { name: "Stop the answer" }).count()).toBe(0);
		await soon(async () => textsOf(await texts(page))).toEqual(textsOf(await record()));
		expect(await message(page, /says \d/).count()).toBe(3 * EACH);
	}
	expect(await texts(one.page)).toEqual(await texts(two.page));
	await one.leave();
	await two.leave();
});

test("a message that comes before the page's stream of events has begun is shown", async () => {
	const conversation = await tell(keryx, "early", "good day");
	const one = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	await answer(one.page, "You said: good day").waitFor();
	const stream = Promise.withResolvers<void>();
	await one.page.route(/\/events/, async (route) => {
		await stream.promise;
		await route.continue();
	});
	await one.page.reload();
	await answer(one.page, "You said: good day").waitFor();
	await tell(keryx, "early", "meanwhile");
	stream.resolve();
	await one.page.getByRole("status", { name: "Connection: Live" }).waitFor();
	await soon(() => texts(one.page)).toEqual([
		"good day",
		"You said: good day",
		"meanwhile",
		"You said: meanwhile",
	]);
	await one.leave();
});

test("what is taken back on one page is gone from the other", async () => {
	const conversation = await tell(keryx, "undone", "stay");
	await tell(keryx, "undone", "go away");
	const one = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	const other = await one.tab();
	await message(other, "go away").waitFor();
	await one.page.bringToFront();
	await one.page.getByRole("button", { name: /^Undo the last exchange/ }).click();
	await soon(() => box(one.page).inputValue()).toBe("go away");
	await message(other, "go away").waitFor({ state: "detached" });
	await soon(() => texts(other)).toEqual(["stay", "You said: stay"]);
	expect(await texts(one.page)).toEqual(["stay", "You said: stay"]);
	await one.leave();
});

test("a page that comes in the middle of an answer shows it so far, and both see it stop", async () => {
	const conversation = await tell(keryx, "late", "hold on", { wait: false });
	const one = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	await answer(one.page, "it is on its way").waitFor();
	const late = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	await answer(late.page, "it is on its way").waitFor();
	await late.page.getByRole("button", { name: "Stop the answer" }).click();
	for (const { page } of [one, late])
		await page.getByRole("button", { name: "Stop the answer" }).waitFor({ state: "detached" });
	await soon(() => texts(one.page)).toEqual(await texts(late.page));
	await one.leave();
	await late.leave();
});

test("the list of one page follows what is said on another, unread until it is opened", async () => {
	const quiet = await tell(keryx, "quiet", "nothing yet");
	const one = await takeSeat(browser, keryx, { path: `/c/${quiet}` });
	await transcript(one.page).waitFor();
	const conversation = await tell(keryx, "loud", "listen to me");
	const row = one.page
		.getByRole("navigation", { name: "List of conversations" })
		.getByRole("listitem")
		.first()
		.getByRole("link", { name: /loud.*You said: listen to me/ });
	await row.getByText("unread").waitFor({ state: "attached" });
	await row.click();
	await one.page.waitForURL((url) => url.pathname === `/c/${conversation}`);
	await row.getByText("unread").waitFor({ state: "detached" });
	await one.leave();
});

/** Line ends are drawn as spaces or lines, as Markdown has it. */
function textsOf(all: readonly unknown[]): readonly string[] {
	return all.map((text) => String(text).replace(/\s+/g, " ").trim());
}
