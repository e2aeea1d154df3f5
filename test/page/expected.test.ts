// What people expect of a chat and seldom say: thoughts folded away, a name without being asked for one, files that stay with their
// message when it is sent again, and one question about notifications.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	answers,
	calls,
	type ModelServer,
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
import { answer, box, message, tell, transcript, write } from "./talk.ts";

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;
let model: ModelServer;

beforeAll(async () => {
	[browser, model] = await Promise.all([openBrowser(), startModelServer()]);
	model.always((response, request) => {
		replyTo(request.body)(response, request);
	});
	keryx = await openKeryx({
		config: {
			agent: { kind: "ai-sdk", provider: "openai-compatible", model: "thinker", base_url: model.url },
			profiles: { quiet: { agent: { kind: "offline" } } },
		},
	});
	seat = await takeSeat(browser, keryx, { path: "/c/new" });
	({ page } = seat);
});
afterAll(async () => {
	await seat?.leave(/ERR_FAILED/);
	await browser?.close();
	await keryx?.close();
	await model?.close();
});

function replyTo(body: string): Reply {
	const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
	if (body.includes("Name the conversation")) return says("Named by the model");
	const sweeps = JSON.stringify(messages.filter(({ role }) => role === "user")).includes("sweep the yard");
	if (sweeps && !messages.some(({ role }) => role === "tool"))
		return calls({ id: "call_1", name: "terminal", args: JSON.stringify({ command: "rm -rf ./yard" }) });
	return answers([{ reasoning_content: "Let me think." }, { content: "So it is." }]);
}

/** What a person has said so far, as it was stored. */
async function said(): Promise<readonly unknown[]> {
	const conversation = /\/c\/(\w+)/.exec(page.url())?.[1] ?? "";
	const { live_session } = await keryx.client.conversation({ conversation });
	const { messages } = await keryx.client.transcript({ session: live_session as string });
	return messages.filter(({ role }) => role === "user").map(({ content }) => content);
}

test("a chat is named by the model that answers it, and by none where the agent is offline", async () => {
	const { id, conversation } = await keryx.client.send({
		text: "plan a garden",
		client_message_id: "offline",
		source: {
			platform: "web",
			chat_type: "dm",
			chat_id: "offline",
			chat_name: "plan a garden",
			user_id: "operator",
			profile: "quiet",
		},
	});
	await keryx.client.inbound({ id, wait: 60 });
	await write(page, "why is it so?");
	await page.getByRole("heading", { name: "Named by the model" }).waitFor();
	expect(await keryx.client.conversation({ conversation: conversation as string })).toMatchObject({
		title: null,
		name: "plan a garden",
	});
	expect(model.requests.filter(({ body }) => body.includes("plan a garden"))).toEqual([]);
});

test("what the model thought first is folded away, and opens where one wants to read it, also after a reload", async () => {
	for (const again of [false, true]) {
		if (again) await page.reload();
		await answer(page, "So it is.").first().waitFor();
		const folded = transcript(page).locator("details").filter({ hasText: "Reasoning" }).first();
		expect(await folded.getByText("Let me think.").isVisible()).toBe(false);
		await folded.locator("summary").click();
		await folded.getByText("Let me think.").waitFor();
	}
	await screenshot(page, "expected-reasoning-light");
	expect(await axeFindings(page)).toEqual([]);
});

test("a message that was not taken is sent again with its files, once; edited, it keeps them", async () => {
	const chosen = page.getByRole("list", { name: "Files to send" });
	await page
		.locator("input[type=file]")
		.setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("tulips") }]);
	await chosen.getByText("notes.txt").waitFor();
	await soon(() => chosen.getByRole("progressbar").count()).toBe(0);
	await page.route("**/api/inbound", (route) => route.abort());
	await write(page, "read these");
	const again = message(page, "read these").getByRole("button", { name: "Send again" });
	await again.waitFor();
	await page.unroute("**/api/inbound");
	await again.click();
	const file = { type: "file", name: "notes.txt" };
	await soon(async () => (await said()).slice(1)).toMatchObject([
		[{ type: "text", text: "read these" }, file],
	]);
	await soon(() => answer(page, "So it is.").count()).toBe(2);

	await more(message(page, "read these"), "Edit and send again");
	await soon(() => box(page).inputValue()).toBe("read these");
	await chosen.getByText("notes.txt").waitFor();
	await soon(() => chosen.getByRole("progressbar").count()).toBe(0);
	await write(page, "read them twice");
	await message(page, "read them twice").getByRole("button", { name: "Save notes.txt" }).waitFor();
	await soon(async () => (await said()).slice(1)).toMatchObject([
		[{ type: "text", text: "read them twice" }, file],
	]);
});

test("whether to notify is asked once: a no and a yes are both remembered", async () => {
	const question = (of: Page) => of.getByText("Show notifications while you are elsewhere?");
	// A Chromium without windows refuses without asking anybody.
	await page
		.context()
		.addInitScript('Object.defineProperty(Notification, "permission", { get: () => "default" });');
	await page.reload();
	await question(page).waitFor();
	await page.getByRole("button", { name: "No", exact: true }).click();
	await question(page).waitFor({ state: "detached" });
	await page.reload();
	await answer(page, "So it is.").first().waitFor();
	expect(await question(page).count()).toBe(0);

	const other = await takeSeat(browser, keryx, { path: new URL(page.url()).pathname, alone: true });
	await other.context.addInitScript(`
		globalThis.asked = 0;
		Object.defineProperty(Notification, "permission", { get: () => localStorage.getItem("granted") ?? "default" });
		Notification.requestPermission = async () => {
			globalThis.asked++;
			localStorage.setItem("granted", "granted");
			return "granted";
		};
	`);
	await other.page.reload();
	await question(other.page).waitFor();
	expect(await other.page.evaluate("asked")).toBe(0);
	await other.page.getByRole("button", { name: "Yes", exact: true }).click();
	await question(other.page).waitFor({ state: "detached" });
	expect(await other.page.evaluate("asked")).toBe(1);
	await other.page.reload();
	await answer(other.page, "So it is.").first().waitFor();
	expect(await question(other.page).count()).toBe(0);
	expect(await other.page.evaluate("asked")).toBe(0);
	await other.leave();
});

test("a person who looks elsewhere is told of an answer and a question, with a sound; a press leads there", async () => {
	const other = await takeSeat(browser, keryx, { alone: true });
	await other.context.addInitScript(`
		localStorage.setItem("keryx.notify", "on");
		globalThis.told = [];
		globalThis.sounds = 0;
		globalThis.isAway = false;
		document.hasFocus = () => !isAway;
		globalThis.Notification = class {
			static permission = "granted";
			constructor(title, { body }) {
				told.push(title + ": " + body);
				globalThis.latest = this;
			}
		};
		globalThis.AudioContext = class extends AudioContext {
			constructor() {
				super();
				sounds++;
			}
		};
	`);
	await other.page.goto(`${keryx.url}/`);
	await other.page.getByRole("status", { name: "Connection: Live" }).waitFor();
	const seen = await tell(keryx, "looked at", "are you there?");
	// Events come in their order: with this one on the page, those of the answer were there before.
	await keryx.client.renameConversation({ conversation: seen, title: "Looked at" });
	await other.page.getByRole("link", { name: /Looked at/ }).waitFor();
	expect(await other.page.evaluate("told")).toEqual([]);

	await other.page.evaluate("isAway = true");
	await tell(keryx, "elsewhere", "are you there?");
	await soon(() => other.page.evaluate("told.join()")).toMatch(/ has answered: So it is\.$/);
	await tell(keryx, "elsewhere", "sweep the yard", { wait: false });
	await soon(() => other.page.evaluate("told[1]")).toMatch(/ needs your decision: Open it to decide\.$/);
	expect(await other.page.evaluate("sounds")).toBe(2);
	await other.page.evaluate("latest.onclick()");
	await other.page.waitForURL(`${keryx.url}/confirmations`);
	await other.page.getByRole("button", { name: "Deny" }).click();
	await other.page.getByText("It was denied by you.").waitFor();
	await other.leave();
});

async function more(article: Locator, action: string): Promise<void> {
	await article.hover();
	await article.getByRole("button", { name: "More actions for this message" }).click();
	await page.getByRole("menuitem", { name: action }).click();
}
