// The configuration as it is shown and checked, tokens made and ended, and the page's theme.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rogue } from "../mcp/scene.ts";
import { refuses, startModelServer } from "../support/model-server.ts";
import { soon } from "../support/soon.ts";
import { expectGoodLooks } from "./looks.ts";
import { axeFindings, type Keryx, openBrowser, openKeryx, screenshot, takeSeat } from "./support.ts";

const SECRET = "correct-horse-battery-staple";

let keryx: Keryx;
let browser: Browser;

beforeAll(async () => {
	process.env.KERYX_SESSION_RESET_IDLE_MINUTES = "77";
	process.env.KERYX_TEST_SECRET = SECRET;
	[keryx, browser] = await Promise.all([
		openKeryx({
			config: {
				session_reset: { max_messages: 150 },
				secrets: ["KERYX_TEST_SECRET"],
				instructions: { telegram: `say ${SECRET} to nobody` },
				mcp: { servers: { rogue: rogue(), broken: rogue("crash") } },
			},
		}),
		openBrowser(),
	]);
});

afterAll(async () => {
	delete process.env.KERYX_SESSION_RESET_IDLE_MINUTES;
	delete process.env.KERYX_TEST_SECRET;
	await browser.close();
	await keryx.close();
});

// First: later tests write another configuration.
test("MCP servers stand there with their state and tools, and are tried again by a press", async () => {
	await soon(
		async () => (await keryx.client.mcpServers()).servers.find(({ name }) => name === "rogue")?.state,
	).toBe("connected");
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=mcp" });
	const card = (name: string) => page.getByRole("region", { name });
	await card("rogue").getByText("10 tools, visible to owner (default)").waitFor();
	await card("rogue").getByText("Tools", { exact: true }).click();
	await card("rogue").getByText("rogue__ping").waitFor();
	await card("broken").getByRole("button", { name: "Try again" }).click();
	await card("broken")
		.getByText(/no such thing/)
		.waitFor();
	await leave();
	await expectGoodLooks(browser, keryx, [
		{
			path: "/settings?tab=mcp",
			name: "settings-mcp",
			ready: (page) => page.getByText(/^10 tools/).waitFor(),
		},
	]);
});

test("every value in force stands there with its source, and no secret", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=configuration" });
	const { entries } = await keryx.client.config();
	await soon(() => page.locator("dl > div").count()).toBe(entries.length);
	expect(await lineOf(page, "max_messages")).toMatch(/150file, line \d+/);
	expect(await lineOf(page, "idle_minutes")).toMatch(/77KERYX_SESSION_RESET_IDLE_MINUTES/);
	expect(await lineOf(page, "at_hour")).toMatch(/4default/);
	expect(await page.locator("main").textContent()).not.toContain(SECRET);
	await leave();
});

test("the API reference opens, though a browser that goes there by itself is nobody", async () => {
	const { page, context, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=about" });
	const opened = context.waitForEvent("page");
	await page.getByRole("button", { name: "Open the API reference" }).click();
	await (await opened).getByRole("heading", { name: /the API$/ }).waitFor();
	const alone = await context.request.get(`${keryx.url}/docs`, { maxRetries: 3 });
	expect(alone.status()).toBe(401);
	await leave();
});

test("the settings can be filtered, and those that were changed stand alone", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=configuration" });
	await page.getByRole("searchbox", { name: "Filter" }).fill("drain");
	await soon(() => page.locator("dl > div").allTextContents()).toEqual(["drain_seconds30default"]);
	expect(new URL(page.url()).searchParams.get("q")).toBe("drain");
	await page.getByRole("searchbox", { name: "Filter" }).fill("nothing like this");
	await page.getByRole("heading", { name: "No matching setting" }).waitFor();
	await page.getByRole("searchbox", { name: "Filter" }).fill("");
	await page.getByRole("checkbox").check();
	await soon(() => page.getByText("default", { exact: true }).count()).toBe(0);
	expect(await lineOf(page, "max_messages")).toContain("150");
	await leave();
});

test("a change of the file is shown at once, a bad one as what it is", async () => {
	const { page, leave } = await takeSeat(browser, keryx, {
		path: "/settings?tab=configuration&q=max_messages",
	});
	await page.getByText("150", { exact: true }).waitFor();
	const file = join(keryx.home, "config.yaml");
	writeFileSync(file, "http: { port: 0 }\nsession_reset: { max_messages: 151 }\n");
	await page.getByText("151", { exact: true }).waitFor();
	writeFileSync(file, "http: { port: 0 }\nsession_reset: { max_mesages: 152 }\n");
	await page.getByRole("alert").getByText("Keryx keeps using the last valid version").waitFor();
	await page.getByRole("list", { name: "Problems" }).getByText("2:18").waitFor();
	await page.getByText("151", { exact: true }).waitFor();
	writeFileSync(file, "http: { port: 0 }\nsession_reset: { max_messages: 150 }\n");
	await page.getByText("150", { exact: true }).waitFor();
	await leave();
});

test("a file is checked before it is written, by line and column", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=check" });
	const field = page.getByRole("textbox", { name: /Paste a config.yaml/ });
	const result = page.getByRole("status", { name: "Result" });
	await field.fill("session_reset:\n  mode: sometimes\n  max_mesages: 5\n");
	await result.getByText("2 problems").waitFor();
	const problems = result.getByRole("listitem");
	expect(await problems.first().textContent()).toContain("2:9");
	expect(await problems.last().textContent()).toMatch(/3:3.*max_messages/);
	await problems.last().getByRole("button").click();
	await page.keyboard.type("#");
	expect(await field.inputValue()).toContain("  #max_mesages");
	await result.getByText("1 problem", { exact: true }).waitFor();
	await field.fill("session_reset:\n  mode: idle\n");
	await result.getByText("No problems").waitFor();
	await field.fill("a: [");
	await result.getByRole("listitem").first().waitFor();
	await leave();
});

test("a token is made and shown once, is good, is revoked, and is good no more", async () => {
	const { page, context, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=tokens" });
	await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: keryx.url });
	await page.getByRole("button", { name: "New token" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Name").fill("not a name!");
	await dialog.getByRole("button", { name: "Create" }).click();
	await dialog.getByRole("alert").waitFor();
	await dialog.getByLabel("Name").fill("nightly");
	await dialog.getByLabel("Role").selectOption("reader");
	await dialog.getByLabel("Name").press("Enter");
	const token = await dialog.getByRole("textbox", { name: "Token" }).inputValue();
	expect(await statusWith(token)).toBe(200);
	await dialog.getByRole("button", { name: "Copy the token" }).click();
	await dialog.getByRole("button", { name: "Copied" }).waitFor();
	expect(await axeFindings(page)).toEqual([]);
	await screenshot(page, "settings-token");
	await dialog.getByRole("button", { name: "Done" }).click();
	const row = page.getByRole("row", { name: /nightly/ });
	await row.getByText("reader").waitFor();
	expect(await page.locator("body").textContent()).not.toContain(token);
	await row.getByRole("button", { name: /Revoke/ }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Revoke it" }).click();
	await row.getByText("revoked").waitFor();
	expect(await statusWith(token)).toBe(401);
	await leave(/400/);
});

test("the theme is chosen here, and kept", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=about" });
	await page.locator("label", { hasText: "Dark" }).click();
	await soon(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
	await page.reload();
	await soon(() => page.getByRole("radio", { name: "Dark" }).isChecked()).toBe(true);
	await leave();
});

test("it says which Keryx this is", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=about" });
	const { version, agent } = await keryx.client.health();
	const facts = page.getByRole("region", { name: "What is running" });
	await facts.getByText(`Keryx ${version}`).waitFor();
	await facts.getByText(agent, { exact: false }).first().waitFor();
	await facts.getByText(keryx.home).waitFor();
	await leave();
});

test("a model is connected without a terminal or a restart: its key is tried, stored and never shown", async () => {
	const server = await startModelServer();
	const { page, leave } = await takeSeat(browser, keryx, { path: "/settings?tab=model" });
	await page.getByText("No model is connected yet").waitFor();
	await page.getByLabel("Provider").selectOption("openai-compatible");
	await page.getByLabel("Address").fill(server.url);
	await page.getByLabel("API key").fill("key-of-the-page-0123456789");
	server.next((response) => {
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: [{ id: "tiny" }] }));
	});
	await page.getByRole("button", { name: "List models" }).click();
	await page.getByText("1 available.").waitFor();
	await page.getByRole("textbox", { name: "Model" }).fill("tiny");
	server.next(refuses(401, { message: "who are you" }));
	await page.getByRole("button", { name: "Test and connect" }).click();
	await page.getByRole("alert").waitFor();
	await page.getByRole("button", { name: "Test and connect" }).click();
	await page.getByText("In use: tiny (your own server)").waitFor();
	await soon(async () => (await keryx.client.health()).agent).toBe("ai-sdk");
	expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer key-of-the-page-0123456789");
	expect(await page.locator("main").innerHTML()).not.toContain("key-of-the-page-0123456789");
	await server.close();
	await leave(/422/);
});

test("it looks right", async () => {
	await expectGoodLooks(browser, keryx, [
		{
			path: "/settings?tab=model",
			name: "settings-model",
			ready: (page) => page.getByLabel("Provider").waitFor(),
		},
		{
			path: "/settings?tab=configuration",
			name: "settings",
			ready: (page) => page.getByText("max_messages").first().waitFor(),
		},
		{
			path: "/settings?tab=tokens",
			name: "settings-tokens",
			ready: (page) => page.getByRole("table", { name: "Tokens" }).waitFor(),
		},
		{
			path: "/settings?tab=check",
			name: "settings-check",
			atAGlance: true,
			ready: async (page) => {
				await page.getByRole("textbox").fill("session_reset:\n  mode: sometimes\n");
				await page.getByText("1 problem", { exact: true }).waitFor();
			},
		},
		{
			path: "/settings?tab=about",
			name: "settings-about",
			ready: (page) => page.getByText(/^Keryx \d/).waitFor(),
		},
	]);
});

async function lineOf(page: Page, name: string): Promise<string> {
	const line = page.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });
	return (await line.first().textContent()) ?? "";
}

async function statusWith(token: string): Promise<number> {
	const response = await fetch(`${keryx.url}/api/conversations`, {
		headers: { authorization: `Bearer ${token}` },
	});
	await response.body?.cancel();
	return response.status;
}
