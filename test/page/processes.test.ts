// Background processes in a real browser: the list, a terminal that is typed into, a cut connection, the end.
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
let seat: Seat;

const PROMPT = `printf 'ready\\n'; while read line; do echo "got <$line>"; stty size; done`;

/** "pty: <command>" and "pipe: <command>" start one in the background. */
const COMMANDS: readonly (readonly [string, object])[] = [
	["a prompt", { command: PROMPT, pty: true }],
	["a cat", { command: "exec cat" }],
	["a sleeper", { command: "echo zzz; exec sleep 1000" }],
	["a failure", { command: "echo it broke >&2; exit 4" }],
	["a moment", { command: "echo quick", background: false }],
	[
		"colours",
		{
			command:
				"for c in 31 32 33 34 35 36 90 91 92; do printf '\\033[%sm colour %s \\033[1mbold\\033[0m\\n' $c $c; done; printf 'building \\033[32mok\\033[0m\\n'; exec sleep 1000",
			pty: true,
		},
	],
];

beforeAll(async () => {
	const script = {
		rules: COMMANDS.map(([when, input]) => ({
			when,
			steps: [
				{ tools: [{ name: "terminal", input: { background: true, notify: "none", ...input } }] },
				{ text: "started" },
			],
		})),
		otherwise: [{ text: "ok" }],
	};
	[keryx, browser] = await Promise.all([openKeryx({ script }), openBrowser()]);
	seat = await takeSeat(browser, keryx, { viewport: { width: 1280, height: 800 } });
});
afterAll(async () => {
	await seat?.leave(/404 \(Not Found\)/);
	await browser?.close();
	const { processes } = await keryx.client.processes({});
	await Promise.all(processes.map(({ id }) => keryx.client.killProcess({ id, grace_seconds: 0 })));
	await keryx?.close();
});

/** The same seat, at another place. */
async function sit(path: string): Promise<Page> {
	await seat.page.unrouteAll();
	await seat.page.goto(`${keryx.url}${path}`);
	return seat.page;
}

let said = 0;

/** Has the agent start one, and answers its id. */
async function start(which: string): Promise<string> {
	const { id } = await keryx.client.send({
		text: which,
		client_message_id: `start ${said++}`,
		source: { platform: "web", chat_id: "page", chat_type: "dm", user_id: "1", chat_name: "Workshop" },
	});
	await keryx.client.inbound({ id, wait: 30 });
	const { processes } = await keryx.client.processes({ which: "all", limit: 1 });
	return processes[0]?.id ?? "";
}

const screen = (page: Page) => page.getByRole("region", { name: "Terminal" });
const shown = async (page: Page) =>
	(await screen(page).locator(".xterm-rows > div").allTextContents()).join("\n");
const shows = (page: Page, text: RegExp) => soon(() => shown(page)).toMatch(text);

describe("the processes", () => {
	test("are listed as they start and end, those that run first", async () => {
		const page = await sit("/processes");
		await page.getByText("No processes").waitFor();
		const id = await start("a sleeper");
		const rows = page.getByRole("table", { name: "Processes" }).getByRole("row");
		await rows.filter({ hasText: "exec sleep 1000" }).getByText("Running").waitFor();
		await start("a failure");
		await rows.filter({ hasText: "Exited 4" }).waitFor();
		const order = await rows.allTextContents();
		expect(order.map((text) => /Running|Exited 4/.exec(text)?.[0])).toEqual([
			undefined,
			"Running",
			"Exited 4",
		]);
		await keryx.client.killProcess({ id, grace_seconds: 0 });
		await rows.filter({ hasText: "exec sleep 1000" }).getByText("Killed", { exact: true }).waitFor();
		expect(await rows.filter({ hasText: "Running" }).count()).toBe(0);
	});

	test("commands that a turn waits for stand behind a filter", async () => {
		await start("a moment");
		await start("a failure");
		const page = await sit("/processes");
		const rows = page.getByRole("table", { name: "Processes" }).getByRole("row");
		await rows.filter({ hasText: "Exited 4" }).first().waitFor();
		expect(await rows.filter({ hasText: "echo quick" }).count()).toBe(0);
		await page.getByRole("checkbox", { name: "Include foreground commands" }).check();
		await rows.filter({ hasText: "echo quick" }).first().waitFor();
	});

	test("a program on a terminal takes what is typed, and has the size of the window", async () => {
		const id = await start("a prompt");
		const page = await sit(`/processes/${id}`);
		await shows(page, /ready/);
		await screen(page).locator("textarea").focus();
		await page.keyboard.type("hello");
		await page.keyboard.press("Enter");
		await shows(page, /got <hello>\s+\d+ \d+/);
		const [, rows, cols] = /got <hello>\s+(\d+) (\d+)/.exec(await shown(page)) ?? [];
		expect([Number(rows) > 30, Number(cols) > 120]).toEqual([true, true]);
		await page.setViewportSize({ width: 700, height: 500 });
		await soon(async () => {
			await page.keyboard.type("again");
			await page.keyboard.press("Enter");
			return [...(await shown(page)).matchAll(/got <again>\s+\d+ (\d+)/g)].some(
				([, width]) => Number(width) < 100,
			);
		}).toBe(true);
		await page.keyboard.press("Control+]");
		expect(await screen(page).locator(":focus").count()).toBe(0);
		await page.keyboard.press("g");
		await page.keyboard.press("p");
		await page.getByRole("heading", { name: "Processes" }).waitFor();
		await page.setViewportSize({ width: 1280, height: 800 });
	});

	test("a program on pipes takes lines, and the end of its input ends it", async () => {
		const id = await start("a cat");
		const page = await sit(`/processes/${id}`);
		const line = page.getByRole("textbox", { name: "Send it a line of input" });
		await line.fill("one line");
		await line.press("Enter");
		await shows(page, /one line/);
		await soon(() => line.inputValue()).toBe("");
		await page.getByRole("button", { name: "Close input" }).click();
		await page.getByText("Exited 0").waitFor();
		await page.getByText("exited", { exact: true }).waitFor();
		expect(await page.getByRole("button", { name: "Kill" }).count()).toBe(0);
	});

	test("a terminal that was cut off goes on where it was, each byte once", async () => {
		const id = await start("a cat");
		const page = await seat.tab("/processes");
		let cut = () => {};
		const opened: string[] = [];
		await page.routeWebSocket(/\/terminal/, (socket) => {
			opened.push(new URL(socket.url()).search);
			const server = socket.connectToServer();
			cut = () => {
				void server.close();
				void socket.close({ code: 3000, reason: "cut" });
			};
		});
		await page.getByRole("link", { name: "exec cat" }).first().click();
		await keryx.client.processInput({ id, data: "before\n" });
		await shows(page, /before/);
		cut();
		await soon(() => opened.length).toBe(2);
		await keryx.client.processInput({ id, data: "after\n" });
		await shows(page, /before\s+after/);
		expect((await shown(page)).match(/before/g)).toHaveLength(1);
		expect(opened).toEqual(["", "?from=7"]);
		await page.close();
		await keryx.client.killProcess({ id, grace_seconds: 0 });
	});

	test("are killed after a question, and say how they ended", async () => {
		const id = await start("a sleeper");
		const page = await sit(`/processes/${id}`);
		await shows(page, /zzz/);
		await page.getByRole("button", { name: "Kill" }).click();
		const dialog = page.getByRole("dialog", { name: "Kill this process?" });
		await dialog.getByText("exec sleep 1000").waitFor();
		await dialog.getByRole("button", { name: "Cancel" }).click();
		expect((await keryx.client.process({ id })).state).toBe("running");
		await page.getByRole("button", { name: "Kill" }).click();
		await dialog.getByRole("button", { name: "Kill", exact: true }).click();
		await page.getByText("Killed", { exact: true }).waitFor();
		await dialog.waitFor({ state: "detached" });
		expect((await keryx.client.process({ id })).state).toBe("killed");
		await shows(page, /zzz/);
	});

	test("one that is not there is said to be so", async () => {
		const page = await sit("/processes/proc_000000000000");
		await page.getByText("There is no such process").waitFor();
	});
});

describe("how it looks", () => {
	const look: Look = (name, path, see) => lookAt({ browser, keryx, seat }, name, path, see);

	let coloured = "";
	beforeAll(async () => {
		coloured = await start("colours");
	});

	for (const name of LOOK_NAMES)
		test(`list and terminal are sound for those who cannot see them or use a mouse: ${name}`, async () => {
			await look(name, "/processes", async (page) => {
				await page.getByRole("table", { name: "Processes" }).waitFor();
				expect(await axeFindings(page)).toEqual([]);
				await screenshot(page, `processes-${name}`);
				await page.goto(`${keryx.url}/processes/${coloured}`);
				await shows(page, /building ok/);
				expect(await axeFindings(page)).toEqual([]);
				await screenshot(page, `process-${name}`);
			});
		});
});
