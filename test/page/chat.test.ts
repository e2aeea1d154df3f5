// Talking on the page: what is written, what is answered, and what one can do about either.
import type { Browser, Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, soon } from "../support/soon.ts";
import { type Keryx, openBrowser, openKeryx, type Seat, takeSeat } from "./support.ts";
import { answer, box, everyFrame, message, tell, texts, transcript, write } from "./talk.ts";

const STORY = Array.from({ length: 60 }, (_, n) => `Line ${n + 1} of a long story that is told.\n\n`);

const DRAWN = [
	"```ts\nconst frost = 0;\n```",
	"So \\(x^2 = 4\\), for $5.",
	'```mermaid\nflowchart LR\n A["<img src=x onerror=alert(1)>"] --> B[Plant]\n```',
	"```mermaid\nno diagram at all\n```",
].join("\n\n");

const SCRIPT = {
	rules: [
		{ when: "tell a story", steps: [{ chunks: STORY, chunk_delay_ms: 25 }] },
		{ when: "count", steps: [{ chunks: ["one, ", "two, ", "three"], chunk_delay_ms: 150 }] },
		{ when: "hold", steps: [{ chunks: ["I am ", "on it."], hang: true }] },
		{
			when: "work",
			steps: [
				{
					text: "I look.",
					tools: [{ name: "terminal", input: { command: "echo forty-two; echo and more" } }],
				},
				{ text: "It is **done**." },
			],
		},
		{
			when: "delete",
			steps: [
				{ tools: [{ name: "terminal", input: { command: "rm -rf ./beds" } }] },
				{ text: "" },
				{ text: "So be it." },
			],
		},
		{ when: "draw", steps: [{ text: DRAWN }] },
		{ when: "break", steps: [{ fail: { kind: "provider_down", detail: "the cable is cut" } }] },
	],
	otherwise: [{ text: "You said: {{input}}" }],
};

let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([
		openKeryx({ script: SCRIPT, config: { session_reset: { mode: "none", max_messages: 8 } } }),
		openBrowser(),
	]);
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 800 } });
	({ page } = seat);
});

afterAll(async () => {
	// What a diagram tried to run was refused, in the frame without an origin where it is drawn.
	await seat.leave(/ERR_FAILED/, /Executing inline event handler violates/);
	await browser.close();
	await keryx.close();
});

let chats = 0;

/** A chat in which one thing was said, open on the page. */
async function open(first = "good day"): Promise<string> {
	const conversation = await tell(keryx, `chat ${++chats}`, first);
	await page.goto(`${keryx.url}/c/${conversation}`);
	await message(page, first).first().waitFor();
	return conversation;
}

/** The rows of the live session. */
async function rows(conversation: string) {
	const { live_session } = await keryx.client.conversation({ conversation });
	return (await keryx.client.messages({ session: live_session ?? "", limit: 200 })).messages;
}

function button(name: string | RegExp): Locator {
	return page.getByRole("button", { name });
}

describe("what is written", () => {
	test("begins a conversation, is answered, and stands in the list", async () => {
		await page.goto(`${keryx.url}/`);
		await button("New chat").click();
		await write(page, "tulips before the frost");
		await page.waitForURL(/\/c\/[0-9a-f]{32}$/);
		await answer(page, "You said: tulips before the frost").waitFor();
		await message(page, "tulips before the frost").getByText("Answered").waitFor();
		const list = page.getByRole("navigation", { name: "List of conversations" });
		await list.getByRole("link", { name: /tulips before the frost.*You said/ }).waitFor();
		expect(await texts(page)).toEqual(["tulips before the frost", "You said: tulips before the frost"]);
	});

	test("says how far it is: being sent, accepted, answered", async () => {
		await open();
		const held = holding("**/api/inbound");
		await write(page, "hold the line");
		const mine = message(page, "hold the line");
		await mine.getByText("Sending").waitFor();
		(await held).resume();
		await mine.getByText("Accepted").waitFor();
		await answer(page, "I am on it").waitFor();
		await button("Stop the answer").click();
		await mine.getByText("Stopped").waitFor();
		await button("Stop the answer").waitFor({ state: "detached" });
	});

	test("that does not get through stays, and is sent again under the same id", async () => {
		const conversation = await open();
		const ids: unknown[] = [];
		await page.route("**/api/inbound", (route) => {
			ids.push(idOf(route));
			return route.abort();
		});
		await write(page, "is anybody there?");
		const mine = message(page, "is anybody there?");
		await mine.getByRole("alert").getByText("Keryx cannot be reached.").waitFor();
		await page.unrouteAll();
		// It is taken, but the answer to that is lost.
		await page.route("**/api/inbound", async (route) => {
			ids.push(idOf(route));
			await route.fetch();
			await route.abort();
		});
		await mine.getByRole("button", { name: "Send again" }).click();
		await soon(() => ids.length).toBe(2);
		await answer(page, "You said: is anybody there?").waitFor();
		await mine.getByRole("button", { name: "Send again" }).waitFor();
		await page.unrouteAll();
		await page.route("**/api/inbound", (route) => {
			ids.push(idOf(route));
			return route.continue();
		});
		await mine.getByRole("button", { name: "Send again" }).click();
		await mine.getByText("Answered").waitFor();
		await page.unrouteAll();
		expect(new Set(ids).size).toBe(1);
		expect(ids).toHaveLength(3);
		expect((await rows(conversation)).map(({ content }) => content)).toEqual([
			"good day",
			"You said: good day",
			"is anybody there?",
			"You said: is anybody there?",
		]);
		await soon(() => texts(page)).toHaveLength(4);
	});

	test("that was not sent can be thrown away", async () => {
		const conversation = await open();
		await page.route("**/api/inbound", (route) => route.abort());
		await write(page, "better not");
		await message(page, "better not").getByRole("button", { name: "Discard" }).click();
		await message(page, "better not").waitFor({ state: "detached" });
		await page.unrouteAll();
		expect(await rows(conversation)).toHaveLength(2);
	});

	test("is sent by Enter; Shift and Enter begin a line", async () => {
		await open();
		await box(page).fill("two");
		await box(page).press("Shift+Enter");
		await box(page).pressSequentially("lines");
		await box(page).press("Enter");
		await answer(page, /You said: two\s+lines/).waitFor();
		expect(await box(page).inputValue()).toBe("");
		await box(page).press("ArrowUp");
		expect(await box(page).inputValue()).toBe("two\nlines");
	});

	test("and not sent is there again after going elsewhere, and after a reload", async () => {
		const first = await open("the first one");
		await box(page).fill("half a thou");
		const other = await tell(keryx, "other", "another one");
		await page.getByRole("link", { name: /another one/ }).click();
		await page.waitForURL((url) => url.pathname === `/c/${other}`);
		await soon(() => box(page).inputValue()).toBe("");
		await page.goBack();
		await page.waitForURL((url) => url.pathname === `/c/${first}`);
		await soon(() => box(page).inputValue()).toBe("half a thou");
		await page.reload();
		await soon(() => box(page).inputValue()).toBe("half a thou");
		await box(page).press("Enter");
		await answer(page, "half a thou").waitFor();
		await page.reload();
		await answer(page, "half a thou").waitFor();
		expect(await box(page).inputValue()).toBe("");
	});
});

describe("files", () => {
	const PICTURE = Buffer.from(
		"iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNgYPgPRQwQCgAl4gP9rrPWbwAAAABJRU5ErkJggg==",
		"base64",
	);
	const chosen = () => page.getByRole("list", { name: "Files to send" });

	test("are chosen, pasted and dropped, can be left out, and are sent with or without words", async () => {
		const conversation = await open();
		const held = holding("**/api/attachments");
		await page.locator("input[type=file]").setInputFiles([
			{ name: "beds.png", mimeType: "image/png", buffer: PICTURE },
			{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("tulips") },
		]);
		await chosen().getByRole("progressbar").first().waitFor();
		await box(page).fill("look");
		expect(await button("Send").isDisabled()).toBe(true);
		(await held).resume();
		await soon(() => chosen().getByRole("progressbar").count()).toBe(0);
		await dropText("plan.md", "drop", "document");
		await dropText("bad.md", "paste", "textarea");
		await chosen().getByText("bad.md").waitFor();
		await button("Remove bad.md").click();
		await soon(() => chosen().getByRole("listitem").count()).toBe(3);
		await soon(() => chosen().getByRole("progressbar").count()).toBe(0);
		await box(page).press("Enter");
		await answer(page, "You said: look").waitFor();
		const mine = message(page, "look");
		await mine.getByRole("img", { name: "beds.png" }).waitFor();
		const drawn = "document.querySelector('article img')?.naturalWidth";
		await soon(() => page.evaluate(drawn)).toBe(2);
		await mine.getByRole("button", { name: "Save plan.md" }).waitFor();
		const download = page.waitForEvent("download");
		await mine.getByRole("button", { name: "Save notes.txt" }).click();
		expect((await download).suggestedFilename()).toBe("notes.txt");
		await page.reload();
		await mine.getByRole("button", { name: "Open beds.png" }).click();
		await page.getByRole("dialog", { name: "beds.png" }).getByRole("img").waitFor();
		await page.keyboard.press("Escape");
		const [, , said] = await rows(conversation);
		expect(said?.content).toMatchObject([
			{ type: "text", text: "look" },
			{ type: "image", name: "beds.png" },
			{ type: "file", name: "notes.txt" },
			{ type: "file", name: "plan.md" },
		]);
		await page
			.locator("input[type=file]")
			.setInputFiles([{ name: "alone.txt", mimeType: "text/plain", buffer: Buffer.from("no words") }]);
		await button("Send").click();
		await transcript(page).getByRole("button", { name: "Save alone.txt" }).waitFor();
	});

	/** As a browser tells of a file that is dropped or pasted. */
	async function dropText(name: string, how: "drop" | "paste", on: "document" | "textarea"): Promise<void> {
		await page.evaluate(
			`(() => {
				const files = new DataTransfer();
				files.items.add(new File(["# plan"], ${JSON.stringify(name)}, { type: "text/markdown" }));
				const target = ${on === "document" ? "document.body" : "document.querySelector('textarea')"};
				const init = { bubbles: true, cancelable: true };
				target.dispatchEvent(${
					how === "drop"
						? 'new DragEvent("drop", { ...init, dataTransfer: files })'
						: 'new ClipboardEvent("paste", { ...init, clipboardData: files })'
				});
			})()`,
		);
	}
});

describe("commands", () => {
	test("are completed by their beginning, with the keyboard", async () => {
		await open();
		await box(page).pressSequentially("/st");
		const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
		await soon(() => options.allTextContents()).not.toHaveLength(0);
		for (const text of await options.allTextContents()) expect(text).toMatch(/^\/st/);
		await options.filter({ hasText: "/status" }).waitFor();
		while (!(await options.filter({ hasText: "/status" }).getAttribute("aria-selected"))?.includes("true"))
			await box(page).press("ArrowDown");
		await box(page).press("Tab");
		expect((await box(page).inputValue()).trim()).toBe("/status");
		await box(page).press("Enter");
		const told = transcript(page).getByRole("region", { name: "Answer to a command" });
		await told.waitFor();
		expect(await told.textContent()).toContain("2 of 8 messages");
		await message(page, "/status").getByText("Done").waitFor();
	});

	test("can be left alone", async () => {
		await open();
		await box(page).pressSequentially("/h");
		const list = page.getByRole("listbox", { name: "Commands" });
		await list.waitFor();
		await box(page).press("Escape");
		await list.waitFor({ state: "detached" });
		expect(await box(page).inputValue()).toBe("/h");
	});
});

describe("an answer", () => {
	test("grows as it comes, never gets shorter, and becomes its row where it stands", async () => {
		await open();
		const lengths = await everyFrame<number>(
			page,
			`[...document.querySelectorAll('article[aria-label="Answer"]')].at(-1)?.innerText.length ?? 0`,
		);
		await write(page, "count to three");
		await answer(page, "one, two").waitFor();
		await page.evaluate(
			`globalThis.streamed = [...document.querySelectorAll('article[aria-label="Answer"]')].at(-1)`,
		);
		await message(page, "count to three").getByText("Answered").waitFor();
		expect(await page.evaluate("streamed.isConnected && streamed.querySelector('.prose').innerText")).toBe(
			"one, two, three",
		);
		const grown = (await lengths()).filter((length, n, all) => length !== all[n - 1]);
		// The last is longer by the time of the row.
		expect(grown.slice(1)).toEqual(grown.slice(1).toSorted((a, b) => a - b));
		expect(grown.length).toBeGreaterThan(2);
		expect(await answer(page, "one, two, three").count()).toBe(1);
	});

	test("is followed while one is at the end", async () => {
		await open("tell a story");
		await answer(page, "Line 60").waitFor();
		await soon(() => fromEnd()).toBeLessThan(END);
		const distances = await everyFrame<number>(page, DISTANCE);
		await write(page, "tell a story again");
		await message(page, "tell a story again").getByText("Answered").waitFor({ state: "attached" });
		// What has grown is measured, and followed, at the end of a frame.
		const behind = (await distances()).filter((distance) => distance >= END);
		expect(behind.length).toBeLessThan(STORY.length / 4);
		await soon(() => fromEnd()).toBeLessThan(2);
	});

	test.each([
		["what was said before it", 3, -900],
		["its own beginning", 30, -400],
	])("does not move what one reads while it comes: %s", async (_what, line, wheel) => {
		const conversation = await open("tell a story");
		await answer(page, "Line 60").waitFor();
		await write(page, "tell a story again");
		await soon(() => answer(page, new RegExp(`Line ${line} of`)).count()).toBe(2);
		await transcript(page).hover();
		await page.mouse.wheel(0, wheel);
		await soon(() => fromEnd()).toBeGreaterThan(-wheel / 2);
		await page.evaluate(`(() => {
			const { top, height } = document.querySelector('section[aria-label="Transcript"]').getBoundingClientRect();
			globalThis.reading = [...document.querySelectorAll('article p')].find(
				(one) => one.getBoundingClientRect().top > top + height / 3);
		})()`);
		const places = await everyFrame<string>(
			page,
			"reading.innerText + ' at ' + Math.round(reading.getBoundingClientRect().top)",
		);
		await soon(() => rows(conversation)).toHaveLength(4);
		await page.getByRole("button", { name: "Stop the answer" }).waitFor({ state: "detached" });
		expect([...new Set(await places())]).toHaveLength(1);
		await button(/new message|Jump to the end/).click();
		await soon(() => fromEnd()).toBeLessThan(2);
		await message(page, "tell a story again").getByText("Answered").waitFor({ state: "attached" });
	});

	test("is seen by those who write while they read further up, also from a place that a link led to", async () => {
		const conversation = await open("tell a story");
		await answer(page, "Line 60").waitFor();
		for (const path of [
			`/c/${conversation}`,
			`/c/${conversation}?m=${(await rows(conversation))[0]?.session}:1`,
		]) {
			await page.goto(`${keryx.url}${path}`);
			await answer(page, "Line 60").waitFor({ state: "attached" });
			await transcript(page).hover();
			await page.mouse.wheel(0, -2000);
			await soon(() => fromEnd()).toBeGreaterThan(500);
			await write(page, `and from ${path}?`);
			await answer(page, `You said: and from ${path}?`).waitFor();
			await soon(() => fromEnd()).toBeLessThan(END);
		}
	});

	test("that is stopped ends there", async () => {
		const conversation = await open();
		await write(page, "hold on");
		await answer(page, "I am on it").waitFor();
		await button("Stop the answer").waitFor();
		expect(await button("Send").count()).toBe(0);
		await box(page).press("Escape");
		await message(page, "hold on").getByText("Stopped").waitFor();
		await soon(async () => (await keryx.client.partial({ conversation })).partial).toBeNull();
		await page.reload();
		await answer(page, "I am on it").getByText("Stopped here").waitFor();
		await write(page, "and now?");
		await answer(page, "You said: and now?").waitFor();
	});

	test("that failed says why", async () => {
		await open();
		await write(page, "break it");
		const failure = transcript(page).getByRole("note", { name: "Notice" });
		await failure.getByText("The model's provider cannot be reached right now.").waitFor();
		await message(page, "break it").getByText("Could not be answered", { exact: true }).waitFor();
		await failure.getByText("The provider's message").click();
		await failure.getByText("provider_down: the cable is cut").waitFor();
		await failure.getByRole("button", { name: "Try again" }).click();
		await soon(() => failure.count()).toBe(2);
		expect(await failure.first().getByRole("button", { name: "Try again" }).count()).toBe(0);
		await page.reload();
		await failure.last().getByRole("button", { name: "Try again" }).waitFor();
		expect(await transcript(page).getByText("Note to the agent").count()).toBe(0);
		await button("More actions for this conversation").click();
		await page.getByRole("menuitem", { name: "Show notes to the agent" }).click();
		await transcript(page).getByText("Note to the agent").first().waitFor();
		await button("More actions for this conversation").click();
		await page.getByRole("menuitem", { name: "Hide notes to the agent" }).click();
		await soon(() => transcript(page).getByText("Note to the agent").count()).toBe(0);
	});

	test("is copied, alone or with the whole conversation as Markdown", async () => {
		await open("tulips before the frost");
		await page.evaluate(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`);
		await answer(page, "You said").hover();
		await answer(page, "You said").getByRole("button", { name: "Copy message" }).click();
		await soon(() => page.evaluate("globalThis.copied")).toBe("You said: tulips before the frost");
		await button("More actions for this conversation").click();
		await page.getByRole("menuitem", { name: "Copy as Markdown" }).click();
		await soon(() => page.evaluate("globalThis.copied")).toMatch(
			/^# [\s\S]*tulips before the frost[\s\S]*You said: tulips before the frost/,
		);
	});

	test("shows its tool calls folded, and what went in and came out behind them", async () => {
		await open();
		await write(page, "work, please");
		await answer(page, "It is done.").waitFor();
		const call = transcript(page).locator("details");
		expect(await call.locator("summary").textContent()).toMatch(
			/^terminal\s*echo forty-two; echo and more\s*done$/,
		);
		expect(await call.getByText("Result: output").isVisible()).toBe(false);
		await call.locator("summary").click();
		await call.getByText("Result: output").waitFor();
		expect(await call.textContent()).toContain("forty-two\nand more");
	});

	test("has coloured code, formulas and diagrams, each loaded when it is first needed, and inert", async () => {
		const asked: string[] = [];
		const note = (request: { url(): string }) => asked.push(new URL(request.url()).pathname);
		page.on("request", note);
		await open();
		const late = () => asked.filter((path) => /highlight|math-[^m]|mermaid|diagram/.test(path));
		expect(late()).toEqual([]);
		await write(page, "draw it");
		const drawn = answer(page, "for $5.");
		await drawn.locator(".hljs-keyword").getByText("const").waitFor();
		await drawn.getByText("ts", { exact: true }).waitFor();
		await drawn.locator(".katex").first().waitFor();
		await drawn.getByRole("img", { name: /^Diagram/ }).waitFor();
		expect(await drawn.getByRole("img", { name: /^Diagram/ }).getAttribute("src")).toMatch(/^blob:/);
		await drawn.getByText("no diagram at all").waitFor();
		expect(late()).toEqual(
			expect.arrayContaining([expect.stringMatching(/highlight/), expect.stringMatching(/mermaid/)]),
		);
		expect(await page.locator("iframe").getAttribute("sandbox")).toBe("allow-scripts");
		page.off("request", note);
	});

	test("is given by the model that the head names, or by another one that is chosen there", async () => {
		const conversation = await open();
		await button("scripted").click();
		const dialog = page.getByRole("dialog", { name: "Model for this conversation" });
		await dialog.getByRole("textbox", { name: /^Model/ }).fill("ollama:llama3:8b");
		await dialog.getByRole("button", { name: "Use this model" }).click();
		await button("llama3:8b").waitFor();
		expect((await keryx.client.conversation({ conversation })).model_override).toEqual({
			provider: "ollama",
			model: "llama3:8b",
		});
		await button("llama3:8b").click();
		await dialog.getByRole("button", { name: "Use the default" }).click();
		await button("scripted").waitFor();
	});

	test("is taken back with what was asked, which returns to the box", async () => {
		const conversation = await open();
		await write(page, "I did not mean this");
		await answer(page, "I did not mean this").waitFor();
		await message(page, "I did not mean this").getByText("Answered").waitFor();
		await button(/^Undo the last exchange/).click();
		await soon(() => box(page).inputValue()).toBe("I did not mean this");
		await soon(() => texts(page)).toEqual(["good day", "You said: good day"]);
		expect((await rows(conversation)).filter(({ hidden }) => !hidden)).toHaveLength(2);
		await box(page).fill("I mean this");
		await box(page).press("Enter");
		await answer(page, "You said: I mean this").waitFor();
	});
});

describe("versions", () => {
	const versions = () => transcript(page).getByRole("group", { name: "Versions" });
	const choose = async (article: Locator, action: string): Promise<void> => {
		await article.hover();
		await article.getByRole("button", { name: "More actions for this message" }).click();
		await page.getByRole("menuitem", { name: action }).click();
	};

	test("an edited message takes the place of the first, which a switch brings back", async () => {
		const conversation = await open("plant tulips");
		await write(page, "and then?");
		await answer(page, "You said: and then?").waitFor();
		await choose(message(page, "plant tulips"), "Edit and send again");
		await soon(() => box(page).inputValue()).toBe("plant tulips");
		await write(page, "plant garlic");
		await answer(page, "You said: plant garlic").waitFor();
		await soon(() => texts(page)).toEqual(["plant garlic", "You said: plant garlic"]);
		await soon(() => versions().textContent()).toBe("2 / 2");
		await button("Previous version").click();
		await soon(() => texts(page)).toEqual([
			"plant tulips",
			"You said: plant tulips",
			"and then?",
			"You said: and then?",
		]);
		await soon(() => versions().textContent()).toBe("1 / 2");
		await page.reload();
		await answer(page, "You said: and then?").waitFor();
		await button("Next version").click();
		await soon(() => texts(page)).toEqual(["plant garlic", "You said: plant garlic"]);
		const { live_session } = await keryx.client.conversation({ conversation });
		const { messages } = await keryx.client.transcript({ session: live_session ?? "" });
		expect(messages.map(({ content }) => content)).toEqual(["plant garlic", "You said: plant garlic"]);
	});

	test("an answer is given again, another way is gone from it, and what follows is taken back", async () => {
		await open("one");
		await write(page, "two");
		await answer(page, "You said: two").waitFor();
		await choose(answer(page, "You said: two"), "Answer again");
		await soon(() => versions().textContent()).toBe("2 / 2");
		await soon(() => texts(page)).toEqual(["one", "You said: one", "two", "You said: two"]);
		await choose(answer(page, "You said: one"), "Branch from here");
		await soon(() => texts(page)).toEqual(["one", "You said: one"]);
		await transcript(page).getByText("A branch starts here.").waitFor();
		await write(page, "three");
		await answer(page, "You said: three").waitFor();
		await soon(() => versions().textContent()).toBe("3 / 3");
		await choose(message(page, "three"), "Undo from here");
		await soon(() => box(page).inputValue()).toBe("three");
		await soon(() => texts(page)).toEqual(["one", "You said: one"]);
		await box(page).fill("");
		await button("Previous version").click();
		await soon(() => texts(page)).toEqual(["one", "You said: one", "two", "You said: two"]);
	});
});

describe("a question", () => {
	const card = () => transcript(page).getByRole("article", { name: "delete_files" });
	const decided = (words: string) => transcript(page).locator("summary").filter({ hasText: words });
	const reason = () => transcript(page).getByText("“not today”");

	/** The id of the waiting one. */
	async function questionIn(conversation: string): Promise<string> {
		const { body } = await keryx.client.confirm("GET", "/confirm?status=pending");
		const { confirmations } = body as { confirmations: { id: string; conversation: string }[] };
		const found = confirmations.find((one) => one.conversation === conversation);
		expect(found).toBeDefined();
		return found?.id ?? "";
	}

	test("waits with a countdown, is answered where it stands, and says who answered, live and after a reload", async () => {
		await open();
		await write(page, "delete the beds");
		await card()
			.getByText(/\d+:\d\d left/)
			.waitFor();
		await card().getByRole("code").filter({ hasText: "rm -rf ./beds" }).waitFor();
		const call = transcript(page).locator("details").filter({ hasText: "terminal" }).first();
		await call.locator("summary").getByText("Waiting").waitFor();
		expect(await transcript(page).getByText("/approve").count()).toBe(0);
		await page.reload();
		const listed = page.getByRole("navigation", { name: "List of conversations" }).getByRole("link");
		// A page that is still loading may close a menu again.
		await listed.first().waitFor();
		await card().getByRole("button", { name: "Approve" }).waitFor();
		await button("Which conversations to show").click();
		await page.getByRole("menuitemradio", { name: "Waiting for me" }).click();
		await soon(() => listed.count()).toBe(1);
		await card().getByRole("button", { name: "Approve" }).click();
		await page.getByText("Nothing is waiting for you").waitFor();
		await button("Show all").click();
		await decided("It was approved by you and has been used.").waitFor();
		await soon(() => call.locator("summary").textContent()).toMatch(/done$/);
		await page.reload();
		await decided("It was approved by you and has been used.").waitFor();
		expect(await card().count()).toBe(0);
	});

	test("that is answered elsewhere, or by no, shows that", async () => {
		const conversation = await open();
		await write(page, "delete the beds");
		await card().getByRole("button", { name: "Deny" }).click();
		await decided("It was denied by you.").waitFor();
		await write(page, "delete the beds again");
		await card().getByRole("button", { name: "Deny" }).waitFor();
		const id = await questionIn(conversation);
		expect((await keryx.client.confirm("POST", `/confirm/${id}/deny`, { reason: "not today" })).status).toBe(
			200,
		);
		// What is drawn anew under the pointer has to be clicked again.
		await eventually(async () => {
			if (!(await reason().isVisible())) await decided("It was denied by the operator.").click();
			expect(await reason().isVisible()).toBe(true);
		});
	});

	test("that was unfolded stays so when the event of its row comes late, and when it is drawn again", async () => {
		const chat = `chat ${++chats}`;
		const conversation = await tell(keryx, chat, "good day");
		const other = await tell(keryx, `chat ${++chats}`, "elsewhere");
		const { page, context, leave } = await takeSeat(browser, keryx, { path: `/c/${other}`, alone: true });
		await context.addInitScript(HELD_EVENTS);
		await page.reload();
		const visit = async (which: string, first: string) => {
			const list = page.getByRole("navigation", { name: "List of conversations" });
			await list.locator(`a[href="/c/${which}"]`).click();
			await message(page, first).first().waitFor();
		};
		const decided = transcript(page).locator("summary").filter({ hasText: "It was denied by the operator." });
		const reason = transcript(page).getByText("“not today”");
		await message(page, "elsewhere").waitFor();
		await page.getByRole("status", { name: "Connection: Live" }).waitFor();
		await page.evaluate("holdEvents()");
		await tell(keryx, chat, "delete the beds");
		const id = await eventually(() => questionIn(conversation));
		await keryx.client.confirm("POST", `/confirm/${id}/deny`, { reason: "not today" });
		// The page reads the rows before it hears of them.
		await visit(conversation, "delete the beds");
		await decided.click();
		await reason.waitFor();
		await page.evaluate("letEventsGo()");
		await tell(keryx, chat, "and now?");
		await answer(page, "You said: and now?").waitFor();
		expect(await reason.isVisible()).toBe(true);
		await visit(other, "elsewhere");
		await visit(conversation, "delete the beds");
		await decided.waitFor();
		expect(await reason.isVisible()).toBe(true);
		await leave();
	});
});

/** Lets a test hold back what the page hears. */
const HELD_EVENTS = `
	let held = Promise.resolve();
	globalThis.holdEvents = () => {
		held = new Promise((resolve) => {
			globalThis.letEventsGo = resolve;
		});
	};
	const plain = fetch;
	globalThis.fetch = async (address, options) => {
		const response = await plain(address, options);
		if (!response.body || !String(address).startsWith("/events")) return response;
		const gate = new TransformStream({
			transform: async (piece, out) => {
				await held;
				out.enqueue(piece);
			},
		});
		return new Response(response.body.pipeThrough(gate), response);
	};
`;

describe("sessions", () => {
	test("end with a divider that says why, and the one before can be continued", async () => {
		const conversation = await open("the plan is to sail");
		await button("More actions for this conversation").click();
		await page.getByRole("menuitem", { name: "New session" }).click();
		const divider = transcript(page).getByRole("region", { name: "Session boundary" });
		await divider.getByText("New session. The previous one ended because you asked for a new one.").waitFor();
		await write(page, "what was the plan?");
		await answer(page, "what was the plan?").waitFor();
		await divider.getByRole("button", { name: "Continue the previous session" }).click();
		await divider.getByText("Continued").last().waitFor();
		await write(page, "and on we go");
		await answer(page, "and on we go").waitFor();
		const { live_session } = await keryx.client.conversation({ conversation });
		const { messages } = await keryx.client.transcript({ session: live_session ?? "" });
		expect(messages.map(({ content }) => content)).toContain("the plan is to sail");
	});

	test("are as long as the gauge says; more can be allowed, and at the limit the next one begins", async () => {
		const conversation = await open("one of eight");
		await button(/^2 \/ 8 messages, 6 left/).waitFor();
		await write(page, "two of eight");
		await button(/^4 \/ 8 messages/).click();
		await page.getByRole("menuitem", { name: "Allow 50 more" }).click();
		await button(/^4 \/ 58 messages, 54 left/).waitFor();
		const full = await tell(keryx, "full", "1");
		for (const text of ["2", "3"]) await tell(keryx, "full", text);
		await page.goto(`${keryx.url}/c/${full}`);
		await button(/^6 \/ 8 messages/).waitFor();
		await write(page, "the last");
		await answer(page, "You said: the last").waitFor();
		await transcript(page)
			.getByRole("region", { name: "Session boundary" })
			.getByText("New session. The previous one ended at its message limit.")
			.waitFor();
		expect(conversation).not.toBe(full);
	});
});

function idOf(route: Route): unknown {
	return (route.request().postDataJSON() as { client_message_id: string }).client_message_id;
}

/** The next request there is held until it is let go. */
function holding(pattern: string): Promise<{ resume(): void }> {
	return new Promise((resolve) => {
		void page.route(
			pattern,
			async (route) => {
				await new Promise<void>((resume) => resolve({ resume }));
				await route.continue();
			},
			{ times: 1 },
		);
	});
}

/** So near is at the end. */
const END = 49;
const DISTANCE = `(() => {
	const { scrollHeight, scrollTop, clientHeight } = document.querySelector('section[aria-label="Transcript"]');
	return scrollHeight - scrollTop - clientHeight;
})()`;

/** How far the transcript is from its end. */
function fromEnd(): Promise<number> {
	return page.evaluate(DISTANCE) as Promise<number>;
}
