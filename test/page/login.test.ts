// Getting in: by a link that works once, and not otherwise.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, type Keryx, keepKey, openBrowser, openKeryx, screenshot, takeSeat } from "./support.ts";
import { box, message, tell, write } from "./talk.ts";

let keryx: Keryx;
let browser: Browser;
let conversation: string;

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx(), openBrowser()]);
	conversation = await tell(keryx, "desk", "where are my keys?");
});

afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("a link logs in, and its code is gone from the address", async () => {
	const { page, context, leave } = await takeSeat(browser, keryx);
	await page.getByRole("link", { name: /desk/ }).waitFor();
	expect(page.url()).toBe(`${keryx.url}/`);
	const [cookie] = await context.cookies();
	expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
	// Nor does a page that is read anew need it.
	expect(await page.evaluate("location.hash")).toBe("");
	await page.reload();
	await page.getByRole("link", { name: /desk/ }).waitFor();
	await leave();
});

test("whoever is not logged in is told what to do, and sees nothing else", async () => {
	const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
	const page = await context.newPage();
	for (const path of ["/", `/c/${conversation}`, "/settings"]) {
		await page.goto(`${keryx.url}${path}`);
		await page.getByRole("heading", { name: "You are not logged in" }).waitFor();
		await page.getByText("keryx link").waitFor();
		expect(await page.locator("body").textContent()).not.toContain("keys");
	}
	expect(await axeFindings(page)).toEqual([]);
	await screenshot(page, "logged-out-phone");
	await context.close();
});

test("a link that was used, or is too old, or is none logs nobody in and says so", async () => {
	const used = keryx.link();
	await (await takeSeat(browser, { url: keryx.url, link: () => used })).leave();
	const refusals = [
		[used, "this login link was already used"],
		[linkOf(Date.now() - 1), "this login link has expired"],
		[`${keryx.url}/login?code=open`, "this login link is not from this Keryx"],
	] as const;
	const context = await browser.newContext();
	const page = await context.newPage();
	for (const [link, why] of refusals) {
		await page.goto(link);
		await page.getByText(why).waitFor();
		await page.getByText("keryx link").waitFor();
	}
	await page.getByRole("link", { name: "go on to the page" }).click();
	await page.getByRole("heading", { name: "You are not logged in" }).waitFor();
	expect(await context.cookies()).toEqual([]);
	await context.close();
});

test("a login that is revoked ends at once, on a page that is open", async () => {
	const { page, leave } = await takeSeat(browser, keryx, { path: `/c/${conversation}` });
	await message(page, "where are my keys?").waitFor();
	const { tokens } = await keryx.client.tokens({});
	for (const { name } of tokens) if (name.startsWith("page-")) await keryx.client.revokeToken({ name });
	await page.getByRole("heading", { name: "You are not logged in" }).waitFor();
	await leave(/401/);
});

test("a reader reads everything, and is told that writing is not allowed", async () => {
	const { token } = await keryx.client.createToken({ name: "reader", role: "reader" });
	const context = await browser.newContext();
	const { port } = new URL(keryx.url);
	await context.addCookies([{ name: `keryx_${port}`, value: token, url: keryx.url }]);
	const key = createHmac("sha256", secret()).update(`page.${port}.${token}`).digest("base64url");
	await keepKey(context, keryx.url, key);
	const page = await context.newPage();
	await page.goto(`${keryx.url}/c/${conversation}`);
	await message(page, "where are my keys?").waitFor();
	const before = await keryx.client.conversation({ conversation });
	await write(page, "may I?");
	const refused = message(page, "may I?");
	await refused.getByRole("alert").waitFor();
	expect(await refused.getByRole("alert").textContent()).toMatch(/role|may not|allow/i);
	expect(await box(page).isVisible()).toBe(true);
	expect(await keryx.client.conversation({ conversation })).toEqual(before);
	await context.close();
});

/** As Keryx would have made one that ends then. */
function linkOf(until: number): string {
	const nonce = "abcdefghijkl";
	const signature = createHmac("sha256", secret()).update(`login.${nonce}.${until}`).digest("base64url");
	return `${keryx.url}/login?code=${nonce}.${until}.${signature}`;
}

function secret(): string {
	return readFileSync(join(keryx.home, "operator.secret"), "utf8").trim();
}
