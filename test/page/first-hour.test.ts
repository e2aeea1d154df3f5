// A newcomer's first hour, as it is lived: an empty home, a model, a chat, a picture, something that asks first, the way back, finding it
// again and taking it along. Nothing is done in a terminal, nothing is restarted; every step is looked at, wide and on a phone.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import {
	calls,
	type ModelServer,
	type Received,
	type Reply,
	says,
	startModelServer,
} from "../support/model-server.ts";
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
import { answer, box, transcript, write } from "./talk.ts";

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };
/** One red pixel. */
const PICTURE = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
	"base64",
);
const KEY = "key-of-the-first-hour-0123456789";

/** On a machine that has a lot to do, everything takes its time. */
const LONGEST_MS = 90_000;

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;
let model: ModelServer;
let telegram: TelegramPeer;

beforeAll(async () => {
	[keryx, browser, model, telegram] = await Promise.all([
		openKeryx({ firstRun: true }),
		openBrowser(),
		startModelServer(),
		createTelegramPeer(),
	]);
	model.always((response, request) => replyTo(request)(response, request));
	seat = await takeSeat(browser, keryx, { viewport: WIDE });
	({ page } = seat);
	page.setDefaultTimeout(LONGEST_MS);
});
afterAll(async () => {
	await seat?.leave();
	await browser?.close();
	await keryx?.close();
	await Promise.all([model?.close(), telegram?.close()]);
});

/** What this model says: to a list, to the trial, to a name for a chat, and to each of the messages below. */
function replyTo({ path, body }: Received): Reply {
	if (path.endsWith("/models"))
		return (response) => {
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ data: [{ id: "seer" }, { id: "seer-mini" }] }));
		};
	const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
	if (JSON.stringify(messages[0]).includes("Name the conversation")) return says("A red pixel and a plan");
	// The newest message that this model knows an answer to: notes of Keryx may follow it.
	for (const { role, content } of messages.toReversed()) {
		const said = JSON.stringify(content ?? "");
		if (role === "tool") return says("That is done.");
		if (said.includes("are you there")) return says("I am here.");
		if (said.includes("what is in this picture"))
			return says(said.includes("image_url") ? "It is **one red pixel**." : "I see no picture.");
		const command = said.includes("write the plan")
			? "echo 'sail to Naxos' > plan.txt"
			: said.includes("throw the plan away") && "rm -rf ./plan.txt";
		if (role === "user" && command !== false)
			return calls({ id: `call_${messages.length}`, name: "terminal", args: JSON.stringify({ command }) });
	}
	return says("ok");
}

/** Light and wide, dark and on a phone; nothing for axe to find. */
async function looks(name: string): Promise<void> {
	for (const [look, colorScheme, size] of [
		["phone-dark", "dark", PHONE],
		["light", "light", WIDE],
	] as const) {
		await page.emulateMedia({ colorScheme });
		await page.setViewportSize(size);
		await screenshot(page, `first-hour-${name}-${look}`);
		expect(await axeFindings(page), `${name} ${look}`).toEqual([]);
	}
}

const step = (title: string) =>
	page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });

test("a first hour: set up, talk with a picture, approve, undo, find again, export, and never a terminal", {
	timeout: 10 * LONGEST_MS,
}, async () => {
	await page.getByRole("heading", { name: "Welcome to Keryx" }).waitFor();
	await step("Connect a model").getByLabel("Provider").selectOption("openai-compatible");
	await step("Connect a model").getByLabel("Address").fill(model.url);
	await step("Connect a model").getByLabel("API key").fill(KEY);
	await page.getByRole("button", { name: "List models" }).click();
	await page.getByText("2 available.").waitFor();
	await page.getByRole("list", { name: "Available models" }).getByText("seer", { exact: true }).click();
	expect(await page.getByRole("textbox", { name: "Model" }).inputValue()).toBe("seer");
	await looks("1-model");
	await page.getByRole("button", { name: "Test and connect" }).click();
	await step("Connect a model").getByText("Done").waitFor();

	// Resumed where it was, also after the page was closed.
	await page.reload();
	await step("Add a chat").getByLabel("Bot token").fill(telegram.bot.token);
	await step("Add a chat").getByText("More options").click();
	await step("Add a chat").getByLabel("API address").fill(telegram.apiRoot);
	await looks("2-chat");
	await step("Add a chat").getByRole("button", { name: "Connect", exact: true }).click();
	await step("Add a chat").getByText("Done").waitFor();

	const ada = telegram.user("Ada");
	const dm = telegram.dm(ada);
	telegram.say(ada, dm, "let me in");
	await step("Say hello").getByRole("button", { name: "This is me" }).waitFor();
	await looks("3-pair");
	await step("Say hello").getByRole("button", { name: "This is me" }).click();
	// All three are done: what to try stands there instead, and the steps never come back.
	await page.getByRole("heading", { name: "Keryx is running" }).waitFor();
	await page.reload();
	await page.getByRole("heading", { name: "Keryx is running" }).waitFor();
	telegram.say(ada, dm, "are you there?");
	await soon(() => telegram.answers(dm).map(({ text }) => text)).toContain("I am here.");
	await page
		.getByRole("navigation", { name: "List of conversations" })
		.getByRole("link", { name: /Ada/ })
		.waitFor();

	await page.getByRole("button", { name: /^New chat/ }).click();
	await page
		.locator("input[type=file]")
		.setInputFiles([{ name: "red.png", mimeType: "image/png", buffer: PICTURE }]);
	const chosen = page.getByRole("list", { name: "Files to send" });
	await chosen.getByText("red.png").waitFor();
	await soon(() => chosen.getByRole("progressbar").count()).toBe(0);
	await write(page, "what is in this picture?");
	await answer(page, "one red pixel").waitFor();
	await transcript(page).getByRole("img", { name: "red.png" }).waitFor();
	await page.getByRole("heading", { name: "A red pixel and a plan" }).waitFor();
	await page.getByRole("button", { name: "seer", exact: true }).waitFor();
	await looks("4-picture");

	await write(page, "write the plan");
	await answer(page, "That is done.").waitFor();
	const conversation = /\/c\/(\w+)/.exec(page.url())?.[1] ?? "";
	const plan = join((await keryx.client.checkpoints({ conversation })).workspace, "plan.txt");
	expect(readFileSync(plan, "utf8")).toBe("sail to Naxos\n");
	await write(page, "throw the plan away");
	const question = transcript(page).getByRole("article", { name: "delete_files" });
	await question.getByRole("code").filter({ hasText: "rm -rf ./plan.txt" }).waitFor();
	expect(existsSync(plan)).toBe(true);
	await looks("5-question");
	await question.getByRole("button", { name: "Approve" }).click();
	await soon(() => answer(page, "That is done.").count()).toBe(2);
	expect(existsSync(plan)).toBe(false);

	await write(page, "/undo --files");
	await soon(() => existsSync(plan)).toBe(true);
	expect(readFileSync(plan, "utf8")).toBe("sail to Naxos\n");
	await soon(() => answer(page, "That is done.").count()).toBe(1);
	await looks("6-undone");

	await page.keyboard.press("Escape");
	await page.goto(`${keryx.url}/search?q=picture`);
	await looks("7-found");
	await page
		.getByRole("link", { name: /A red pixel and a plan/ })
		.first()
		.click();
	await answer(page, "one red pixel").waitFor();

	await page.getByRole("button", { name: "More actions for this conversation" }).click();
	const downloading = page.waitForEvent("download");
	await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
	const file = await (await downloading).path();
	const text = readFileSync(file, "utf8");
	expect(text).toContain("what is in this picture?");
	expect(text).toContain("one red pixel");

	// The key went to the model and nowhere else.
	expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
	const seen = [await page.content(), text, JSON.stringify(await keryx.client.settingsHistory())].join("\n");
	expect(seen).not.toContain(KEY);
	expect(seen).not.toContain(telegram.bot.token);
	expect(await box(page).inputValue()).not.toContain(KEY);
	expect((await keryx.client.settingsHistory()).changes.map(({ edits }) => edits[0]?.key)).toEqual([
		"channels.telegram",
		"agent.kind",
	]);
});
