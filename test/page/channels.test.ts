// The state of the channels, and a person's decisions about what did not arrive.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADA, delivery, type Scene } from "../../src/testing/conformance/store/scene.ts";
import { createTelegramPeer } from "../peers/telegram/index.ts";
import { soon } from "../support/soon.ts";
import { homeWithHistory } from "./history.ts";
import { expectGoodLooks } from "./looks.ts";
import { axeFindings, type Keryx, openBrowser, openKeryx, screenshot, takeSeat } from "./support.ts";
import { tell } from "./talk.ts";

/** A minute ago: nothing of it is too old to be sent. */
const BEFORE = Date.now() - 60_000;

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	const home = await homeWithHistory(BEFORE, happen);
	[keryx, browser] = await Promise.all([openKeryx({ home }), openBrowser()]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("every channel says how it is, and an event brings what has changed", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	const read = await keryx.client.channels();
	const cards = page.getByRole("region", { name: "Connections" }).getByRole("listitem");
	await soon(() => cards.count()).toBe(read.channels.length);
	for (const text of await cards.allTextContents()) {
		expect(text).toContain("Connected");
		expect(text).toContain("Last heard frommoments ago");
	}
	const silent = { state: "down", alive_at: new Date(Date.now() - 90_000).toISOString(), age_seconds: 90 };
	await page.route("**/api/channels", (route) =>
		route.fulfill({ json: { ...read, channels: read.channels.map((one) => ({ ...one, ...silent })) } }),
	);
	await tell(keryx, "channels", "something is sent");
	await soon(() => cards.first().textContent()).toMatch(/DownLast heard from1 min \d+ s ago/);
	await leave();
});

test("what waits says where it goes and why it waits", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	const waiting = page.getByRole("region", { name: "Outbox" });
	const item = waiting.getByRole("listitem").filter({ hasText: "it waits" });
	await item.getByText("no channel for telegram").waitFor();
	await waiting.getByText("There is no channel for Telegram, so messages to it are waiting.").waitFor();
	await leave();
});

test("it looks right with deliveries to decide about", async () => {
	await expectGoodLooks(browser, keryx, [
		{
			path: "/channels",
			name: "channels",
			ready: async (page) => {
				await toDecide(page, "perhaps it arrived").waitFor();
				await page.getByText("no channel for telegram").first().waitFor();
			},
		},
	]);
});

test("what may have arrived can be said to have arrived", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	const item = toDecide(page, "perhaps it arrived");
	await item.getByText("May have arrived").waitFor();
	await item.getByRole("button", { name: "It arrived" }).click();
	await item.waitFor({ state: "detached" });
	expect(await keryx.client.delivery({ delivery: "unknown:1" })).toMatchObject({ state: "sent" });
	await leave();
});

test("what was given up can be sent again, and what goes wrong with that is said", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	const item = toDecide(page, "nobody took it");
	await item.getByText("Given up").waitFor();
	await page.route("**/resolve", (route) =>
		route.fulfill({
			status: 503,
			json: { error: { code: "gateway.stopped", message: "Keryx is stopping" } },
		}),
	);
	await item.getByRole("button", { name: "Send again" }).click();
	await item.getByRole("alert").getByText("Keryx is stopping.").waitFor();
	await page.unroute("**/resolve");
	await item.getByRole("button", { name: "Send again" }).click();
	await item.waitFor({ state: "detached" });
	await page
		.getByRole("region", { name: "Outbox" })
		.getByRole("listitem")
		.filter({ hasText: "nobody took it" })
		.waitFor();
	expect(["pending", "sending"]).toContain((await keryx.client.delivery({ delivery: "dead:1" })).state);
	await page.getByText("None. Everything that was sent has arrived.").waitFor();
	await leave(/503/);
});

// Last, since what waits for Telegram leaves through it.
test("a Telegram that posts is added on the page, says what proves it alive, is tested and removed", async () => {
	const peer = await createTelegramPeer();
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	await page.getByText("No chat platform is connected").waitFor();
	await page.getByRole("button", { name: "Add a channel" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Bot token").fill(peer.bot.token);
	await dialog.getByText("More options").click();
	await dialog.getByLabel("API address").fill(peer.apiRoot);
	await dialog.getByLabel("How messages arrive").selectOption("posted");
	// Without the address there is nothing to connect.
	expect(await dialog.getByRole("button", { name: "Connect" }).isDisabled()).toBe(true);
	await dialog.getByLabel("Public address").fill(keryx.url);
	for (const look of ["light", "dark"] as const) {
		await page.emulateMedia({ colorScheme: look });
		await screenshot(page, `channels-add-${look}`);
		expect(await axeFindings(page)).toEqual([]);
	}
	await dialog.getByRole("button", { name: "Connect" }).click();
	await dialog.getByRole("button", { name: "Done" }).click();
	expect(readFileSync(join(keryx.home, "config.yaml"), "utf8")).toContain(
		`webhook_url: ${keryx.url}/channels/telegram/events`,
	);
	const card = page
		.getByRole("region", { name: "Connections" })
		.getByRole("listitem")
		.filter({ hasText: "Telegram" });
	await card.getByText("Connected").waitFor();
	await card.getByText("webhook confirmed").waitFor();
	await card.getByRole("button", { name: "Test" }).click();
	await card.getByText(`@${peer.bot.user.username} answers.`).waitFor();
	await screenshot(page, "channels-telegram-dark");
	expect(await axeFindings(page)).toEqual([]);
	await card.getByRole("button", { name: "Remove" }).click();
	await dialog.getByText("Messages for it wait until you connect this platform again.").waitFor();
	await dialog.getByRole("button", { name: "Remove" }).click();
	await card.waitFor({ state: "detached" });
	await soon(() => peer.bot.queue.pusher.webhook).toBeNull();
	expect(existsSync(join(keryx.home, "keys", "telegram.token"))).toBe(false);
	await leave();
	await peer.close();
});

function toDecide(page: Page, text: string) {
	return page
		.getByRole("region", { name: "Needs your decision" })
		.getByRole("listitem")
		.filter({ hasText: text });
}

/** Three answers: of one nobody knows whether it arrived, one was given up, one waits for a channel that there is not. */
async function happen(scene: Scene): Promise<void> {
	for (const [id, text, settlement] of [
		["unknown:1", "perhaps it arrived", { kind: "unknown", reason: "the platform did not answer in time" }],
		["dead:1", "nobody took it", { kind: "dead", reason: "chat not found" }],
		["waiting:1", "it waits", null],
	] as const) {
		const turn = await scene.turn(`tell me, ${id}`, ADA);
		await scene.reply(turn, text, { deliveries: [delivery(id, text)] });
		if (!settlement) continue;
		const { deliveries } = await scene.store.claimDeliveries({ limit: 1, timeoutMs: 60_000 });
		for (const { id: claimed, claim } of deliveries)
			await scene.store.settleDelivery({ id: claimed, claim, settlement });
	}
}
