// Three gateways on one store behind a load balancer: a page at one follows what runs at another and goes on at the third, and what one
// lets in or shuts out, all do.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Client, createClient, httpTransport, socketTransport } from "../../src/http/index.ts";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { freePort } from "../support/free-port.ts";
import { commandIn, type Gateway } from "../support/keryx.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";
import { soon } from "../support/soon.ts";
import { openBrowser, takeSeat } from "./support.ts";
import { answer, message, tell, texts, write } from "./talk.ts";

const NODES = ["a", "b", "c"] as const;
/** Enough for a page, and soon used up. */
const RATE = 600;
type Name = (typeof NODES)[number];

const root = mkdtempSync(join(tmpdir(), "keryx-page-nodes-"));
const homeOf = (name: Name) => join(root, name);
const parts = Array.from({ length: 30 }, (_, n) => `part ${n}, `);
const SCRIPT = {
	rules: [{ when: "story", steps: [{ chunks: parts, chunk_delay_ms: 400 }] }],
	otherwise: [{ text: "You said: {{input}}" }],
};
const gateways = new Map<Name, Gateway>();
const ports = new Map<Name, number>();
let server: PostgresServer;
let balancer: Balancer;
let browser: Browser;

beforeAll(async () => {
	[server, balancer, browser] = await Promise.all([startPostgres(), startBalancer(), openBrowser()]);
	const { start } = commandIn(root);
	for (const name of NODES) {
		const home = homeOf(name);
		mkdirSync(home, { recursive: true, mode: 0o700 });
		if (name !== "a")
			for (const key of ["audit.key", "pseudonym.key"]) copyFileSync(join(homeOf("a"), key), join(home, key));
		const script = join(home, "script.yaml");
		writeFileSync(script, stringify(SCRIPT));
		writeFileSync(
			join(home, "config.yaml"),
			stringify({
				agent: { kind: "scripted", script },
				session_reset: { mode: "none", max_messages: 0 },
				store: { url: server.url(), nodes: "many" },
				node: { name },
				http: { public_url: balancer.url, rate_per_minute: RATE },
			}),
		);
		const port = await freePort();
		ports.set(name, port);
		gateways.set(name, await start(home, [], { KERYX_HTTP_PORT: String(port) }));
	}
	await clientOf("a").skipSetup({ step: "all" });
});
afterAll(async () => {
	await browser?.close();
	await Promise.all([...gateways.values()].map((gateway) => gateway.stop("SIGKILL")));
	await balancer?.close();
	await server?.remove();
	rmSync(root, { recursive: true, force: true });
});

function clientOf(name: Name): Client {
	const bearer = readFileSync(join(homeOf(name), "operator.secret"), "utf8").trim();
	return createClient(socketTransport(join(homeOf(name), "keryx.sock"), { bearer }));
}

function leadTo(...names: readonly Name[]): void {
	balancer.order = names.map((name) => ports.get(name) as number);
}

test("a page at one gateway follows an answer that another writes, and goes on at the third when its own is killed", async () => {
	leadTo("b", "c");
	const conversation = await tell({ client: clientOf("a") }, "desk", "before");
	const { url } = await clientOf("a").loginLink({});
	// The link was made at one gateway and is opened at another.
	const { page, leave } = await takeSeat(
		browser,
		{ url: balancer.url, link: () => url ?? "" },
		{ path: `/c/${conversation}` },
	);
	await answer(page, "You said: before").waitFor();
	await tell({ client: clientOf("a") }, "desk", "a story", { wait: false });
	await answer(page, "part 1, ").waitFor();
	const [runs] = await onServer<{ name: string }>(
		server.url(),
		"SELECT n.name FROM keryx.turns t JOIN keryx.nodes n ON n.epoch = t.epoch WHERE t.state = 'running'",
	);
	expect(runs?.name).toBe("a");

	await gateways.get("b")?.stop("SIGKILL");
	await page.getByRole("status", { name: "Connection: Live" }).waitFor();
	// While it is still being written: the third gateway has its text, too.
	const written = async () => (await answer(page, "part 1, ").textContent())?.length ?? 0;
	const before = await written();
	await soon(written).toBeGreaterThan(before);
	await write(page, "and then?");
	await message(page, "and then?").getByText("Answered").waitFor();
	const whole = [
		"before",
		"You said: before",
		"a story",
		parts.join("").trim(),
		"and then?",
		"You said: and then?",
	];
	await soon(async () => (await texts(page)).map((text) => text.trim())).toEqual(whole);
	await page.reload();
	await soon(async () => (await texts(page)).map((text) => text.trim())).toEqual(whole);
	await leave(/ERR_|Failed to fetch|NetworkError/);
});

test("a token made at one gateway holds at another, and neither it nor its open stream does once it is revoked there", async () => {
	const { token } = await clientOf("a").createToken({ name: "reader", role: "operator" });
	const there = createClient(httpTransport(`http://127.0.0.1:${ports.get("c")}`, { bearer: token }));
	const frames = there.follow({ after: "", signal: new AbortController().signal });
	await frames.next();
	expect((await there.tokens({})).tokens.length).toBeGreaterThan(0);
	await clientOf("a").revokeToken({ name: "reader" });
	await expect(there.tokens({})).rejects.toMatchObject({ code: "http.unauthenticated" });
	// The stream ends, and the next one is refused.
	for (let frame = await frames.next(); !frame.done && frame.value.kind !== "lost"; )
		frame = await frames.next();
	await expect(frames.next()).rejects.toMatchObject({ code: "http.unauthenticated" });
});

test("a caller has one allowance at all gateways together", async () => {
	const { token } = await clientOf("a").createToken({ name: "eager", role: "reader" });
	/** How many requests pass until one is refused. */
	const passed = async (name: Name, atOnce: number) => {
		const client = createClient(httpTransport(`http://127.0.0.1:${ports.get(name)}`, { bearer: token }));
		const ask = () =>
			client.health().then(
				() => true,
				(error: { code: string }) => error.code !== "http.rate",
			);
		for (let count = 0; ; ) {
			const asked = await Promise.all(Array.from({ length: atOnce }, ask));
			count += asked.filter(Boolean).length;
			if (asked.includes(false)) return count;
		}
	};
	expect(await passed("a", 20)).toBeGreaterThanOrEqual(RATE);
	// One by one: the last ones at the first gateway may be told a moment later.
	expect(await passed("c", 1)).toBeLessThan(RATE / 2);
});
