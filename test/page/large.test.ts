// Very many conversations, and a very long one: however fast one scrolls, there is something to see in every frame.
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addConversations } from "../../bench/gateway-data.ts";
import { soon } from "../support/soon.ts";
import { homeWithHistory } from "./history.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";
import { everyFrame, tell, transcript } from "./talk.ts";

const CONVERSATIONS = 100_000;
/** So far one scrolls in the list: fifteen pages; half as far in a transcript. `npm run test:crash` scrolls further. */
const FAR = Number(process.env.KERYX_SCROLL_ROWS ?? 3000);
const FAR_IN_TRANSCRIPT = FAR / 2;
const ROWS = 20_000;
/** The id of the first one. */
const LONG = "0".repeat(32);
const SESSION = `20260101_000000_${"0".repeat(8)}`;

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	const home = await homeWithHistory(Date.now(), async () => {});
	const path = join(home, "keryx.db");
	addConversations(path, CONVERSATIONS);
	addRows(path);
	[keryx, browser] = await Promise.all([
		openKeryx({
			home,
			config: { http: { port: 0, rate_per_minute: 1_000_000 }, auth: { telegram: { allow_all: true } } },
		}),
		openBrowser(),
	]);
}, 120_000);

afterAll(async () => {
	await browser?.close();
	await keryx?.close();
});

test("the list of 100,000 conversations is never empty while one scrolls through it", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 800 } });
	const list = page.getByRole("navigation", { name: "List of conversations" });
	await list.getByRole("listitem").first().waitFor();
	const frames = await everyFrame<number>(page, seenIn("nav[aria-label='List of conversations']", "li"));
	await list.hover();
	const place = async () => Number(await list.getByRole("listitem").last().getAttribute("aria-posinset"));
	await scroll(page, 20_000, async () => (await place()) > FAR);
	await scroll(page, -200_000, async () => (await list.evaluate(({ scrollTop }) => scrollTop)) === 0);
	expectSomething(await frames(), 1);
	expect(await list.getByRole("listitem").count()).toBeLessThan(100);
	await tell(keryx, "new", "a new one among so many");
	await list.getByRole("listitem").first().getByText("a new one among so many").first().waitFor();
	await leave();
}, 180_000);

test.each([
	["its end upwards", "", ROWS, -6000],
	["a link to its first row downwards", `?m=${SESSION}:1`, 1, 6000],
])(
	"a transcript of 20,000 messages is never empty while one scrolls from %s",
	async (_from, query, row, wheel) => {
		const { page, leave } = await takeSeat(browser, keryx, {
			path: `/c/${LONG}${query}`,
			viewport: { width: 1280, height: 800 },
		});
		await transcript(page).getByText(`This is row ${row}.`).waitFor();
		const frames = await everyFrame<number>(page, seenIn("section[aria-label='Transcript']", "[data-index]"));
		await transcript(page).hover();
		const passed = async () => Math.abs((await rowInSight(page)) - row);
		await scroll(page, wheel, async () => (await passed()) > FAR_IN_TRANSCRIPT);
		expectSomething(await frames(), 0.6);
		expect(await transcript(page).getByRole("article").count()).toBeLessThan(100);
		await page.getByRole("button", { name: "Jump to the end" }).click();
		await transcript(page).getByText(`This is row ${ROWS}.`).waitFor();
		await leave();
	},
	180_000,
);

test("a link to a row of a long transcript stays there when the stream of events begins late", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: `/c/${LONG}` });
	await transcript(page).getByText(`This is row ${ROWS}.`).waitFor();
	const stream = Promise.withResolvers<void>();
	await page.route(/\/events/, async (route) => {
		await stream.promise;
		await route.continue();
	});
	let aroundFirst = 0;
	page.on("request", (request) => {
		const { pathname, searchParams } = new URL(request.url());
		// Half a page on each side; reading on from the end asks for whole pages.
		if (
			pathname.endsWith("/messages") &&
			searchParams.get("before") === "1" &&
			searchParams.get("limit") === "100"
		)
			aroundFirst++;
	});
	await page.goto(`${keryx.url}/c/${LONG}?m=${SESSION}:1`);
	await transcript(page).getByText("This is row 1.").waitFor();
	const before = aroundFirst;
	stream.resolve();
	await soon(() => aroundFirst).toBe(before + 1);
	await page.getByRole("status", { name: "Connection: Live" }).waitFor();
	await transcript(page).getByText("This is row 1.").waitFor();
	await leave();
});

async function rowInSight(page: Page): Promise<number> {
	const text = await transcript(page).getByRole("article").first().textContent();
	return Number(/This is row (\d+)/.exec(text ?? "")?.[1]);
}

/** Turns the wheel, frame by frame, until it is there. */
async function scroll(page: Page, by: number, isThere: () => Promise<boolean>): Promise<void> {
	while (!(await isThere())) for (let n = 0; n < 4; n++) await page.mouse.wheel(0, by);
}

const POINTS = 20;

/** The share of a scroller's height at which a row stands. */
function seenIn(scroller: string, row: string): string {
	return `(() => {
		const { left, top, width, height } = document.querySelector("${scroller}").getBoundingClientRect();
		let rows = 0;
		for (let n = 0; n < ${POINTS}; n++)
			if (document.elementFromPoint(left + width / 2, top + (height * (n + 0.5)) / ${POINTS})?.closest("${row}")) rows++;
		return rows / ${POINTS};
	})()`;
}

/** Rows whose height is only guessed at may stand a line apart for a frame. */
function expectSomething(frames: readonly number[], least: number): void {
	expect(frames.length).toBeGreaterThan(50);
	expect(Math.min(...frames)).toBeGreaterThanOrEqual(least);
}

/** To the first conversation, which becomes the last that anything happened in. */
function addRows(path: string): void {
	const db = new Database(path);
	const now = Date.now();
	const { key } = db.prepare("SELECT key FROM sessions WHERE conversation = ?").get(LONG) as { key: number };
	const add = db.prepare(
		"INSERT INTO messages (id, session, seq, role, counted, created_at, body) VALUES (?, ?, ?, ?, 1, ?, ?)",
	);
	db.transaction(() => {
		for (let seq = 1; seq <= ROWS; seq++) {
			const at = now - (ROWS - seq) * 10_000;
			const more =
				seq % 7 === 0 ? "\n\n- with **more**\n- than one line\n" : "word ".repeat((seq * 13) % 120);
			const body = JSON.stringify({ content: `This is row ${seq}. ${more}` });
			add.run(at * 1024, key, seq, seq % 2 === 1 ? "user" : "assistant", at, body);
		}
		db.prepare("UPDATE sessions SET messages = ?, last_activity_at = ? WHERE key = ?").run(ROWS, now, key);
		db.prepare("UPDATE conversations SET message_count = ?, last_activity_at = ? WHERE id = ?").run(
			ROWS,
			now,
			LONG,
		);
	})();
	db.close();
}
