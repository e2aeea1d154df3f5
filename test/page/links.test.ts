// A link shows the host it leads to, whatever its text says.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Keryx, openBrowser, openKeryx, type Seat, takeSeat } from "./support.ts";
import { answer, tell } from "./talk.ts";

const LINKS: readonly (readonly [name: string, markdown: string, leadsTo: string])[] = [
	["plain text", "[the bank](https://evil.example/a)", "evil.example"],
	["another host", "[https://bank.example](https://evil.example)", "evil.example"],
	["its host in the query", "[https://bank.example/?to=evil.example](https://evil.example)", "evil.example"],
	["its host as a user name", "[https://evil.example@bank.example](https://evil.example)", "evil.example"],
	["a user name before it", "<https://bank.example@evil.example/>", "evil.example"],
	["its host as a part", "[bank.evil.example.bank.example](https://evil.example)", "evil.example"],
	["no scheme", "[bank.example](//evil.example/x)", "evil.example"],
	["a backslash", "[bank.example](/\\evil.example/x)", "127.0.0.1"],
	["bold text", "[**https://bank.example**](https://evil.example)", "evil.example"],
	["an image", "![https://bank.example](https://evil.example/pixel.png)", "evil.example"],
	["turned letters", "[\u202Eelpmaxe.knab//:sptth](https://evil.example)", "evil.example"],
	["letters that look alike", "[bank.example](https://b\u0430nk.example)", "xn--bnk-6cd.example"],
	["an address of mail", "[ada@bank.example](mailto:eve@evil.example)", "eve@evil.example"],
	["a path of Keryx", "[https://bank.example](/settings)", "127.0.0.1"],
];
const ITSELF = ["https://docs.example/a?b=c", "https://docs.example", "www.docs.example"];

let keryx: Keryx;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
	const text = [...LINKS.map(([, markdown]) => markdown), ...ITSELF].map((line) => `- ${line}`).join("\n");
	[keryx, browser] = await Promise.all([
		openKeryx({ script: { otherwise: [{ text: `Look:\n\n${text}` }] } }),
		openBrowser(),
	]);
	seat = await takeSeat(browser, keryx);
	const conversation = await tell(keryx, "links", "show me");
	await seat.page.goto(`${keryx.url}/c/${conversation}`);
	await answer(seat.page, "Look").getByRole("listitem").first().waitFor();
});

afterAll(async () => {
	await seat.leave();
	await browser.close();
	await keryx.close();
});

const item = (n: number) => answer(seat.page, "Look").getByRole("listitem").nth(n);
const textOf = async (n: number) => (await item(n).allInnerTexts()).join("").trim();

for (const [n, [name, , leadsTo]] of LINKS.entries())
	test(`a link with ${name} shows its host`, async () => {
		const shown = leadsTo === "127.0.0.1" ? new URL(keryx.url).host : leadsTo;
		expect((await textOf(n)).endsWith(` (${shown})`), await textOf(n)).toBe(true);
		const link = item(n).getByRole("link");
		expect(await link.evaluate((one) => (one as unknown as { href: string }).href)).toContain(shown);
	});

test("an address that stands there as it is says its host itself", async () => {
	for (const [n, text] of ITSELF.entries()) expect(await textOf(LINKS.length + n)).toBe(text);
});
