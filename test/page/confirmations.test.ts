// The queue of questions in a real browser: arriving, answered, run out of time, decided elsewhere; grants and the audit.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { apiTransport, type Client, createClient } from "../../src/http/index.ts";
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
let ci: Client;
let seat: Seat;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx(), openBrowser()]);
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 800 }, alone: true });
	const { token } = await keryx.client.createToken({ name: "ci", role: "agent" });
	ci = createClient(apiTransport(keryx.host.api, { bearer: token }));
});
afterAll(async () => {
	await seat?.leave(/409 \(Conflict\)/, /400 \(Bad Request\)/);
	await browser?.close();
	await keryx?.close();
});

/** The same seat, at another place. */
async function sit(path: string): Promise<Page> {
	await seat.page.unrouteAll();
	await seat.page.goto(`${keryx.url}${path}`);
	return seat.page;
}

/** Asked by another program; answers the id. */
async function ask(action: string, more: object = {}): Promise<string> {
	const { body } = await ci.confirm("POST", "/confirm", {
		action,
		description: `please let me ${action}`,
		...more,
	});
	return (body as { readonly id: string }).id;
}

async function statusOf(id: string): Promise<Record<string, unknown>> {
	const { body } = await keryx.client.confirm("GET", `/confirm/${id}`);
	return body as Record<string, unknown>;
}

const question = (page: Page, action: string): Locator => page.getByRole("article", { name: action });

describe("the queue of confirmations", () => {
	test("shows a question of the agent as it arrives, and runs the command once it is approved", async () => {
		const page = await sit("/confirmations");
		await page.getByText("Nothing needs your decision").waitFor();
		const { conversation } = await keryx.client.send({
			text: "run mkdir -p old/deep && rm -rf old && echo swept",
			client_message_id: "delete",
			source: { platform: "web", chat_id: "page", chat_type: "dm", user_id: "1", chat_name: "Cleaning" },
		});
		const asked = question(page, "delete_files");
		await asked.getByText("rm -rf old && echo swept").waitFor();
		await expect(asked.getByRole("link").getAttribute("href")).resolves.toBe(`/c/${conversation}`);
		await asked.getByText(/^\d:\d\d left$/).waitFor();
		await asked.getByRole("button", { name: "Approve" }).click();
		await asked.getByText(/^It was approved/).waitFor();
		await soon(async () => {
			const { hits } = await keryx.client.search({ q: "swept", role: "assistant" });
			return hits.length;
		}).toBeGreaterThan(0);
		await page.getByRole("button", { name: "Hide decided questions" }).click();
		await page.getByText("Nothing needs your decision").waitFor();
	});

	test("sends a denial with its reason, and says it only when the server has", async () => {
		const id = await ask("restart_database", { details: { host: "db1", force: true } });
		const page = await sit("/confirmations");
		const asked = question(page, "restart_database");
		let release = () => {};
		const held = new Promise<void>((resolve) => {
			release = resolve;
		});
		await page.route("**/deny", async (route) => {
			await held;
			await route.continue();
		});
		await asked.getByRole("textbox").fill("not on a Friday");
		await asked.getByRole("button", { name: "Deny" }).click();
		await soon(() => asked.getByRole("button", { name: "Deny" }).isDisabled()).toBe(true);
		expect(await asked.getByText("It was denied").count()).toBe(0);
		expect(await statusOf(id)).toMatchObject({ status: "pending" });
		release();
		await asked.getByText("It was denied by you. “not on a Friday”").waitFor();
		expect(await statusOf(id)).toMatchObject({ status: "denied", reason: "not on a Friday" });
	});

	test("says what a question became where somebody else was faster", async () => {
		const id = await ask("rotate_logs");
		const page = await sit("/confirmations");
		const asked = question(page, "rotate_logs");
		await asked.getByRole("button", { name: "Approve" }).waitFor();
		await page.route("**/approve", async (route) => {
			await keryx.client.confirm("POST", `/confirm/${id}/deny`, { reason: "I was first" });
			await route.continue();
		});
		await asked.getByRole("button", { name: "Approve" }).click();
		await asked.getByText("It was denied by the operator. “I was first”").waitFor();
		expect(await asked.getByRole("button", { name: "Approve" }).count()).toBe(0);
		expect(await statusOf(id)).toMatchObject({ status: "denied" });
	});

	test("says that a stop cancelled it, not that the agent changed its mind", async () => {
		const page = await sit("/confirmations");
		const { conversation } = await keryx.client.send({
			text: "run mkdir -p stale && rm -rf stale",
			client_message_id: "stopped",
			source: { platform: "web", chat_id: "page", chat_type: "dm", user_id: "1", chat_name: "Cleaning" },
		});
		const asked = question(page, "delete_files").filter({ hasText: "stale" });
		await asked.getByRole("button", { name: "Approve" }).waitFor();
		await keryx.client.stop({ conversation: conversation ?? "" });
		await asked.getByText("It was cancelled, because the answer was stopped.").waitFor();
	});

	test("answers by keyboard only the question that has the focus, and only with Enter", async () => {
		const [one, two] = [await ask("first_thing"), await ask("second_thing")];
		const page = await sit("/confirmations");
		await question(page, "second_thing").waitFor();
		await page.keyboard.press("a");
		await page.keyboard.press("Enter");
		expect(await statusOf(one)).toMatchObject({ status: "pending" });
		await page.keyboard.press("j");
		await page.keyboard.press("j");
		await page.keyboard.press("d");
		expect(await statusOf(two)).toMatchObject({ status: "pending" });
		await page.keyboard.press("Enter");
		await question(page, "second_thing")
			.getByText(/^It was denied/)
			.waitFor();
		await page.keyboard.press("k");
		await page.keyboard.press("a");
		await page.keyboard.press("Enter");
		await question(page, "first_thing")
			.getByText(/^It was approved/)
			.waitFor();
		expect(await statusOf(one)).toMatchObject({ status: "approved" });
		expect(await statusOf(two)).toMatchObject({ status: "denied" });
	});

	test("shows every character of the arguments, and changes of text as a difference", async () => {
		const id = await ask("edit_file", {
			details: {
				path: "src/app.ts",
				old_string: "const a = 1;\nconst b = 2;\n",
				new_string: "const a = 1;\nconst b = 3;\n",
				command: "echo safe\u202etxt.exe",
			},
		});
		const page = await sit(`/confirmations?id=${id}`);
		const asked = question(page, "edit_file");
		await page.locator("article:focus", { hasText: "edit_file" }).waitFor();
		await asked.getByText("U+202E").waitFor();
		const diff = asked.getByRole("region", { name: "Changes to src/app.ts" });
		await diff.getByText("const b = 2;").waitFor();
		await diff.getByText("const b = 3;").waitFor();
		await expect(diff.textContent()).resolves.toMatch(/-const b = 2;[\s\d]*\+const b = 3;/);
		await keryx.client.confirm("POST", `/confirm/${id}/deny`);
	});

	test("an approval for longer becomes a grant, which is listed and revoked", async () => {
		await ask("restart_worker");
		const page = await sit("/confirmations");
		const asked = question(page, "restart_worker");
		await asked.getByRole("combobox").selectOption("always");
		await asked.getByRole("button", { name: "Approve always" }).click();
		await asked.getByText(/^It was approved/).waitFor();
		await page.getByRole("tab", { name: "Grants" }).click();
		const row = page.getByRole("row", { name: /restart_worker/ });
		await row.getByRole("button", { name: "Revoke" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
		await row.getByText("revoked", { exact: true }).waitFor();
		expect(await statusOf(await ask("restart_worker"))).toMatchObject({ status: "pending" });
	});

	test("says that what is always asked about takes no grant, and keeps the question open", async () => {
		const id = await ask("deploy_production");
		const page = await sit("/confirmations");
		const asked = question(page, "deploy_production");
		await asked.getByRole("combobox").selectOption("always");
		await asked.getByRole("button", { name: "Approve always" }).click();
		await asked
			.getByRole("alert")
			.getByText(/cannot be granted/)
			.waitFor();
		expect(await statusOf(id)).toMatchObject({ status: "pending" });
		await asked.getByRole("combobox").selectOption("once");
		await asked.getByRole("button", { name: "Approve" }).click();
		await asked.getByText(/^It was approved/).waitFor();
	});

	test("the audit lists every entry, opens what one is about, and its chain can be verified", async () => {
		const page = await sit("/confirmations?tab=audit");
		const table = page.getByRole("table", { name: "Audit" });
		await table.getByText("Grant revoked").first().waitFor();
		await page.getByRole("button", { name: "Verify the chain" }).click();
		await page.getByText(/^The chain is intact: \d+ entries\.$/).waitFor();
		await table
			.getByRole("row", { name: /restart_database/ })
			.first()
			.getByRole("button")
			.click();
		const dialog = page.getByRole("dialog", { name: "restart_database" });
		await dialog.getByText("not on a Friday").waitFor();
		await dialog.getByText("db1").waitFor();
	});
});

describe("how it looks", () => {
	const look: Look = (name, path, see) => lookAt({ browser, keryx, seat }, name, path, see);

	beforeAll(async () => {
		const granted = await ask("clear_cache");
		await keryx.client.confirm("POST", `/confirm/${granted}/approve`, { grant: { scope: "always" } });
		await ask("drop_table", {
			details: { table: "orders_2019", cascade: true, database: "postgres://db1/shop" },
			requester: "nightly job",
		});
		await keryx.client.send({
			text: "run rm -rf ./build && git push --force origin main",
			client_message_id: "looks",
			source: { platform: "web", chat_id: "page", chat_type: "dm", user_id: "1" },
		});
	});

	for (const name of LOOK_NAMES)
		test(`every tab is sound for those who cannot see it or use a mouse: ${name}`, async () => {
			await look(name, "/confirmations", async (page) => {
				for (const tab of ["Waiting", "Decided", "Grants", "Audit"]) {
					await page.getByRole("tab", { name: tab }).click();
					if (tab === "Waiting") await question(page, "drop_table").waitFor();
					else await page.getByRole("table").waitFor();
					expect(await axeFindings(page)).toEqual([]);
					await screenshot(page, `confirmations-${tab.toLowerCase()}-${name}`);
				}
			});
		});
});

describe("a question that nobody answers", () => {
	afterAll(() => vi.useRealTimers());

	test("turns to expired by itself while one looks at it", async () => {
		const page = await seat.tab("/confirmations");
		const id = await ask("too_late", { timeout_seconds: 30 });
		const asked = question(page, "too_late");
		await asked.getByText(/^0:(30|2\d) left$/).waitFor();
		// The server's clock goes on; the page learns it from the answers it gets.
		vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
		await page.clock.install({ time: Date.now() });
		// Long before the server would tell it of its own.
		await asked.getByText("Nobody answered in time, so nothing was done.").waitFor({ timeout: 15_000 });
		await asked.getByText("Expired", { exact: true }).waitFor();
		expect(await asked.getByRole("button", { name: "Approve" }).count()).toBe(0);
		expect(await statusOf(id)).toMatchObject({ status: "expired", resolved_by: "system:timeout" });
	});
});
