// Checkpoints in a real browser: the timeline, what differs, going back and undoing that.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { soon } from "../support/soon.ts";
import { LOOK_NAMES, type Look, lookAt } from "./looks.ts";
import {
	axeFindings,
	type Keryx,
	openBrowser,
	openKeryx,
	type Seat,
	screenshot,
	takeSeat,
} from "./support.ts";

let keryx: Keryx;
let browser: Browser;
let conversation = "";
let workspace = "";
let seat: Seat;

const WORK: readonly (readonly [string, string])[] = [
	[
		"begin",
		"printf 'one\\ntwo\\nthree\\n' > notes.txt; printf 'keep me\\n' > plan.txt; printf '\\000\\001' > logo.bin",
	],
	[
		"go on",
		"printf 'one\\n2\\nthree\\nfour\\n' > notes.txt; printf 'new\\n' > added.txt; printf '\\000\\002' > logo.bin",
	],
	["much", "seq 1 5000 > long.txt"],
];

beforeAll(async () => {
	const script = {
		rules: WORK.map(([when, command]) => ({
			when,
			steps: [{ tools: [{ name: "terminal", input: { command } }] }, { text: "done" }],
		})),
		otherwise: [{ text: "ok" }],
	};
	[keryx, browser] = await Promise.all([openKeryx({ script }), openBrowser()]);
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 800 } });
	conversation = await say("begin");
	({ workspace } = await keryx.client.checkpoints({ conversation }));
});
afterAll(async () => {
	await seat?.leave();
	await browser?.close();
	await keryx?.close();
});

let said = 0;
async function say(text: string, chat = "desk"): Promise<string> {
	const sent = await keryx.client.send({
		text,
		client_message_id: `say ${said++}`,
		source: { platform: "web", chat_id: chat, chat_type: "dm", user_id: "1", user_name: "Ada" },
	});
	await keryx.client.inbound({ id: sent.id, wait: 30 });
	return sent.conversation ?? "";
}

/** The same seat, at another place. */
async function sit(path: string): Promise<Page> {
	await seat.page.unrouteAll();
	await seat.page.goto(`${keryx.url}${path}`);
	return seat.page;
}

const timeline = (page: Page) => page.getByRole("navigation", { name: "Checkpoints" }).getByRole("link");
const files = (page: Page) => page.getByRole("navigation", { name: "Changed files" }).getByRole("link");
const read = (name: string) => readFileSync(join(workspace, name), "utf8");
/** Of the checkpoint that was taken before the last turn that changed something. */
async function lastBefore(): Promise<string> {
	const { checkpoints } = await keryx.client.checkpoints({ conversation });
	return checkpoints[1]?.id ?? "";
}

describe("the checkpoints", () => {
	test("come into the timeline as the agent changes files, and each file's lines are shown", async () => {
		const page = await sit("/checkpoints");
		await timeline(page).first().waitFor();
		const had = await timeline(page).count();
		await say("go on");
		await soon(() => timeline(page).count()).toBe(had + 1);
		await timeline(page).nth(1).click();
		await soon(() => files(page).allTextContents()).toHaveLength(3);
		const diff = page.getByRole("region", { name: "Changes to notes.txt" });
		await files(page).filter({ hasText: "notes.txt" }).click();
		await diff.waitFor();
		await expect(diff.textContent()).resolves.toMatch(/-two[\s\d]*\+2[\s\d]*three[\s\d]*\+four/);
		await files(page).filter({ hasText: "logo.bin" }).click();
		await page.getByText("Not a text file").waitFor();
	});

	test("are compared with one another, the older one first", async () => {
		const page = await sit(`/checkpoints?conversation=${conversation}`);
		await page.getByText("No differences").waitFor();
		await page.getByRole("combobox", { name: "Compared with" }).selectOption({ label: "the previous one" });
		await files(page).filter({ hasText: "added.txt" }).click();
		await page.getByRole("region", { name: "Changes to added.txt" }).getByText("new").waitFor();
		expect(new URL(page.url()).searchParams.get("with")).toBe(await lastBefore());
	});

	test("a long difference is drawn where one looks", async () => {
		const elsewhere = await say("much", "long");
		const page = await sit(`/checkpoints?conversation=${elsewhere}`);
		await timeline(page).first().click();
		await page.getByRole("combobox", { name: "Compared with" }).selectOption({ label: "the previous one" });
		const diff = page.getByRole("region", { name: "Changes to long.txt" });
		await diff.getByText("1", { exact: true }).first().waitFor();
		expect(await diff.locator("[data-index]").count()).toBeLessThan(400);
		await diff.evaluate((one) => one.scrollTo({ top: one.scrollHeight }));
		await soon(() => diff.textContent()).toContain("+5000");
	});

	test("one file is restored after its plan and a question, and that is undone", async () => {
		const page = await sit(
			`/checkpoints?conversation=${conversation}&id=${await lastBefore()}&file=notes.txt`,
		);
		await page.getByRole("button", { name: "Restore this file" }).click();
		const plan = page.getByRole("dialog", { name: "Preview of the restore" });
		await plan.getByRole("region", { name: "Will be restored" }).getByText("notes.txt").waitFor();
		await plan.getByRole("button", { name: "Continue" }).click();
		const sure = page.getByRole("dialog", { name: "Restore this file?" });
		await sure.getByText("1 file will be restored.").waitFor();
		expect(read("notes.txt")).toBe("one\n2\nthree\nfour\n");
		await sure.getByRole("button", { name: "Restore now" }).click();
		const report = page.getByRole("dialog", { name: "Restored" });
		await report.getByRole("region", { name: "Restored" }).getByText("notes.txt").waitFor();
		expect([read("notes.txt"), existsSync(join(workspace, "added.txt"))]).toEqual([
			"one\ntwo\nthree\n",
			true,
		]);
		await report.getByRole("button", { name: "Undo this restore" }).click();
		await page.getByRole("dialog", { name: "The restore was undone" }).waitFor();
		expect(read("notes.txt")).toBe("one\n2\nthree\nfour\n");
	});

	test("a restore of all says what goes back, what goes, and what a person's edit keeps, unless forced", async () => {
		const { checkpoints } = await keryx.client.checkpoints({ conversation });
		const id = checkpoints.findLast(({ kind }) => kind === "after")?.id ?? "";
		writeFileSync(join(workspace, "plan.txt"), "mine now\n");
		const page = await sit(`/checkpoints?conversation=${conversation}&id=${id}`);
		await page.getByRole("button", { name: "Restore", exact: true }).click();
		const plan = page.getByRole("dialog", { name: "Preview of the restore" });
		await plan
			.getByRole("region", { name: /^Will be restored/ })
			.getByText("notes.txt")
			.waitFor();
		await plan
			.getByRole("region", { name: /^Will be removed/ })
			.getByText("added.txt")
			.waitFor();
		const kept = plan.getByRole("region", { name: "Will be left alone" });
		await kept.getByText("someone other than the agent has changed it since").waitFor();
		await screenshot(page, "checkpoints-plan-light");
		expect(await axeFindings(page)).toEqual([]);
		await plan.getByRole("checkbox").check();
		await kept.waitFor({ state: "detached" });
		await plan.getByRole("checkbox").uncheck();
		await kept.waitFor();
		await plan.getByRole("button", { name: "Continue" }).click();
		await page.getByRole("button", { name: "Restore now" }).click();
		const report = page.getByRole("dialog", { name: "Restored" });
		await report
			.getByText("2 files will be restored, 1 file will be removed, 1 file will be left alone.")
			.waitFor();
		expect([read("notes.txt"), read("plan.txt")]).toEqual(["one\ntwo\nthree\n", "mine now\n"]);
		expect(existsSync(join(workspace, "added.txt"))).toBe(false);
		await report.getByRole("button", { name: "Undo this restore" }).click();
		await page.getByRole("dialog", { name: "The restore was undone" }).waitFor();
		expect([read("notes.txt"), read("added.txt")]).toEqual(["one\n2\nthree\nfour\n", "new\n"]);
	});

	test("one is taken by hand, and where nothing has changed that is said", async () => {
		const page = await sit(`/checkpoints?conversation=${conversation}`);
		writeFileSync(join(workspace, "draft.txt"), "a draft\n");
		await page.getByRole("button", { name: "Take a checkpoint" }).click();
		const dialog = page.getByRole("dialog", { name: "Take a checkpoint" });
		await dialog.getByRole("textbox").fill("with my draft");
		await dialog.getByRole("button", { name: "Save" }).click();
		await timeline(page).filter({ hasText: "with my draft" }).waitFor();
		await page.getByRole("button", { name: "Take a checkpoint" }).click();
		await dialog.getByRole("button", { name: "Save" }).click();
		await dialog.getByText(/Nothing has changed since the last checkpoint/).waitFor();
	});

	test("a conversation without any says so", async () => {
		const quiet = await say("hello", "quiet");
		const page = await sit(`/checkpoints?conversation=${quiet}`);
		await page.getByText("No checkpoints of this folder yet").waitFor();
		await page.getByRole("combobox").selectOption(conversation);
		await timeline(page).first().waitFor();
	});
});

describe("how it looks", () => {
	const look: Look = (name, path, see) => lookAt({ browser, keryx, seat }, name, path, see);

	beforeAll(async () => {
		await say("go on");
	});

	for (const name of LOOK_NAMES)
		test(`timeline and comparison are sound for those who cannot see them or use a mouse: ${name}`, async () => {
			const { checkpoints } = await keryx.client.checkpoints({ conversation });
			const id = checkpoints.findLast(({ kind }) => kind === "after")?.id ?? "";
			await look(name, `/checkpoints?conversation=${conversation}`, async (page) => {
				await timeline(page).first().waitFor();
				if (name === "phone") await screenshot(page, "checkpoints-timeline-phone");
				expect(await axeFindings(page)).toEqual([]);
				await page.goto(`${keryx.url}/checkpoints?conversation=${conversation}&id=${id}&file=notes.txt`);
				await page.getByRole("region", { name: "Changes to notes.txt" }).waitFor();
				expect(await axeFindings(page)).toEqual([]);
				await screenshot(page, `checkpoints-${name}`);
			});
		});
});
