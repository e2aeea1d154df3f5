// What is said beside a conversation's rows: notices, commands and their answers, why a turn failed. It is there after a reload, too.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { delivery, type Scene } from "../../src/testing/conformance/store/scene.ts";
import { soon } from "../support/soon.ts";
import { homeWithHistory } from "./history.ts";
import { type Keryx, openBrowser, openKeryx, type Seat, takeSeat } from "./support.ts";
import { answer, message, tell, transcript, write } from "./talk.ts";

const SCRIPT = {
	rules: [{ when: "break", steps: [{ fail: { kind: "provider_down", detail: "the cable is cut" } }] }],
	otherwise: [{ text: "You said: {{input}}" }],
};

/** More than are read at once, of rows and of notices. */
const EXCHANGES = 250;
let long: string;

/** A long conversation with a notice after every answer. */
async function happen(scene: Scene): Promise<void> {
	for (let n = 1; n <= EXCHANGES; n++) {
		scene.clock.advance(1000);
		const { conversation } = await scene.exchange(`word ${n}`, `reply ${n}`, {
			platform: "web",
			chat_id: "long ago",
			chat_name: "long ago",
			user_id: "operator",
		});
		scene.clock.advance(1000);
		await scene.store.notify({ conversation, deliveries: [delivery(`n${n}`, `notice ${n}`, "notice")] });
		long = conversation;
	}
	await scene.deliverAll();
}

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({
			home: await homeWithHistory(Date.now() - 60 * EXCHANGES * 1000, happen),
			script: SCRIPT,
			config: { session_reset: { mode: "none", max_messages: 4 } },
		}),
		openBrowser(),
	]);
	// All of it is in sight: what is not, is not drawn.
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 4000 } });
	({ page } = seat);
});

afterAll(async () => {
	await seat.leave();
	await browser.close();
	await keryx.close();
});

/** What stands in the transcript, in its order. How far a message is on its way is known only where it was sent. */
async function shown(of: Page = page): Promise<readonly string[]> {
	return transcript(of)
		.locator("[data-index]")
		.evaluateAll((all) =>
			all
				.toSorted((a, b) => Number(a.getAttribute("data-index")) - Number(b.getAttribute("data-index")))
				.map((item) => {
					const copy = item.cloneNode(true) as typeof item;
					for (const state of copy.querySelectorAll("[aria-live]"))
						if (state.textContent !== "Done") state.remove();
					return copy.textContent;
				}),
		);
}

function notice(text: string) {
	return transcript(page).getByRole("note", { name: "Notice" }).filter({ hasText: text });
}

function command(of: Page, text: string | RegExp) {
	return transcript(of).getByRole("region", { name: "Answer to a command" }).filter({ hasText: text });
}

test("notices, commands, their answers and failures are the same after a reload, at the same places", async () => {
	const conversation = await tell(keryx, "the garden", "good day");
	await page.goto(`${keryx.url}/c/${conversation}`);
	await message(page, "good day").waitFor();
	await write(page, "tulips");
	await answer(page, "You said: tulips").waitFor();
	await notice("New session: the last one reached").waitFor();
	await write(page, "/status");
	await command(page, "Session").waitFor();
	await write(page, "break");
	await notice("cannot be reached right now").waitFor();
	await write(page, "/title Garden");
	await command(page, "is now named").waitFor();
	await write(page, "/new");
	await command(page, "Started a new session").waitFor();
	await write(page, "roses");
	await answer(page, "You said: roses").waitFor();
	await message(page, "/new").getByText("Done").waitFor();
	await message(page, "roses").getByText("Answered").waitFor();

	const expected = [
		"Start of the conversation",
		"Today",
		"good day",
		"You said: good day",
		"tulips",
		"You said: tulips",
		"New session. The previous one ended at its message limit.",
		"New session: the last one reached",
		"/status",
		"Keryx is idle",
		"break",
		"cannot be reached right now",
		"/title Garden",
		"is now named",
		"/new",
		"New session. The previous one ended because you asked for a new one.",
		"Started a new session",
		"roses",
		"You said: roses",
	];
	await soon(() => shown()).toEqual(expected.map((text) => expect.stringContaining(text)));
	const before = await shown();
	await page.reload();
	await answer(page, "You said: roses").waitFor();
	await soon(() => shown()).toEqual(before);
	// Somebody who only looks on sees the same.
	const other = await seat.tab(`/c/${conversation}`);
	await soon(() => shown(other)).toEqual(before);
	await write(page, "/help");
	await command(page, "/status").waitFor();
	await message(page, "/help").getByText("Done").waitFor();
	const after = await shown();
	expect(after).toHaveLength(before.length + 2);
	await soon(() => shown(other)).toEqual(after);
	await other.close();
});

test("what happened in a conversation that was not open is there once when it is opened", async () => {
	await tell(keryx, "elsewhere", "one");
	await page.goto(`${keryx.url}/`);
	await tell(keryx, "elsewhere", "/status");
	const list = page.getByRole("navigation", { name: "List of conversations" });
	await list.getByRole("link", { name: /elsewhere/ }).click();
	await command(page, "Session").waitFor();
	const items = await shown();
	expect(items.filter((item) => item.includes("/status"))).toHaveLength(1);
});

test("what was said beside older rows comes with them, at its place, once", async () => {
	await page.goto(`${keryx.url}/c/${long}`);
	await answer(page, `reply ${EXCHANGES}`).waitFor();
	const scroller = transcript(page);
	await soon(async () => {
		await scroller.evaluate((element) => element.scrollTo(0, 0));
		return scroller.getByText("Start of the conversation").isVisible();
	}).toBe(true);
	const items = new Map<number, string>();
	await soon(async () => {
		for (const [index, text] of await scroller
			.locator("[data-index]")
			.evaluateAll((all) =>
				all.map((one) => [Number(one.getAttribute("data-index")), one.textContent] as const),
			))
			items.set(index, text);
		await scroller.evaluate((element) => element.scrollBy(0, 2000));
		return [...items.values()].some((text) => text === `notice ${EXCHANGES}`);
	}).toBe(true);
	const told = [...items.keys()].toSorted((a, b) => a - b).map((index) => items.get(index) ?? "");
	expect(told.flatMap((text) => /(?:word|reply|notice) \d+$/.exec(text)?.[0] ?? [])).toEqual(
		Array.from({ length: EXCHANGES }, (_, n) => [
			`word ${n + 1}`,
			`reply ${n + 1}`,
			`notice ${n + 1}`,
		]).flat(),
	);
});
