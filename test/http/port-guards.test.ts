// What stands between a port and the API: who may come in, from where, how much and how fast.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { networkOf, Rates } from "../../src/http/entry/guards.ts";
import { type Served, serveOnPort } from "../../src/http/index.ts";
import { exchange, loginOf, onPort, type Ported, SECRET } from "./port.ts";
import { SECRET as GATEWAYS_SECRET, serve, TERMINAL } from "./support.ts";

let keryx: Ported;
beforeAll(async () => {
	keryx = await onPort({}, { timeouts: { headersMs: 300, requestMs: 600 } });
});
afterAll(() => keryx.close());

/** Bytes as they are, and everything that comes back until the server closes. */
function raw(port: number, bytes: string, end = false): Promise<string> {
	return new Promise((resolve, reject) => {
		const socket = connect(port, "127.0.0.1", () => (end ? socket.end(bytes) : socket.write(bytes)));
		let said = "";
		socket.on("data", (data) => (said += data));
		socket.on("error", reject);
		socket.on("close", () => resolve(said));
	});
}

describe("without a token", () => {
	test.each([
		"/api/conversations",
		"/api/tokens",
		"/confirm",
		"/audit",
		"/grants",
		"/ready",
		"/metrics",
		"/openapi.json",
		"/docs",
		"/api/config",
		"/api/channels",
		"/api/processes",
		"/events",
		"/",
		"/nowhere",
	])("%s is closed", async (path) => {
		const answer = await keryx.call("GET", path);
		expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
	});

	test("a refusal says how to get a token, in each family's form", async () => {
		const how = "`keryx token create <name> --role agent` makes one";
		const flat = await keryx.call("POST", "/confirm", { body: {} });
		expect(flat.body).toEqual({ error: expect.stringContaining(how) });
		expect((await keryx.call("GET", "/api/tokens")).body).toMatchObject({
			error: { message: expect.stringContaining(how) },
		});
		expect((await keryx.call("POST", "/v1/responses", { body: {} })).body).toMatchObject({
			error: { message: expect.stringContaining(how) },
		});
		expect((await keryx.local("POST", "/confirm/x/approve")).body).toEqual({
			error: expect.stringContaining("--role approver"),
		});
	});

	test.each(["wrong", `${SECRET}x`, "kx_", "", "Bearer"])(
		"a token that is none opens nothing: %j",
		async (bearer) => {
			expect((await keryx.call("GET", "/audit", { bearer })).status).toBe(401);
		},
	);

	test("health is open, and says nothing about the installation", async () => {
		const stranger = await keryx.call("GET", "/health");
		expect(stranger.body).toEqual({
			status: "ok",
			pending_count: 0,
			timestamp: keryx.clock.now() / 1000,
			timestamp_iso: new Date(keryx.clock.now()).toISOString(),
		});
		const known = await keryx.call("GET", "/health", { bearer: SECRET });
		expect(known.body).toMatchObject({ status: "ok", version: "0.0.0", pid: process.pid });
		const agent = await keryx.token("agent");
		expect((await keryx.call("GET", "/health", { bearer: agent })).body).not.toHaveProperty("pid");
	});

	test("every answer forbids a browser to keep, guess at, frame or run it", async () => {
		for (const answer of [await keryx.call("GET", "/health"), await keryx.call("GET", "/nowhere")])
			expect(answer.headers).toMatchObject({
				"x-content-type-options": "nosniff",
				"cache-control": "no-store",
				"content-security-policy": expect.stringContaining("default-src 'none'"),
			});
	});
});

describe("where a request comes from", () => {
	const get = (headers: Record<string, string>) => keryx.call("GET", "/audit", { bearer: SECRET, headers });
	const post = (headers: Record<string, string>) =>
		keryx.call("POST", "/confirm", { bearer: SECRET, headers, body: { action: "a", description: "d" } });

	test("a foreign name in Host is refused, also with a token", async () => {
		for (const host of [
			"evil.example",
			`evil.example:${keryx.port}`,
			"127.0.0.1:1",
			`127.0.0.1.evil.example:${keryx.port}`,
			"localhost",
			`10.0.0.1:${keryx.port}`,
		])
			expect((await get({ host })).status, host).toBe(421);
		for (const host of [
			`localhost:${keryx.port}`,
			`127.0.0.1:${keryx.port}`,
			`[::1]:${keryx.port}`,
			`LOCALHOST:${keryx.port}`,
		])
			expect((await get({ host })).status, host).toBe(200);
	});

	test("a Host that is no name is an error of the request", async () => {
		for (const host of ["a b", "a/b", "user@127.0.0.1", "%"]) {
			const { status } = await get({ host });
			expect([400, 421], host).toContain(status);
		}
	});

	test("another origin changes nothing", async () => {
		for (const origin of [
			"http://evil.example",
			"null",
			`http://127.0.0.1:${keryx.port + 1}`,
			"file://",
			"x",
		])
			expect((await post({ origin })).status, origin).toBe(403);
		expect((await post({ origin: `http://127.0.0.1:${keryx.port}` })).status).toBe(202);
	});

	test("another origin reads nothing either, the stream of events least of all", async () => {
		const own = `http://127.0.0.1:${keryx.port}`;
		const login = await keryx.call("GET", keryx.api.loginPath());
		const follow = (origin: string) =>
			fetch(`${own}/events`, { headers: { ...loginOf(login), origin, accept: "text/event-stream" } });
		for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${keryx.port + 1}`]) {
			const refused = await follow(origin);
			expect(refused.status, origin).toBe(403);
			expect(refused.headers.has("access-control-allow-origin")).toBe(false);
			await refused.body?.cancel();
			expect((await get({ origin })).status, origin).toBe(403);
			expect((await keryx.call("OPTIONS", "/audit", { headers: { origin } })).status, origin).toBe(403);
		}
		const taken = await follow(own);
		expect(taken.status).toBe(200);
		await taken.body?.cancel();
	});

	test("another site's page is refused, but for a link that somebody followed", async () => {
		expect((await get({ "sec-fetch-site": "cross-site" })).status).toBe(403);
		expect((await post({ "sec-fetch-site": "cross-site" })).status).toBe(403);
		const followed = {
			"sec-fetch-site": "cross-site",
			"sec-fetch-mode": "navigate",
			"sec-fetch-dest": "document",
		};
		expect((await get(followed)).status).toBe(200);
		expect((await post(followed)).status).toBe(403);
	});

	test("on an address of the network, that address and its digits are ours, and no other name is", async () => {
		const open = await serveOnPort(keryx.api, { host: "0.0.0.0", port: 0 });
		const health = async (host: string) =>
			(await exchange({ host: "127.0.0.1", port: open.port }, "GET", "/health", { headers: { host } }))
				.status;
		expect([await health(`10.1.2.3:${open.port}`), await health(`keryx.example:${open.port}`)]).toEqual([
			200, 421,
		]);
		await open.close();
	});
});

describe("a path in another spelling", () => {
	/** Any of its characters as a percent code, and segments that change nothing. */
	const spelled = (path: string) =>
		fc
			.tuple(fc.infiniteStream(fc.boolean()), fc.constantFrom("", "/.", "/%2e", "/x/..", "/x/%2E%2e"))
			.map(([coded, segment]) =>
				segment.concat(
					[...path]
						.map((character) =>
							character !== "/" && coded.next().value
								? `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`
								: character,
						)
						.join(""),
				),
			);

	test("is guarded as the plain one is: nobody without proof decides, grants or makes tokens by it", async () => {
		const agent = await keryx.token("agent");
		const id = await keryx.ask(agent, "restart");
		const guarded = [
			["POST", `/confirm/${id}/approve`, undefined],
			["POST", `/confirm/${id}/deny`, undefined],
			["POST", "/grants", { scope: "always", action: "restart" }],
			["POST", "/api/tokens", { name: "spelled", role: "operator" }],
			["POST", "/api/login-link", {}],
		] as const;
		const spelling = fc
			.constantFrom(...guarded)
			.chain(([method, path, body]) => spelled(path).map((other) => ({ method, path, other, body })));
		await fc.assert(
			fc.asyncProperty(spelling, async ({ method, path, other, body }) => {
				const sent = body === undefined ? {} : { body };
				const statuses = async (at: string) => [
					(await keryx.local(method, at, sent)).status,
					(await keryx.call(method, at, sent)).status,
					(await keryx.call(method, at, { ...sent, bearer: agent })).status,
				];
				expect(await statuses(path)).toEqual([401, 401, 403]);
				expect(await statuses(other), other).toEqual([401, 401, 403]);
			}),
			{ numRuns: 100 },
		);
		expect((await keryx.call("GET", `/confirm/${id}`, { bearer: agent })).body.status).toBe("pending");
		const coded = await keryx.call("POST", `/confirm/${id}/%61pprove`, { bearer: SECRET });
		expect(coded.body).toMatchObject({ status: "approved" });
	});

	test.each([
		"//confirm/ID/approve",
		"/confirm//ID/approve",
		"/confirm/ID%2Fapprove",
		"/confirm/ID/approve/",
	])("%s is no path of anything, with proof either", async (path) => {
		const id = await keryx.ask(await keryx.token("agent"), "restart");
		const at = path.replace("ID", id);
		expect((await keryx.local("POST", at)).status).toBeGreaterThanOrEqual(400);
		expect((await keryx.call("POST", at, { bearer: SECRET })).status).toBeGreaterThanOrEqual(400);
		expect((await keryx.call("GET", `/confirm/${id}`, { bearer: SECRET })).body.status).toBe("pending");
	});
});

describe("how much and how fast", () => {
	test("an address that is too long is refused, and headers that are", async () => {
		const long = await keryx.call("GET", `/confirm/${"x".repeat(9000)}`, { bearer: SECRET });
		expect(long.status).toBe(414);
		const headers = await keryx.call("GET", "/health", { headers: { "x-long": "y".repeat(17_000) } });
		expect(headers.status).toBe(431);
	});

	test("a body that is too large is refused on every path, before it is read", async () => {
		for (const path of ["/confirm", "/api/inbound", "/api/import", "/nowhere"]) {
			const answer = await raw(
				keryx.port,
				`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${keryx.port}\r\nAuthorization: Bearer ${SECRET}\r\nContent-Length: 2000000\r\nConnection: close\r\n\r\n`,
			);
			expect(answer.split("\r\n")[0], path).toContain("413");
		}
	});

	test("a client that does not finish its headers is cut off, and one that does not finish its body", async () => {
		const head = `POST /confirm HTTP/1.1\r\nHost: 127.0.0.1:${keryx.port}\r\n`;
		expect(await raw(keryx.port, head)).toContain("408");
		expect(await raw(keryx.port, `${head}Content-Length: 10\r\n\r\n{`)).toMatch(/^(?:HTTP\/1\.1 4\d\d|$)/);
		expect((await keryx.call("GET", "/health")).status).toBe(200);
	});

	test("what is no HTTP is answered as such", async () => {
		expect(await raw(keryx.port, "\u0000\u0001nonsense\r\n\r\n", true)).toContain("400");
	});

	test("one caller's requests are limited, and another's are not", async () => {
		const busy = await onPort({}, { ratePerMinute: 60 });
		try {
			const [first, second] = [await busy.token("reader"), await busy.token("reader")];
			const ask = (bearer: string) => busy.call("GET", "/audit", { bearer });
			for (let n = 0; n < 60; n++) expect((await ask(first)).status).toBe(200);
			const refused = await ask(first);
			expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
			expect((await ask(second)).status).toBe(200);
			await busy.clock.advance(1000);
			expect((await ask(first)).status).toBe(200);
			for (let n = 0; n < 60; n++) expect((await ask("guess")).status).toBe(401);
			expect((await ask("guess")).status).toBe(429);
			expect((await ask(second)).status).toBe(200);
		} finally {
			await busy.close();
		}
	});

	test("a stranger who was told to wait keeps nobody else out: not health, a login, the page or a token", async () => {
		const page = mkdtempSync(join(tmpdir(), "keryx-page-"));
		writeFileSync(join(page, "index.html"), "<title>Keryx</title>");
		const busy = await onPort({}, { ratePerMinute: 60, page });
		try {
			const reader = await busy.token("reader");
			const link = busy.api.loginPath();
			const bad = ["/audit", "/api/tokens", "/login?code=x", "/events", "/nowhere"];
			const statuses: number[] = [];
			for (let n = 0; n < 70; n++)
				statuses.push((await busy.call("GET", bad[n % bad.length] as string, { bearer: "guess" })).status);
			expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 401));
			expect(statuses.slice(60)).toEqual(Array.from({ length: 10 }, () => 429));
			for (let n = 0; n < 70; n++) expect((await busy.call("GET", "/health")).status).toBe(200);
			const html = { headers: { accept: "text/html" } };
			for (let n = 0; n < 70; n++) expect((await busy.call("GET", "/", html)).status).toBe(200);
			const login = await busy.call("GET", link);
			expect(login.status).toBe(303);
			expect((await busy.call("GET", "/audit", { headers: loginOf(login) })).status).toBe(200);
			expect((await busy.call("GET", "/audit", { bearer: reader })).status).toBe(200);
		} finally {
			await busy.close();
			rmSync(page, { recursive: true });
		}
	});

	test("health tells strangers how many wait as soon as it changes, and counts no more often than that", async () => {
		const counted = await onPort();
		const looks = vi.spyOn(counted.confirmations, "pendingCount");
		try {
			const agent = await counted.token("agent");
			const count = async () => (await counted.call("GET", "/health")).body.pending_count;
			expect(await count()).toBe(0);
			await counted.ask(agent, "count_me", { timeout_seconds: 30 });
			expect(await count()).toBe(1);
			const before = looks.mock.calls.length;
			for (let n = 0; n < 20; n++) expect(await count()).toBe(1);
			expect(looks.mock.calls.length).toBe(before);
			await counted.clock.advance(31_000);
			expect(await count()).toBe(0);
		} finally {
			await counted.close();
		}
	});

	test.each([
		["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
		["2001:db8:1:2::9", "2001:db8:1:2"],
		["2001:db8::9", "2001:db8:0:0"],
		["::1", "0:0:0:0"],
		["fe80::1%eth0", "fe80:0:0:0"],
		["::ffff:10.0.0.7", "::ffff:10.0.0.7"],
		["10.0.0.7", "10.0.0.7"],
		["", ""],
	])("the address %s is of the network %s", (address, network) => {
		expect(networkOf(address)).toBe(network);
	});

	test("callers that are many are forgotten, not kept for ever", () => {
		let now = 0;
		const rates = new Rates(1, () => now);
		expect([rates.take("a"), rates.take("a")]).toEqual([null, 60]);
		now += 30_000;
		expect(rates.take("a")).toBe(30);
		for (let n = 0; n < 30_000; n++) rates.take(`caller ${n}`);
		now += 60_000;
		expect(rates.take("a")).toBeNull();
	});
});

describe("logging in with a link", () => {
	const open = (path: string, headers = {}) => keryx.call("GET", path, { headers });

	test("works once, and makes a browser the operator", async () => {
		const link = keryx.api.loginPath();
		const answer = await open(link);
		expect([answer.status, answer.headers.location]).toEqual([
			303,
			expect.stringMatching(/^\/#login=[\w-]{43}$/),
		]);
		const [set = ""] = answer.headers["set-cookie"] ?? [];
		expect(set).toMatch(
			new RegExp(`^keryx_${keryx.port}=kx_[\\w-]{43}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict$`),
		);
		const both = loginOf(answer);
		const { cookie } = both;
		expect((await open("/", both)).text).toMatch(
			/^Keryx 0\.0\.0 is running\. You are token:page-[\w-]{12} here\./,
		);
		expect((await open("/api/tokens", both)).status).toBe(200);
		// Neither half is worth anything, nor are two that do not belong together.
		const other = loginOf(await open(keryx.api.loginPath()));
		for (const half of [
			{ cookie },
			{ "x-keryx-page": both["x-keryx-page"] },
			{ ...both, "x-keryx-page": other["x-keryx-page"] },
			{ ...both, "x-keryx-page": "" },
			{ cookie, authorization: `Bearer ${both["x-keryx-page"]}` },
			{ authorization: `Bearer ${cookie.split("=")[1]}` },
		])
			expect((await open("/api/tokens", half)).status).toBe(401);
		expect(await open(link)).toMatchObject({ status: 401, body: { error: { code: "http.login" } } });

		const change = (headers: object) =>
			keryx.call("POST", "/grants", {
				headers: { ...both, ...headers },
				body: { scope: "always", action: "a" },
			});
		expect((await change({})).status).toBe(403);
		expect((await change({ origin: `http://127.0.0.1:${keryx.port}` })).status).toBe(201);
		const { body } = await keryx.call("GET", "/audit/log?newest=true&limit=1", { bearer: SECRET });
		expect(body.entries).toMatchObject([
			{ kind: "granted", via: "page", who: expect.stringMatching(/^token:page-/) },
		]);
	});

	test("two who open it at once are not both let in", async () => {
		const link = keryx.api.loginPath();
		const statuses = (await Promise.all([1, 2, 3, 4].map(() => open(link)))).map(({ status }) => status);
		expect(statuses.toSorted()).toEqual([303, 401, 401, 401]);
	});

	test("is over after ten minutes", async () => {
		const link = keryx.api.loginPath();
		await keryx.clock.advance(600_000);
		expect((await open(link)).status).toBe(401);
	});

	test("takes no code that was altered or made up", async () => {
		const link = keryx.api.loginPath();
		const [nonce, until, signature] = link.slice("/login?code=".length).split(".");
		for (const code of [
			"",
			"x",
			`${nonce}.${Number(until) + 1}.${signature}`,
			`AAAAAAAAAAAA.${until}.${signature}`,
			`${nonce}.${until}.${"A".repeat(43)}`,
			`${nonce}.${until}`,
		])
			expect((await open(`/login?code=${code}`)).status, code).toBe(401);
		expect((await open(link)).status).toBe(303);
	});
});

describe("on the socket", () => {
	test("whoever reaches it reads and asks, but decides, grants and makes tokens only with a token", async () => {
		const asked = await keryx.local("POST", "/confirm", { body: { action: "restart", description: "d" } });
		expect(asked).toMatchObject({ status: 202, body: { approve_url: `/confirm/${asked.body.id}/approve` } });
		expect((await keryx.local("GET", `/confirm/${asked.body.id}`)).body).toMatchObject({
			asked_by: "socket",
		});
		expect((await keryx.local("GET", "/audit")).status).toBe(200);
		expect((await keryx.local("GET", "/api/conversations")).status).toBe(200);
		const asks = [
			["POST", `/confirm/${asked.body.id}/approve`, {}],
			["POST", `/confirm/${asked.body.id}/deny`, {}],
			["GET", "/grants", undefined],
			["POST", "/grants", { scope: "always", action: "restart" }],
			["DELETE", "/grants?id=x", undefined],
			["POST", "/audit/accept", {}],
			["GET", "/api/tokens", undefined],
			["POST", "/api/tokens", { name: "n", role: "operator" }],
			["POST", "/api/tokens/n/revoke", {}],
			["POST", "/api/principals/link", { of: { platform: "a", id: "1" }, and: { platform: "b", id: "1" } }],
		] as const;
		for (const [method, path, body] of asks)
			expect((await keryx.local(method, path, body && { body })).status, path).toBe(401);
		const bad = await keryx.local("GET", "/audit", { bearer: "wrong" });
		expect(bad.status).toBe(401);
		const approved = await keryx.local("POST", `/confirm/${asked.body.id}/approve`, {
			bearer: SECRET,
			headers: { "x-keryx-via": "cli" },
		});
		expect(approved.body).toMatchObject({ status: "approved", resolved_by: "operator" });
		const { body } = await keryx.call("GET", `/audit/log?confirmation=${asked.body.id}`, { bearer: SECRET });
		expect(body.entries).toMatchObject([
			{ who: "socket" },
			{ kind: "approved", who: "operator", via: "cli" },
		]);
	});

	test("on a port nobody passes for the command line", async () => {
		const id = await keryx.ask(await keryx.token("agent"), "restart");
		await keryx.call("POST", `/confirm/${id}/deny`, { bearer: SECRET, headers: { "x-keryx-via": "cli" } });
		const { body } = await keryx.call("GET", `/audit/log?confirmation=${id}`, { bearer: SECRET });
		expect(body.entries).toMatchObject([{}, { kind: "denied", via: "api" }]);
	});

	test("two ids are one person once the operator says so", async () => {
		const body = { of: { platform: "telegram", id: "7" }, and: { platform: "discord", id: "8" } };
		const linked = await keryx.local("POST", "/api/principals/link", { bearer: SECRET, body });
		expect(linked.body).toMatchObject({ joined: true });
		const again = await keryx.local("POST", "/api/principals/link", { bearer: SECRET, body });
		expect(again.body).toEqual({ principal: linked.body.principal, joined: false });
	});
});

describe("the port for clients without a token", () => {
	let compat: Served & { readonly port: number };
	beforeAll(async () => {
		compat = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0, compat: true });
	});
	afterAll(() => compat.close());
	const call = (method: string, path: string, sent = {}) =>
		exchange({ host: "127.0.0.1", port: compat.port }, method, path, sent);

	test("takes requests and tells their status, and nothing else", async () => {
		const asked = await call("POST", "/confirm", { body: { action: "restart", description: "d" } });
		expect(asked.status).toBe(202);
		expect((await call("GET", `/confirm/${asked.body.id}`)).body).toMatchObject({
			status: "pending",
			asked_by: "compat",
		});
		expect((await call("GET", "/health")).status).toBe(200);
		expect((await call("POST", `/confirm/${asked.body.id}/approve`)).body.error).toContain("use the port");
		const closedTo = [
			["POST", `/confirm/${asked.body.id}/approve`],
			["POST", `/confirm/${asked.body.id}/deny`],
			["POST", `/confirm/${asked.body.id}/cancel`],
			["POST", `/confirm/${asked.body.id}/consume`],
			["GET", "/confirm"],
			["PUT", "/confirm"],
			["GET", "/audit"],
			["GET", "/grants"],
			["POST", "/api/tokens"],
			["GET", "/api/conversations"],
			["GET", "/metrics"],
			["GET", keryx.api.loginPath()],
		] as const;
		for (const bearer of [undefined, SECRET])
			for (const [method, path] of closedTo) {
				const { status } = await call(method, path, bearer ? { bearer } : {});
				expect([401, 404], `${method} ${path}`).toContain(status);
			}
		expect((await keryx.call("GET", `/confirm/${asked.body.id}`, { bearer: SECRET })).body).toMatchObject({
			status: "pending",
		});
	});

	test("shows no confirmation of anybody else", async () => {
		const id = await keryx.ask(await keryx.token("agent"), "restart");
		expect((await call("GET", `/confirm/${id}`)).status).toBe(404);
	});
});

describe("what a monitor sees", () => {
	test("readiness is a write that succeeded, and the channels' signs of life", async () => {
		const keryx = await serve();
		const ask = async () => {
			const response = await keryx.api.fetch(new Request("http://keryx/ready"));
			return { status: response.status, body: (await response.json()) as never as Record<string, unknown> };
		};
		try {
			expect(await ask()).toMatchObject({
				status: 200,
				body: {
					ready: true,
					store: { writable: true },
					channels: [{ state: "connected", age_seconds: expect.any(Number) }, {}],
				},
			});
			await keryx.gateway.stop();
			expect(await ask()).toMatchObject({
				status: 503,
				body: { ready: false, store: { writable: true }, channels: [{ state: "stopped" }, {}] },
			});
		} finally {
			await keryx.store.close();
		}
		const { status, body } = await ask();
		expect([status, body.store]).toEqual([503, { writable: false, problem: expect.any(String) }]);
	});

	test("metrics count what happened, and show what waits", async () => {
		const keryx = await serve();
		try {
			const read = async () => (await keryx.api.fetch(new Request("http://keryx/metrics"))).text();
			await read();
			await keryx.say("hello");
			const text = await read();
			expect(text).toContain('keryx_turns_total{outcome="completed"} 1');
			expect(text).toContain('keryx_events_total{type="inbound.accepted"} 1');
			expect(text).toContain('keryx_deliveries{state="waiting"} 0');
			expect(text).toMatch(/keryx_memory_bytes\{kind="rss"\} \d+/);
			expect(text).toMatch(/keryx_event_loop_delay_seconds\{of="p99"\} [\d.e-]+/);
			for (const line of text.trim().split("\n"))
				expect(line).toMatch(
					/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+)$/,
				);
		} finally {
			await keryx.close();
		}
	});
});

test("a token that is revoked ends what it follows", async () => {
	const keryx = await serve();
	const served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	const where = { host: "127.0.0.1", port: served.port };
	const post = (path: string, body: object) =>
		exchange(where, "POST", path, { bearer: GATEWAYS_SECRET, body });
	try {
		const { body } = await post("/api/tokens", { name: "follower", role: "reader" });
		const response = await fetch(`http://127.0.0.1:${served.port}/events`, {
			headers: { authorization: `Bearer ${body.token}` },
		});
		const reader = response.body?.getReader();
		expect((await reader?.read())?.done).toBe(false);
		await post("/api/tokens/follower/revoke", {});
		for (let frame = await reader?.read(); frame && !frame.done; frame = await reader?.read());
	} finally {
		await served.close();
		await keryx.close();
	}
});

test("a client that takes its time does not hold up the end", async () => {
	const slow = await onPort();
	const socket = connect(slow.port, "127.0.0.1");
	socket.on("error", () => {});
	await new Promise((resolve) => socket.write("POST /confirm HTTP/1.1\r\nHost:", resolve));
	await slow.close();
	socket.destroy();
});

test("a message that comes with the operator's proof may decide, one on the socket without it may not", async () => {
	const keryx = await serve();
	const accept = keryx.gateway.accept.bind(keryx.gateway);
	const posters: unknown[] = [];
	keryx.gateway.accept = (inbound) => {
		posters.push(inbound.transport?.poster);
		return accept(inbound);
	};
	const say = async (headers: Record<string, string>) => {
		const response = await keryx.api.fetch(
			new Request("http://keryx/api/inbound", {
				method: "POST",
				headers: { "content-type": "application/json", ...headers },
				body: JSON.stringify({ text: "/status", client_message_id: crypto.randomUUID(), source: TERMINAL }),
			}),
		);
		expect(response.status).toBe(202);
	};
	try {
		await say({});
		await say({ "x-keryx-via": "cli", "x-approver": "operator" });
		await say({ authorization: `Bearer ${GATEWAYS_SECRET}` });
		expect(posters).toEqual([
			{ who: "socket", via: "api", decides: false },
			{ who: "socket", via: "cli", decides: false },
			{ who: "operator", via: "api", decides: true },
		]);
	} finally {
		await keryx.close();
	}
});
