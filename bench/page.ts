// The page in a real Chromium: how long from the commit of a message until its text stands in an open conversation, and how much a
// browser loads before it sees its first view.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../test/page/chromium.ts";
import { atMost, measured, type Row } from "./harness.ts";
import { type BenchServer, makeStore, startServer } from "./http.ts";

const MESSAGES = 200;
const WARM_UP = 10;
/** For the rest of a turn, which is drawn, too. */
const PAUSE_MS = 50;
const LATENCY_BAR_MS = 100;
const FIRST_VIEW_BAR_KB = 250;

export async function measurePage(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const secret = randomBytes(32).toString("base64url");
	await makeStore(folder);
	const server = await startServer("keryx", folder, secret);
	const browser = await openBrowser();
	try {
		const page = await open(browser, server);
		const { files, data } = await firstView(page, server);
		const latencies = await commitToScreen(page, server);
		const part = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
		const what = "message, from its commit to its text on the screen";
		return [
			measured(`${what}, p50`, part(0.5), "ms"),
			atMost(LATENCY_BAR_MS, measured(`${what}, p95`, part(0.95), "ms")),
			measured(`${what}, p99`, part(0.99), "ms"),
			atMost(FIRST_VIEW_BAR_KB, measured("first view, its files as they travel", files / 1000, "KB")),
			measured("first view, what it shows, as it travels", data / 1000, "KB"),
		];
	} finally {
		await browser.close();
		server.process.kill("SIGKILL");
		await once(server.process, "close");
		rmSync(folder, { recursive: true, force: true });
	}
}

async function open(browser: Browser, { login }: BenchServer): Promise<Page> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	// The link alone: what the page loads is counted from its first view on.
	await context.request.get(login, { maxRedirects: 0 });
	return context.newPage();
}

/** Bytes of all answers, headers too, until the list is drawn with its own font. */
async function firstView(
	page: Page,
	{ port }: BenchServer,
): Promise<{ readonly files: number; readonly data: number }> {
	const network = await page.context().newCDPSession(page);
	const types = new Map<string, string>();
	const bytes = { files: 0, data: 0 };
	network.on("Network.responseReceived", ({ requestId, type }) => void types.set(requestId, type));
	network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
		bytes[types.get(requestId) === "Fetch" ? "data" : "files"] += encodedDataLength;
	});
	await network.send("Network.enable");
	await page.goto(`http://127.0.0.1:${port}/`);
	await page.getByRole("navigation", { name: "List of conversations" }).getByRole("link").first().waitFor();
	await page.evaluate("document.fonts.ready.then(() => undefined)");
	await network.detach();
	return bytes;
}

/** Sorted, in milliseconds. */
async function commitToScreen(page: Page, server: BenchServer): Promise<number[]> {
	const { conversation } = await say(server, "aloud");
	await page.goto(`http://127.0.0.1:${server.port}/c/${conversation}`);
	await page.getByRole("article").filter({ hasText: "aloud" }).first().waitFor();
	const shown = new Map<string, (at: number) => void>();
	await page.exposeFunction("tellShown", (text: string, at: number) => shown.get(text)?.(at));
	await page.evaluate(`{
		const place = document.querySelector('section[aria-label="Transcript"]');
		const known = new Set();
		new MutationObserver(() => {
			const at = performance.timeOrigin + performance.now();
			for (const { textContent } of place.querySelectorAll('article[aria-label="Message"] .prose'))
				if (!known.has(textContent)) {
					known.add(textContent);
					tellShown(textContent, at);
				}
		}).observe(place, { childList: true, characterData: true, subtree: true });
	}`);
	const latencies: number[] = [];
	for (let n = 0; n < MESSAGES + WARM_UP; n++) {
		const text = `aloud ${n}`;
		const drawn = new Promise<number>((resolve) => shown.set(text, resolve));
		const { at } = await say(server, text);
		const latency = (await drawn) - at;
		if (n >= WARM_UP) latencies.push(latency);
		await delay(PAUSE_MS);
	}
	return latencies.sort((a, b) => a - b);
}

interface Said {
	readonly conversation: string;
	/** When it was committed, by the clock on the wall: the browser's begins elsewhere than ours. */
	readonly at: number;
}

async function say(server: BenchServer, text: string): Promise<Said> {
	server.process.send({ say: text });
	const [said] = (await once(server.process, "message")) as [Said];
	return said;
}
