// How the conversations look: before the first word, in a chat, while an answer comes, at a boundary, with something in front; and
// whether those who cannot see them have everything, too.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGoodLooks } from "./looks.ts";
import {
	axeFindings,
	type Keryx,
	openBrowser,
	openKeryx,
	type Seat,
	screenshot,
	takeSeat,
} from "./support.ts";
import { answer, message, tell, transcript, write } from "./talk.ts";

const MARKDOWN = `Here is what I found.

## The garden

- tulips **before** the frost
- garlic in *October*

| bed | plant | when |
| --- | --- | --- |
| 1 | tulips | October |
| 2 | garlic | October |

\`\`\`ts
const frost = first(days, (day) => day.low < 0);
\`\`\`

The bed is \\(a \\cdot b = 6\\) square metres.

\`\`\`mermaid
flowchart LR
  Frost --> Wait
\`\`\`

> Never plant on frozen ground. See [the almanac](https://example.com).`;

const SCRIPT = {
	rules: [
		{ when: "hold", steps: [{ chunks: ["Let me see. ", "There are **three** beds, and "], hang: true }] },
		{ when: "silence", steps: [{ hang: true }] },
		{
			when: "garden",
			steps: [
				{
					text: "I look it up.",
					tools: [{ name: "terminal", input: { command: "echo tulips; echo garlic" } }],
				},
				{ text: MARKDOWN },
			],
		},
		{ when: "delete", steps: [{ tools: [{ name: "terminal", input: { command: "rm -rf ./beds" } }] }] },
	],
	otherwise: [{ text: "You said: {{input}}" }],
};

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx({ script: SCRIPT }), openBrowser()]);
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("before anybody has written, there is something to try", async () => {
	const ready = (page: Page) => page.getByRole("heading", { name: "Keryx is running" }).waitFor();
	await expectGoodLooks(browser, keryx, [{ path: "/", name: "first-run", ready }]);
	const { page, leave } = await takeSeat(browser, keryx);
	await page.getByRole("button", { name: "Send “hello”", exact: true }).click();
	await page.waitForURL(/\/c\//);
	await answer(page, "You said: hello").waitFor();
	await leave();
});

test("a chat with tools, Markdown and a boundary", async () => {
	const conversation = await tell(keryx, "Garden", "what do I plant in the garden?");
	await tell(keryx, "Garden", "/new");
	await tell(keryx, "Garden", "and now for something else");
	await expectGoodLooks(browser, keryx, [
		{
			path: `/c/${conversation}`,
			name: "chat",
			ready: async (page) => {
				await answer(page, "something else").waitFor();
				await transcript(page).getByRole("region", { name: "Session boundary" }).waitFor();
			},
		},
		{
			path: "/c/new",
			name: "chat-new",
			ready: (page) => page.getByRole("heading", { name: "New chat" }).waitFor(),
		},
		{
			path: "/",
			name: "conversations",
			ready: (page) => page.getByRole("link", { name: /Garden/ }).waitFor(),
		},
	]);
});

test("an answer that comes, a turn that works, and a question to decide", async () => {
	const streaming = await tell(keryx, "Beds", "hold on", { wait: false });
	const working = await tell(keryx, "Quiet", "silence", { wait: false });
	const asking = await tell(keryx, "Danger", "delete the beds");
	await expectGoodLooks(browser, keryx, [
		{
			path: `/c/${streaming}`,
			name: "chat-streaming",
			ready: (page) => answer(page, "There are three beds").waitFor(),
		},
		{
			path: `/c/${working}`,
			name: "chat-working",
			ready: (page) => transcript(page).getByRole("status").getByText("Working").waitFor(),
		},
		{
			path: `/c/${asking}`,
			name: "chat-asking",
			ready: (page) => transcript(page).getByRole("button", { name: "Approve" }).waitFor(),
		},
	]);
	for (const conversation of [streaming, working]) await keryx.client.stop({ conversation });
});

test("dialogs, menus, completions and failures", async () => {
	const conversation = await tell(keryx, "Desk", "good day");
	await keryx.client.newSession({ conversation });
	await tell(keryx, "Desk", "good evening");
	const seat = await takeSeat(browser, keryx, {
		path: `/c/${conversation}`,
		viewport: { width: 1280, height: 860 },
	});
	const { page } = seat;
	await message(page, "good evening").waitFor();
	for (const colorScheme of ["light", "dark"] as const) {
		await page.emulateMedia({ colorScheme });
		await look(seat, `chat-menu-${colorScheme}`, async () => {
			await page.getByRole("button", { name: "More actions for this conversation" }).click();
			await page.getByRole("menuitem", { name: "Earlier sessions" }).waitFor();
		});
		await look(seat, `chat-sessions-${colorScheme}`, async () => {
			await page.getByRole("menuitem", { name: "Earlier sessions" }).click();
			await page
				.getByRole("dialog", { name: "Earlier sessions" })
				.getByText("live", { exact: true })
				.waitFor();
		});
		await page.keyboard.press("Escape");
		await page.getByRole("dialog").waitFor({ state: "detached" });
		await look(seat, `chat-commands-${colorScheme}`, async () => {
			await page.getByRole("textbox", { name: "Message" }).fill("/");
			await page.getByRole("listbox", { name: "Commands" }).waitFor();
		});
		await page.route("**/api/inbound", (route) => route.abort());
		await look(seat, `chat-failed-${colorScheme}`, async () => {
			await write(page, `nobody hears this ${colorScheme}`);
			await message(page, colorScheme).getByRole("button", { name: "Send again" }).waitFor();
		});
		await page.unrouteAll();
	}
	await seat.leave(/ERR_FAILED/);
});

async function look({ page }: Seat, name: string, appear: () => Promise<void>): Promise<void> {
	await appear();
	await screenshot(page, name);
	expect(await axeFindings(page), name).toEqual([]);
}
