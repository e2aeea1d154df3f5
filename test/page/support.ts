// A whole Keryx in this process, on a port of its own, and a real Chromium that looks at it. What the page asks for outside of that
// Keryx, and what it complains about in its console, fails the test.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import axe from "axe-core";
import type {
	Browser,
	BrowserContext,
	BrowserContextOptions,
	ConsoleMessage,
	Page,
	Request,
} from "playwright-core";
import { afterEach, expect } from "vitest";
import { stringify } from "yaml";
import { type Host, openHost } from "../../src/app/host.ts";
import { type CliContext, openConfig } from "../../src/cli/context.ts";
import { apiTransport, type Client, createClient } from "../../src/http/index.ts";
import type { Clock } from "../../src/time/index.ts";
import { dataOf } from "../support/keryx.ts";
import { openPage } from "./chromium.ts";

export { openBrowser } from "./chromium.ts";

/** Looked at by people; not kept in git. */
export const SCREENSHOTS = join(import.meta.dirname, "../../.cache/screenshots");

/** Every open page of this file's tests. */
const openPages = new Set<Page>();

afterEach(async ({ task }) => {
	if (task.result?.state !== "fail") return;
	for (const page of openPages)
		console.error(`${task.name}: ${page.url()} showed\n${await page.locator("body").ariaSnapshot()}`);
});

export interface Keryx {
	readonly home: string;
	readonly url: string;
	readonly host: Host;
	/** As the operator. */
	readonly client: Client;
	/** A link that logs in, once. */
	link(): string;
	close(): Promise<void>;
}

/** With the offline agent unless the script says what is answered. */
export async function openKeryx({
	config = {},
	script,
	home = mkdtempSync(join(tmpdir(), "keryx-page-")),
	firstRun = false,
	clock,
}: {
	readonly config?: Readonly<Record<string, unknown>>;
	readonly script?: object;
	readonly home?: string;
	/** The page leads through its first steps. */
	readonly firstRun?: boolean;
	/** Left out: the machine's. */
	readonly clock?: Clock;
} = {}): Promise<Keryx> {
	const file = join(home, "script.yaml");
	if (script) writeFileSync(file, stringify(script));
	const agent = script && { agent: { kind: "scripted", script: file } };
	writeFileSync(join(home, "config.yaml"), stringify({ http: { port: 0 }, ...agent, ...config }));
	const said: string[] = [];
	const context: CliContext = {
		env: { ...process.env, KERYX_HOME: home, XDG_DATA_HOME: dataOf(home), TZ: "UTC" },
		stdin: Object.assign(Readable.from([]), { isTTY: false }),
		stdout: { write: (text: string) => void said.push(text) },
		stderr: { write: (text: string) => void said.push(text) },
		now: () => Date.now(),
		json: false,
		exitWith: () => {},
	};
	const { config: loaded, output } = openConfig(context);
	const host = await openHost({
		context,
		config: loaded,
		output,
		as: "run",
		onPorts: true,
		...(clock && { clock }),
	});
	if (host.url === null) throw new Error(`no port: ${said.join("")}`);
	const { url } = host;
	const bearer = readFileSync(join(home, "operator.secret"), "utf8").trim();
	const client = createClient(apiTransport(host.api, { bearer }));
	if (!firstRun) await client.skipSetup({ step: "all" });
	return {
		home,
		url,
		host,
		client,
		link: () => `${url}${host.api.loginPath()}`,
		close: async () => {
			await host.close();
			for (const folder of [home, dataOf(home)]) rmSync(folder, { recursive: true, force: true });
		},
	};
}

export interface Seat {
	readonly page: Page;
	readonly context: BrowserContext;
	/** What the page asked of anybody else, and what it complained about. Refusals that a test means to see are named by a pattern. */
	troubles(...meant: readonly RegExp[]): readonly string[];
	/** Another tab of the same browser. */
	tab(path?: string): Promise<Page>;
	/** Fails the test where there was trouble. */
	leave(...meant: readonly RegExp[]): Promise<void>;
}

/**
 * A browser that is logged in, at a path of the page. `alone`: with a profile that nobody had before, for a test that changes what cannot
 * be put back (scripts before the page's own, its clock).
 */
export async function takeSeat(
	browser: Browser,
	keryx: Pick<Keryx, "url" | "link">,
	{
		path = "/",
		alone = false,
		...options
	}: { readonly path?: string; readonly alone?: boolean } & BrowserContextOptions = {},
): Promise<Seat> {
	const { context, page, close } = await openPage(browser, { alone, ...options });
	const troubles: string[] = [];
	const unwatch: (() => void)[] = [];
	const watch = (page: Page) => {
		unwatch.push(watchFor(page, keryx.url, troubles));
		openPages.add(page);
		page.on("close", () => openPages.delete(page));
		return page;
	};
	const unmeant = (meant: readonly RegExp[]) =>
		troubles.filter((trouble) => !meant.some((pattern) => pattern.test(trouble)));
	watch(page);
	// The login itself needs no page, whose first view would only be left again.
	let login: { dispose(): Promise<void> } | undefined;
	if (path !== "/") {
		// A kept connection may be closed by the server just as it is used again; nothing was read then, so the request is repeated.
		const answer = await context.request.get(keryx.link(), { maxRedirects: 0, maxRetries: 3 });
		login = await keepKey(context, keryx.url, answer.headers().location?.split("#login=")[1] ?? "");
	}
	await page.goto(path === "/" ? keryx.link() : `${keryx.url}${path}`);
	return {
		page,
		context,
		troubles: (...meant) => unmeant(meant),
		tab: async (to = path) => {
			const tab = watch(await context.newPage());
			await tab.goto(`${keryx.url}${to}`);
			return tab;
		},
		leave: async (...meant) => {
			for (const stop of unwatch) stop();
			await login?.dispose();
			await close();
			expect(unmeant(meant)).toEqual([]);
		},
	};
}

/** Answers how to stop. */
function watchFor(page: Page, url: string, troubles: string[]): () => void {
	const asked = (request: Request) => {
		const { origin, protocol } = new URL(request.url());
		if (origin !== url && !["data:", "blob:"].includes(protocol)) troubles.push(`asked for ${request.url()}`);
	};
	const threw = (error: Error) => troubles.push(`threw ${error.stack ?? error.message}`);
	const said = (message: ConsoleMessage) => {
		if (/Service Worker registration blocked/.test(message.text())) return;
		if (message.type() === "error" || message.type() === "warning") troubles.push(`said ${message.text()}`);
	};
	page.on("request", asked).on("pageerror", threw).on("console", said);
	return () => page.off("request", asked).off("pageerror", threw).off("console", said);
}

/** The half of a login that the page keeps itself. */
export function keepKey(
	context: BrowserContext,
	url: string,
	key: string,
): Promise<{ dispose(): Promise<void> }> {
	return context.addInitScript(
		`if (self === top && location.origin === ${JSON.stringify(url)}) localStorage.setItem("keryx.login", ${JSON.stringify(key)})`,
	);
}

/** What axe finds wrong, in a line each. The source is evaluated, since the page's policy lets no other script in. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
	// A page that is loaded may still be empty.
	await page.locator("h1").first().waitFor({ state: "attached" });
	if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
	return page.evaluate(async () => {
		const { axe } = globalThis as unknown as {
			axe: {
				run(
					options: object,
				): Promise<{ violations: { id: string; help: string; nodes: { target: unknown[] }[] }[] }>;
			};
		};
		// Of what is right it need not say where.
		const { violations } = await axe.run({ resultTypes: ["violations"] });
		return violations.flatMap(({ id, help, nodes }) =>
			nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`),
		);
	});
}

/** For people to look at. Taken only when KERYX_SCREENSHOTS is set: no test reads them, and each takes as long as a test's step. */
export async function screenshot(page: Page, name: string): Promise<void> {
	if (!process.env.KERYX_SCREENSHOTS) return;
	mkdirSync(SCREENSHOTS, { recursive: true });
	await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}
