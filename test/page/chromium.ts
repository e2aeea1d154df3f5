// The Chromium of this machine. Files of tests that share a process share it: starting it takes as long as a test. So does a page in a
// new profile, so that the simple ones are emptied and used again.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
	type Browser,
	type BrowserContext,
	type BrowserContextOptions,
	chromium,
	type Page,
} from "playwright-core";

/** What can be put back on a page that was used. */
const SIMPLE = ["viewport", "colorScheme"];
const VIEWPORT = { width: 1280, height: 720 };

/** A page, and the profile that it is the first page of. */
export interface Opened {
	readonly context: BrowserContext;
	readonly page: Page;
	/** Closes the page's profile, or empties it for the next one. */
	close(): Promise<void>;
}

interface Kept {
	/** The options that it was opened with. */
	readonly key: string;
	readonly context: BrowserContext;
	readonly page: Page;
}

let shared: Promise<Browser> | undefined;
/** The shared one, as each file of tests has it. */
const sharing = new WeakSet<Browser>();
/** In the shared one: pages that nobody uses. */
const unused: Kept[] = [];

/** Whoever opens it closes it. One with arguments of its own is not shared. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
	if (more.length > 0) return launchBrowser(more);
	shared ??= launchBrowser();
	const browser = await shared;
	const ours = new Proxy(browser, {
		get: (target, name) => {
			if (name === "close") return () => closeContexts(target);
			const value = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
	sharing.add(ours);
	return ours;
}

/** Where there is one that was opened with the same simple options, a page that was used before. `alone` asks for a new one. */
export async function openPage(
	browser: Browser,
	{ alone, ...options }: BrowserContextOptions & { readonly alone: boolean },
): Promise<Opened> {
	const { viewport = VIEWPORT, colorScheme = "light" } = options;
	// What the worker keeps would hide what the server says; the test about it asks for it.
	const settings = { reducedMotion: "reduce", serviceWorkers: "block", ...options } as const;
	if (alone || !sharing.has(browser) || Object.keys(options).some((name) => !SIMPLE.includes(name))) {
		const context = await browser.newContext(settings);
		return { context, page: await context.newPage(), close: () => context.close() };
	}
	const key = JSON.stringify(options);
	const at = unused.findIndex((kept) => kept.key === key);
	const [kept] = at >= 0 ? unused.splice(at, 1) : [await newPage(browser, key, settings)];
	const { context, page } = kept as Kept;
	const close = async () => {
		await empty({ context, page });
		// A test may have changed them.
		await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
		if (viewport) await page.setViewportSize(viewport);
		unused.push({ key, context, page });
	};
	return { context, page, close };
}

async function newPage(browser: Browser, key: string, settings: BrowserContextOptions): Promise<Kept> {
	const context = await browser.newContext(settings);
	return { key, context, page: await context.newPage() };
}

/** As in a new profile: no cookies, no storage, no history, no rights, nothing of a test's between page and server. */
async function empty({ context, page }: Omit<Kept, "key">): Promise<void> {
	const origin = new URL(page.url()).origin;
	for (const other of context.pages()) if (other !== page) await other.close();
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await page.goto("about:blank");
	await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false)]);
	const devtools = await context.newCDPSession(page);
	if (origin !== "null") await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
	await devtools.send("Page.resetNavigationHistory");
	await devtools.detach();
}

/** All but those that wait for the next test. */
async function closeContexts(browser: Browser): Promise<void> {
	const open = browser.contexts().filter((context) => !unused.some((kept) => kept.context === context));
	await Promise.all(open.map((context) => context.close()));
}

/** One that is not shared: closing it ends it. */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
	return chromium.launch({
		executablePath: chromiumPath(),
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
			"--disable-dev-shm-usage",
			"--js-flags=--single-threaded-gc",
			...more,
		],
	});
}

function chromiumPath(): string {
	const named = process.env.CHROMIUM;
	if (named) return named;
	// The first has no windows to draw, hidden or not.
	for (const program of ["chromium-headless-shell", "chromium", "google-chrome"])
		for (const folder of (process.env.PATH ?? "").split(delimiter))
			if (existsSync(join(folder, program))) return join(folder, program);
	throw new Error("there is no Chromium here: npm test installs one");
}
