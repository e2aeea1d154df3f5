// The plots of the page against what is known to have happened.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { QUIET, type Scene, type SourceFields } from "../../src/testing/conformance/store/scene.ts";
import { type Clock, systemClock } from "../../src/time/index.ts";
import { HOUR, MINUTE } from "../support/clock.ts";
import { soon } from "../support/soon.ts";
import { homeWithHistory } from "./history.ts";
import { expectGoodLooks } from "./looks.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

const DAY = 24 * HOUR;
const NOON_TODAY = Math.floor(Date.now() / DAY) * DAY + 12 * HOUR;
/** It is noon when Keryx starts: its today does not end meanwhile. */
const ahead = NOON_TODAY - Date.now();
const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
const IRC: SourceFields = { platform: "irc", chat_id: "eve", user_id: "eve", user_name: "Eve" };
/** Exchanges on the days before today, the last one first; on the third of them one fails, too. */
const EXCHANGES = [3, 5, 2, 6, 8, 1, 4, 7, 3, 5, 2, 9, 6, 4, 1, 5, 3, 7, 2, 4];

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	const home = await homeWithHistory(NOON_TODAY - 21 * DAY, happen);
	[keryx, browser] = await Promise.all([
		openKeryx({
			home,
			clock,
			config: { session_reset: { mode: "none", max_messages: 120, timezone: "UTC" } },
		}),
		openBrowser(),
	]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("the tables have the numbers of what happened", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/insights?period=30" });
	const days = EXCHANGES.map((_, index) => dayName(index + 1));

	const messages = await tableOf(page, "Messages");
	expect(messages[0]).toEqual(["Day", "Written by people", "Written by the agent", "Tool results"]);
	expect(messages.slice(1)).toEqual([
		...EXCHANGES.map((n, index) => [days[index], String(index === 2 ? n + 1 : n), String(n), "0"]),
		[dayName(21), "1", "100", "100"],
	]);

	const turns = await tableOf(page, "Turns by outcome");
	expect(turns[0]).toEqual(["Day", "Answered", "Stopped", "Failed"]);
	expect(turns[3]).toEqual([days[2], "2", "0", "1"]);
	expect(turns.at(-1)).toEqual([dayName(21), "0", "1", "0"]);

	expect((await tableOf(page, "Tokens"))[1]).toEqual([days[0], "3,600", "0", "240"]);
	expect((await tableOf(page, "Cost"))[1]).toEqual([days[0], "$0.75", "0"]);
	expect((await tableOf(page, "Cost"))[3]).toEqual([days[2], "$0.50", "1"]);

	const errors = await tableOf(page, "Tool errors by position in the session");
	expect(errors[0]).toEqual(["Messages", "Failed calls", "Failed", "Results"]);
	expect(errors.at(-1)).toEqual(["Messages 1–20", "0%", "0", "9"]);
	expect(errors[1]).toEqual(["Messages 201–220", "100%", "1", "1"]);

	expect(await tableOf(page, "Why sessions ended")).toEqual([
		["Reason", "Sessions"],
		["Someone started a new one", "4"],
	]);
	const waits = await tableOf(page, "How long people waited");
	expect(waits[0]).toEqual(["Share of answers", "Within"]);
	expect(waits[1]).toEqual(["p50, half", "10 s"]);

	const spent = async (of: string) =>
		(await page.getByRole("region", { name: of }).getByRole("row").allInnerTexts()).map((row) =>
			row.split("\t").map((cell) => cell.trim()),
		);
	const [head, first] = await spent("Cost by person");
	expect(head).toEqual(["Person", "Calls", "Input", "From cache", "Output", "Cost"]);
	expect(first?.[0]).toBe("Ada");
	expect((await spent("Cost by profile"))[1]?.[0]).toBe("Main profile");
	await leave();
});

test("period and platform narrow it, and stand in the address", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/insights" });
	const sum = figure(page, "Messages").getByText("Written by people");
	const all = EXCHANGES.reduce((total, n) => total + n, 2);
	await soon(() => sum.textContent()).toBe(`Written by people${all}`);
	await page.locator("label", { hasText: "7 days" }).click();
	await soon(() => sum.textContent()).toBe("Written by people26");
	expect(new URL(page.url()).searchParams.get("period")).toBe("7");
	await page.getByRole("combobox", { name: "Platform" }).selectOption("irc");
	await soon(() => sum.textContent()).toBe("Written by people1");
	await page.reload();
	await soon(() => sum.textContent()).toBe("Written by people1");
	await leave();
});

test("the cap on sessions is told beside the errors of marathons", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/insights" });
	const place = figure(page, "Tool errors by position in the session");
	await place.getByText("That is why sessions have a message limit. The limit is 120 messages.").waitFor();
	await leave();
});

test("a day's values are shown when it is pointed at, by mouse and by keyboard", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/insights?period=7" });
	const place = figure(page, "Messages");
	const canvas = place.getByRole("img");
	await canvas.locator("canvas").waitFor();
	await canvas.focus();
	await page.keyboard.press("ArrowLeft");
	await place.getByText(dayName(0), { exact: true }).waitFor();
	await page.keyboard.press("ArrowLeft");
	await place.getByText(dayName(1), { exact: true }).waitFor();
	await place.getByText(`Written by people${EXCHANGES[0]}`).waitFor();
	const box = await canvas.locator(".u-over").boundingBox();
	if (!box) return expect.fail("the plot has no place");
	await page.mouse.move(box.x + 1, box.y + box.height / 2);
	await place.getByText(dayName(6), { exact: true }).waitFor();
	await leave();
});

test("it looks right with a lot and with nothing", async () => {
	await expectGoodLooks(browser, keryx, [
		{ path: "/insights?period=30", name: "insights", ready: drawn },
		{
			path: "/insights?period=90",
			name: "insights-end",
			ready: async (page) => {
				await drawn(page);
				await figure(page, "How long people waited").scrollIntoViewIfNeeded();
			},
		},
		{
			path: "/insights?platform=slack",
			name: "insights-empty",
			atAGlance: true,
			ready: (page) => page.getByRole("heading", { name: "Nothing happened in this period" }).waitFor(),
		},
	]);
});

async function drawn(page: Page): Promise<void> {
	await soon(() => page.locator("main canvas").count()).toBe(5);
}

function figure(page: Page, title: string) {
	return page.getByRole("region", { name: title, exact: true });
}

/** Its head, and the rows where something happened. */
async function tableOf(page: Page, title: string): Promise<readonly (readonly string[])[]> {
	const place = figure(page, title);
	await place.getByRole("button", { name: `Show as table: ${title}` }).click();
	const cells = await place
		.getByRole("row")
		.evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
	await place.getByRole("button", { name: `Show the plot: ${title}` }).click();
	return cells.filter(
		([, ...values], index) => index === 0 || values.some((value) => !/^(?:0|–|\$0\.00)$/.test(value)),
	);
}

/** As the page names it; this process and the browser speak alike. */
function dayName(before: number): string {
	return new Intl.DateTimeFormat("en-US", {
		weekday: "short",
		day: "numeric",
		month: "short",
		timeZone: "UTC",
	}).format(NOON_TODAY - before * DAY);
}

/** A marathon three weeks ago whose tools fail the more the longer it gets, then three weeks of talk. */
async function happen(scene: Scene): Promise<void> {
	const marathon = await scene.turn("go on and on");
	for (let n = 0; n < 100; n++) {
		const id = `c${n}`;
		const isError = n >= 20 && (n * 37) % 100 < n - 20;
		await scene.append(marathon, [
			{ role: "assistant", content: "", toolCalls: [{ id, name: "t", input: { n } }], index: 2 * n + 1 },
			{
				role: "tool",
				content: "",
				toolCallId: id,
				toolName: "t",
				isError: n === 99 || isError,
				index: 2 * n + 2,
			},
		]);
	}
	await scene.end(marathon, { outcome: { kind: "stopped" } });
	for (const [index, exchanges] of [...EXCHANGES.entries()].reverse()) {
		scene.clock.set(NOON_TODAY - (index + 1) * DAY);
		for (let n = 0; n < exchanges; n++) {
			const turn = await scene.turn(`hello ${n}`);
			await spend(scene, turn, 250_000);
			scene.clock.advance(10_000);
			await scene.reply(turn, "good day");
			scene.clock.advance(MINUTE);
			if (n === 6)
				await scene.store.newSession({ conversation: turn.conversation, policy: QUIET, context: "" });
		}
		if (index !== 2) continue;
		const failing = await scene.turn("hello?", IRC);
		await spend(scene, failing, null);
		await scene.end(failing, { outcome: { kind: "failed", reason: "provider_down" } });
	}
}

async function spend(
	scene: Scene,
	{ turn, token }: { readonly turn: string; readonly token: number },
	costMicros: number | null,
): Promise<void> {
	await scene.store.recordModelCall({
		turn,
		token,
		n: 1,
		provider: "p",
		model: "m",
		status: "ok",
		inputTokens: 1200,
		outputTokens: 80,
		costMicros,
		currency: "USD",
	});
}
