// The page in a real Chromium: how long from the commit of a message until its text stands in an open conversation, and how much a
// browser loads before it sees its first view.
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../test/page/chromium.ts";
import { atMost, measured, type Row } from "./harness.ts";
import { type BenchServer, makeStore, startServer } from "./http.ts";

const MESSAGES = 200;
const WARM_UP = 10;
/** For the rest of a turn, which is drawn, too. */
const PAUSE_MS = 50;
/** After that, the bench ends and says what it waited for. */
const LONGEST_MS = 15_000;
const LATENCY_BAR_MS = 100;
const FIRST_VIEW_BAR_KB = 250;

export async function measurePage(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const secret = randomBytes(32).toString("base64url");
	let server: BenchServer | undefined;
	let browser: Browser | undefined;
	try {
		await makeStore(folder);
		server = await startServer("keryx", folder, secret);
		browser = await launchBrowser();
		const { page, first } = await open(browser, server);
		const { files, data } = await firstView(page, `http://127.0.0.1:${server.port}${first}`);
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
		await browser?.close();
		if (server?.process.kill("SIGKILL")) await once(server.process, "close");
		rmSync(folder, { recursive: true, force: true });
	}
}

async function open(
	browser: Browser,
	{ login }: BenchServer,
): Promise<{ readonly page: Page; readonly first: string }> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	// The link alone: what the page loads is counted from its first view on.
	const { location = "/" } = (await context.request.get(login, { maxRedirects: 0 })).headers();
	return { page: await context.newPage(), first: location };
}

/** Bytes of all answers, headers too, until the list is drawn with its own font. */
async function firstView(
	page: Page,
	first: string,
): Promise<{ readonly files: number; readonly data: number }> {
	const network = await page.context().newCDPSession(page);
	const types = new Map<string, string>();
	const bytes = { files: 0, data: 0 };
	network.on("Network.responseReceived", ({ requestId, type }) => void types.set(requestId, type));
	network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
		bytes[types.get(requestId) === "Fetch" ? "data" : "files"] += encodedDataLength;
	});
	await network.send("Network.enable");
	await page.goto(first);
	await page.getByRole("navigation", { name: "List of conversations" }).getByRole("link").first().waitFor();
	await page.evaluate("document.fonts.ready.then(() => undefined)");
	await network.detach();
	return bytes;
}

/** Sorted, in milliseconds. */
async function commitToScreen(page: Page, server: BenchServer): Promise<number[]> {
	const shown = await watchMessages(page);
	const { conversation } = await say(server, "aloud");
	await page.goto(`http://127.0.0.1:${server.port}/c/${conversation}`);
	await shown("aloud");
	const latencies: number[] = [];
	for (let n = 0; n < MESSAGES + WARM_UP; n++) {
		const text = `aloud ${n}`;
		const { at } = await say(server, text);
		const latency = (await shown(text)) - at;
		if (n >= WARM_UP) latencies.push(latency);
		await delay(PAUSE_MS);
	}
	return latencies.sort((a, b) => a - b);
}

/**
 * Watches every document that the page opens from now on. The answer waits for a message with exactly this text and resolves with the time
 * of the first frame that has it inside the window, or fails with what the page shows instead.
 */
async function watchMessages(page: Page): Promise<(text: string) => Promise<number>> {
	const times = new Map<string, number>();
	const drawn = new EventEmitter();
	const complaints: string[] = [];
	page.on("console", (message) => void complaints.push(message.text()));
	page.on("pageerror", ({ message }) => void complaints.push(message));
	await page.exposeFunction("tellShown", (text: string, at: number) => {
		if (!times.has(text)) times.set(text, at);
		drawn.emit("message");
	});
	await page.addInitScript(`{
		const known = new WeakSet();
		const inWindow = new IntersectionObserver((entries) => {
			const at = performance.timeOrigin + performance.now();
			for (const { target, isIntersecting } of entries)
				if (isIntersecting) {
					inWindow.unobserve(target);
					tellShown(target.textContent, at);
				}
		}, { threshold: 0.9 });
		new MutationObserver(() => {
			for (const text of document.querySelectorAll('section[aria-label="Transcript"] article[aria-label="Message"] .prose'))
				if (!known.has(text)) {
					known.add(text);
					inWindow.observe(text);
				}
		}).observe(document, { childList: true, subtree: true });
	}`);
	return async (text) => {
		const signal = AbortSignal.timeout(LONGEST_MS);
		for (;;) {
			const at = times.get(text);
			if (at !== undefined) return at;
			await once(drawn, "message", { signal }).catch(async () => {
				const visible = await page.evaluate("(document.querySelector('main') ?? document.body).innerText");
				throw new Error(
					`"${text}" was not on the screen within ${LONGEST_MS / 1000} s. ${page.url()} shows:\n${visible}\nIts console says:\n${complaints.join("\n")}`,
				);
			});
		}
	};
}

interface Said {
	readonly conversation: string;
	/** When it was committed, by the clock on the wall: the browser's begins elsewhere than ours. */
	readonly at: number;
}

async function say(server: BenchServer, text: string): Promise<Said> {
	const answered = once(server.process, "message", { signal: AbortSignal.timeout(LONGEST_MS) });
	server.process.send({ say: text });
	const [said] = (await answered.catch(() => {
		throw new Error(`the server did not commit "${text}" within ${LONGEST_MS / 1000} s`);
	})) as [Said];
	return said;
}
