// Setting Keryx up on the page: the first run, settings with their difference and history, profiles, and the model of a conversation.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { editConfig, writeConfig } from "../../src/config/index.ts";
import { type ModelServer, says, startModelServer } from "../support/model-server.ts";
import { soon } from "../support/soon.ts";
import { expectGoodLooks } from "./looks.ts";
import { type Keryx, openBrowser, openKeryx, type Seat, takeSeat } from "./support.ts";
import { answer, transcript, write } from "./talk.ts";

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;
let model: ModelServer;
const file = () => join(keryx.home, "config.yaml");
const text = () => readFileSync(file(), "utf8");

beforeAll(async () => {
	[keryx, browser, model] = await Promise.all([
		openKeryx({ firstRun: true, config: { profiles: { garden: { agent: { kind: "offline" } } } } }),
		openBrowser(),
		startModelServer(),
	]);
	model.always((response, request) => {
		if (!request.path.endsWith("/models")) return says("from the model")(response, request);
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: [{ id: "large" }, { id: "tiny" }] }));
	});
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 860 } });
	({ page } = seat);
});
afterAll(async () => {
	await seat?.leave(/409|422/);
	await browser?.close();
	await keryx?.close();
	await model?.close();
});

const step = (title: string) =>
	page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
const welcome = () => page.getByRole("heading", { name: "Welcome to Keryx" });

test("each step of the first run can be skipped and taken up again; a reload finds it as it was; it never comes back", async () => {
	await welcome().waitFor();
	await step("Connect a model").getByRole("button", { name: "Skip this step" }).click();
	await step("Connect a model").getByText("Skipped").waitFor();
	await page.reload();
	await step("Add a chat").getByLabel("Bot token").waitFor();
	await step("Connect a model").getByRole("button", { name: "Connect a model: do this now" }).click();
	await step("Connect a model").getByLabel("Provider").waitFor();
	await step("Connect a model").getByRole("button", { name: "Skip this step" }).click();
	await step("Add a chat").getByRole("button", { name: "Skip this step" }).click();
	await step("Say hello").getByRole("button", { name: "Say hello on this page" }).click();
	await transcript(page).getByRole("article", { name: "Answer" }).first().waitFor();
	await soon(async () => (await keryx.client.setup()).steps).toEqual([]);
	const other = await seat.tab("/");
	await other.getByText("No conversation is open").waitFor();
	expect(await other.getByRole("heading", { name: "Welcome to Keryx" }).count()).toBe(0);
	await other.close();
});

test("a setting is changed once its difference was seen; a wrong value is said at its field; the history undoes it", async () => {
	writeFileSync(
		file(),
		"# mine\nhttp: {port: 0}   # any\nprofiles: { garden: { agent: { kind: offline } } }\n",
	);
	const before = text();
	await page.goto(`${keryx.url}/settings?tab=general`);
	const field = page.getByRole("textbox", { name: "Longest session, in messages" });
	const review = page.getByRole("button", { name: /^Review/ });
	await field.fill("a lot");
	await review.click();
	await page.getByText(/It must be a whole number/).waitFor();
	expect(await field.getAttribute("aria-invalid")).toBe("true");
	await field.fill("120");
	await page.getByRole("combobox", { name: "Tools at work" }).selectOption("off");
	await page.getByRole("button", { name: "Review 2 changes" }).click();
	const dialog = page.getByRole("dialog", { name: "Save these changes?" });
	await dialog
		.getByRole("region", { name: "Differences in config.yaml" })
		.getByText("max_messages: 120")
		.waitFor();
	expect(text()).toBe(before);
	await dialog.getByRole("button", { name: "Save config.yaml" }).click();
	await dialog.waitFor({ state: "detached" });
	expect(text()).toBe(`${before}session_reset:\n  max_messages: 120\ndisplay:\n  tool_progress: off\n`);
	const change = page.getByRole("list", { name: "Setting changes" }).getByRole("listitem").first();
	await change.getByText("by you").waitFor();
	await change.getByText("session_reset.max_messages").waitFor();
	await soon(
		async () =>
			(await keryx.client.config()).entries.find(({ key }) => key === "display.tool_progress")?.value,
	).toBe("off");

	await change.getByRole("button", { name: "Undo" }).click();
	const undo = page.getByRole("dialog", { name: "Undo this change?" });
	await undo.getByText("max_messages: 120").waitFor();
	await undo.getByRole("button", { name: "Undo it" }).click();
	await undo.waitFor({ state: "detached" });
	expect(text()).toBe(before);
	await soon(() => field.inputValue()).toBe("200");
});

test("a file that was saved in an editor meanwhile is not written over", async () => {
	await page.goto(`${keryx.url}/settings?tab=general`);
	await page.getByRole("textbox", { name: "Pause, in minutes" }).fill("30");
	await page.getByRole("button", { name: "Review 1 change" }).click();
	const dialog = page.getByRole("dialog", { name: "Save these changes?" });
	await dialog.getByText("idle_minutes: 30").waitFor();
	const theirs = `${text()}# theirs\n`;
	writeFileSync(file(), theirs);
	await dialog.getByRole("button", { name: "Save config.yaml" }).click();
	await dialog.getByRole("alert").getByText("has changed since").waitFor();
	expect(text()).toBe(theirs);
	await dialog.getByRole("button", { name: "Cancel" }).click();
	// What was typed is still there, and is made for the file as it is now.
	await page.getByRole("button", { name: "Review 1 change" }).click();
	await dialog.getByRole("button", { name: "Save config.yaml" }).click();
	await dialog.waitFor({ state: "detached" });
	expect(text()).toContain("# theirs\n");
	expect(text()).toContain("session_reset:\n  idle_minutes: 30\n");
});

test("a profile that comes while Keryx runs is listed, chosen for a new chat, named by a badge and filtered by", async () => {
	await page.goto(`${keryx.url}/settings?tab=profiles`);
	await page.getByRole("row", { name: /garden/ }).waitFor();
	writeConfig(file(), editConfig(text(), { "profiles.kitchen": { agent: { kind: "offline" } } }));
	await page.getByRole("button", { name: "New chat with kitchen" }).click();
	await soon(() => page.getByLabel("Profile").inputValue()).toBe("kitchen");
	await write(page, "hello kitchen");
	await transcript(page).getByRole("article", { name: "Answer" }).first().waitFor();
	const id = /\/c\/(\w+)/.exec(page.url())?.[1] ?? "";
	expect(await keryx.client.conversation({ conversation: id })).toMatchObject({ profile: "kitchen" });
	// The next message stays in the same conversation.
	await write(page, "hello again");
	await soon(async () => (await keryx.client.conversation({ conversation: id })).message_count).toBe(4);
	const rows = page.getByRole("navigation", { name: "List of conversations" }).getByRole("link");
	await rows.filter({ hasText: "kitchen" }).first().waitFor();
	await page.getByRole("button", { name: "Which conversations to show" }).click();
	await page.getByRole("menuitemradio", { name: "garden" }).click();
	await soon(() => rows.count()).toBe(0);
	await page.getByRole("button", { name: "Show all" }).click();
	await page.getByRole("button", { name: "Which conversations to show" }).click();
	await page.getByRole("menuitemradio", { name: "kitchen" }).click();
	await soon(() => rows.count()).toBe(1);
	await page.getByRole("button", { name: "Show all" }).click();
});

test("the model is named in the header, and another is chosen from those that there are", async () => {
	await keryx.client.takeModel({ provider: "openai-compatible", model: "tiny", base_url: model.url });
	await page.goto(`${keryx.url}/c/new`);
	await soon(async () => (await keryx.client.profiles()).profiles[0]?.model).toBe("tiny");
	await write(page, "who are you?");
	await answer(page, "from the model").waitFor();
	await page.getByRole("button", { name: "tiny", exact: true }).click();
	const choices = page.getByRole("list", { name: "Available models" });
	await choices.getByRole("button", { name: /^large/ }).click();
	await page.getByRole("button", { name: "large", exact: true }).waitFor();
	await write(page, "and now?");
	await soon(() => answer(page, "from the model").count()).toBe(2);
	const asked = model.requests.flatMap(({ body }) => (body === "" ? [] : [JSON.parse(body)]));
	expect(asked.filter((one) => one.model === "large")).not.toEqual([]);
});

test("a new chat begins with the model that was chosen for it", async () => {
	const before = model.requests.length;
	await page.goto(`${keryx.url}/c/new`);
	await page.getByRole("button", { name: "tiny", exact: true }).click();
	await page
		.getByRole("list", { name: "Available models" })
		.getByRole("button", { name: /^large/ })
		.click();
	await page.getByRole("button", { name: "large", exact: true }).waitFor();
	await write(page, "who are you now?");
	await answer(page, "from the model").waitFor();
	await page.getByRole("button", { name: "large", exact: true }).waitFor();
	const asked = model.requests
		.slice(before)
		.filter(({ body }) => body.includes("who are you now?") && body.includes("tools"))
		.map(({ body }) => JSON.parse(body).model);
	expect(new Set(asked)).toEqual(new Set(["large"]));
});

test("it looks right", async () => {
	await expectGoodLooks(browser, keryx, [
		{
			path: "/settings?tab=general",
			name: "settings-general",
			ready: (at) =>
				at.getByRole("list", { name: "Setting changes" }).getByRole("listitem").first().waitFor(),
		},
		{
			path: "/settings?tab=profiles",
			name: "settings-profiles",
			atAGlance: true,
			ready: (at) => at.getByRole("row", { name: /kitchen/ }).waitFor(),
		},
		{
			path: "/c/new?profile=kitchen",
			name: "new-chat-profile",
			atAGlance: true,
			ready: (at) => at.getByLabel("Profile").waitFor(),
		},
	]);
});
