// An IRC network, connected from the page.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startNgircd } from "../support/ngircd.ts";
import { soon } from "../support/soon.ts";
import { axeFindings, type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";

let keryx: Keryx;
let browser: Browser;
beforeAll(async () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-irc-page-"));
	[keryx, browser] = await Promise.all([openKeryx({ home }), openBrowser()]);
});
afterAll(async () => {
	await browser.close();
	await keryx.close();
});

test("an IRC network is connected by its server and a nick, and what is wrong is said", async () => {
	const server = await startNgircd({ password: "sesame" });
	const { page, leave } = await takeSeat(browser, keryx, { path: "/channels" });
	await page.getByRole("button", { name: "Add a channel" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Platform").selectOption("irc");
	const connect = dialog.getByRole("button", { name: "Connect", exact: true });
	expect(await connect.isDisabled()).toBe(true);
	await dialog.getByLabel("Server", { exact: true }).fill("127.0.0.1");
	await dialog.getByLabel("Nick", { exact: true }).fill("keryx");
	await dialog.getByLabel("Channels", { exact: true }).fill("#one, #two");
	await dialog.getByText("More options").click();
	await dialog.getByLabel("Port", { exact: true }).fill(String(server.port));
	await dialog.getByLabel(/Encrypt the connection/).uncheck();
	expect(await axeFindings(page)).toEqual([]);
	await connect.click();
	await dialog.getByText(/does not accept the server password/).waitFor();
	await dialog.getByLabel("Server password").fill("sesame");
	await connect.click();
	await dialog.getByText("keryx on 127.0.0.1 is connected").waitFor();
	await dialog.getByRole("button", { name: "Done" }).click();
	const config = readFileSync(join(keryx.home, "config.yaml"), "utf8");
	expect(config).toContain("#two");
	expect(config).not.toContain("sesame");
	const state = async () =>
		(await keryx.client.channels()).channels.find(({ platform }) => platform === "irc")?.state;
	await soon(state).toBe("connected");
	await page.reload();
	const card = page
		.getByRole("region", { name: "Connections" })
		.getByRole("listitem")
		.filter({ hasText: "IRC" });
	await card.getByText("Connected").waitFor();
	// The attempt that was refused.
	await leave(/500/);
	await server.remove();
});
