// The path of one message, as the page tells it.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import { expectGoodLooks } from "./looks.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

/** What is said with "hold" is worked on until somebody stops it. */
const SCRIPT = {
	rules: [{ when: "hold", steps: [{ hang: true }] }],
	otherwise: [{ text: "The roof holds." }],
};

let keryx: Keryx;
let browser: Browser;
let asked: { readonly id: number; readonly conversation: string };

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx({ script: SCRIPT }), openBrowser()]);
	asked = await say("what about the roof?");
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("a message's steps stand there as the story tells them, with what became of it", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: `/why/${asked.id}` });
	const { text, events } = await keryx.client.why({ id: asked.id });
	const sentences = text.split("\n").slice(1, -1);
	const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
	await soon(() => steps.count()).toBe(sentences.length);
	const shown = await steps.allTextContents();
	for (const [index, sentence] of sentences.entries()) {
		expect(shown[index]).toContain(sentence.slice("2026-03-01 12:00:00.000 ".length));
		expect(shown[index]).toContain(events[index]?.type);
	}
	expect(shown.slice(1).every((step) => /\+\d/.test(step))).toBe(true);
	const verdict = page.getByRole("region", { name: "What happened" });
	expect(await verdict.textContent()).toMatch(/it was answered\./);
	await leave();
});

test("it leads to the row, the conversation and what was sent", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: `/why/${asked.id}` });
	await page.getByRole("region", { name: "Deliveries" }).getByText("sent", { exact: true }).waitFor();
	await page.getByRole("region", { name: "Turn" }).getByText("completed").waitFor();
	const conversation = page.getByRole("region", { name: "Conversation" }).getByRole("link");
	expect(await conversation.getAttribute("href")).toBe(`/c/${asked.conversation}`);
	await page.getByRole("link", { name: "Show message 1 in the conversation" }).click();
	await page.waitForURL((url) => url.pathname === `/c/${asked.conversation}` && url.searchParams.has("m"));
	await leave();
});

test("why opens from a message in its conversation", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: `/c/${asked.conversation}` });
	await page.getByRole("region", { name: "Transcript" }).getByText("what about the roof?").first().hover();
	await page.getByRole("button", { name: "More actions for this message" }).first().click();
	await page.getByRole("menuitem", { name: "What happened to it" }).click();
	await page.waitForURL((url) => url.pathname === `/why/${asked.id}`);
	await page.getByRole("list", { name: "Steps" }).waitFor();
	await leave();
});

test("what happens to a message while one looks appears by itself", async () => {
	const { id, conversation } = await send("hold the line");
	const { page, leave } = await takeSeat(browser, keryx, { path: `/why/${id}` });
	const verdict = page.getByRole("region", { name: "What happened" });
	await verdict.getByText("Keryx is working on it.").waitFor();
	await keryx.client.stop({ conversation });
	await verdict.getByText("The user stopped the answer.").waitFor();
	await page.getByText("Keryx finished: stopped", { exact: false }).waitFor();
	await leave();
});

test("a message that there is not is said to be none", async () => {
	const { page, leave } = await takeSeat(browser, keryx);
	for (const id of ["999999", "nothing", "-1"]) {
		await page.goto(`${keryx.url}/why/${id}`);
		await page.getByRole("heading", { name: "There is no such message" }).waitFor();
	}
	await leave(/404/);
});

test("it looks right with a message and without one", async () => {
	await expectGoodLooks(browser, keryx, [
		{
			path: `/why/${asked.id}`,
			name: "why",
			ready: (page) => page.getByRole("region", { name: "Deliveries" }).waitFor(),
		},
		{
			path: "/why/none",
			name: "why-none",
			atAGlance: true,
			ready: (page) => page.getByRole("heading", { name: "There is no such message" }).waitFor(),
		},
	]);
});

/** Resolves when it was answered. */
async function say(text: string): Promise<{ readonly id: number; readonly conversation: string }> {
	const sent = await send(text);
	await keryx.client.inbound({ id: sent.id, wait: 30 });
	return sent;
}

async function send(text: string): Promise<{ readonly id: number; readonly conversation: string }> {
	const { id, conversation } = await keryx.client.send({
		text,
		client_message_id: text,
		source: { platform: "api_server", chat_id: "roof", chat_type: "dm", user_id: "u1", user_name: "Ann" },
	});
	return { id, conversation: conversation ?? "" };
}
