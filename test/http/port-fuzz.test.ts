// Whatever is sent, a port answers it, and never with a fault of its own.
import { Agent, request } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveOnPort } from "../../src/http/index.ts";
import { SEED } from "../support/seed.ts";
import { exchange } from "./port.ts";
import { SECRET, type Served, serve } from "./support.ts";

const REQUESTS = Number(process.env.KERYX_FUZZ_REQUESTS ?? 3000);
const AT_ONCE = 32;

let keryx: Served;
let port = 0;
let end = () => Promise.resolve();
const bearers: string[] = [];
const ids: string[] = [];
beforeAll(async () => {
	keryx = await serve(undefined, { confirmations: { rate_limit: 100_000, global_limit: 1_000_000 } });
	const served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	({ port } = served);
	end = () => served.close();
	for (const role of ["agent", "approver", "reader", "operator"]) {
		const made = await call("POST", "/api/tokens", SECRET, { name: role, role });
		bearers.push(made.body.token as string);
	}
	for (let n = 0; n < 20; n++) {
		const asked = await call("POST", "/confirm", bearers[0] as string, { action: "a", description: "d" });
		ids.push(asked.body.id as string);
	}
	await keryx.say("hello");
});
afterAll(async () => {
	await end();
	await keryx.close();
});

function call(method: string, path: string, bearer: string, body: object) {
	return exchange({ host: "127.0.0.1", port }, method, path, { bearer, body });
}

interface Fuzzed {
	readonly method: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string | undefined;
}

/** Half of it nearly right, so that it gets far; the other half anything. */
function requests(): fc.Arbitrary<Fuzzed> {
	const junk = fc.string({ unit: "binary-ascii", maxLength: 30 }).map((text) => text.replace(/[^!-~]/g, "%"));
	/** Left out most of the time: what turns a request away at the door must not turn all away. */
	const seldom = (header: fc.Arbitrary<string>) =>
		fc.oneof({ weight: 9, arbitrary: fc.constant("") }, header);
	const id = fc.oneof(
		fc.constantFrom(...ids),
		junk.map(encodeURIComponent),
		fc.constantFrom("%", "%2", "%zz", "%00", "..", "%2e%2e", "__proto__", "a%2Fb", "", "1", "0", "-1"),
	);
	const verb = fc.constantFrom("", "/approve", "/deny", "/cancel", "/consume", "/x", "/", "//");
	const known = fc.oneof(
		fc.tuple(id, verb).map(([one, what]) => `/confirm/${one}${what}`),
		fc.constantFrom(
			"/confirm",
			"/grants",
			"/audit",
			"/audit/log",
			"/audit/verify",
			"/health",
			"/ready",
			"/metrics",
		),
		fc.constantFrom(
			"/login",
			"/openapi.json",
			"/api/tokens",
			"/api/inbound",
			"/api/principals/link",
			"/api/import",
		),
		fc.constantFrom(
			"/api/conversations",
			"/api/search",
			"/api/deliveries",
			"/api/events",
			"/api/commands",
			"/api/export",
		),
		id.map((one) => `/api/tokens/${one}/revoke`),
		id.map((one) => `/grants/${one}`),
		fc
			.tuple(
				id,
				fc.constantFrom("", "/sessions", "/new", "/stop", "/undo", "/title", "/model", "/why", "/messages"),
			)
			.chain(([one, what]) =>
				fc
					.constantFrom("conversations", "sessions", "inbound", "turns")
					.map((kind) => `/api/${kind}/${one}${what}`),
			),
	);
	const query = fc.oneof(
		{ weight: 3, arbitrary: fc.constant("") },
		fc
			.tuple(
				fc.constantFrom(
					"limit",
					"status",
					"before",
					"after",
					"id",
					"code",
					"q",
					"wait",
					"confirmation",
					"session",
					"format",
				),
				fc.oneof(
					junk,
					fc.constantFrom("0", "-1", "1e9", "999999999999999999999", "pending", "%", "now", "markdown"),
				),
			)
			.map(([name, value]) => `?${name}=${name === "wait" ? "0" : value}`),
	);
	const path = fc.oneof(
		{ weight: 5, arbitrary: fc.tuple(known, query).map((parts) => parts.join("")) },
		junk.map((text) => `/${text.replace(/[?#]/g, "")}`),
	);
	const headers = fc
		.record(
			{
				authorization: fc.oneof(
					{ weight: 6, arbitrary: fc.constantFrom(...bearers, SECRET).map((one) => `Bearer ${one}`) },
					junk,
					junk.map((text) => `Bearer ${text}`),
				),
				"content-type": fc.oneof({ weight: 6, arbitrary: fc.constant("application/json") }, junk),
				host: fc.oneof({ weight: 20, arbitrary: fc.constant(`127.0.0.1:${port}`) }, junk),
				origin: seldom(fc.oneof(fc.constant(`http://127.0.0.1:${port}`), junk)),
				cookie: fc.oneof(
					junk,
					junk.map((text) => `keryx_${port}=${text}`),
				),
				"x-keryx-via": fc.constantFrom("cli", "page"),
				"sec-fetch-site": seldom(fc.constantFrom("same-origin", "cross-site", "none")),
				"last-event-id": junk,
				accept: junk,
			},
			{ requiredKeys: ["authorization", "host"] },
		)
		.map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")));
	const field = fc.oneof(
		fc.constantFrom(
			null,
			true,
			0,
			-1,
			1e308,
			"",
			" ",
			"a",
			"\u0000",
			"\ud800",
			"__proto__",
			"delete_data",
			"2026-01-01T00:00:00Z",
		),
		fc.string({ maxLength: 20 }),
		fc.jsonValue({ maxDepth: 3 }),
	);
	const names = [
		...["action", "description", "details", "requester", "session_key", "timeout_seconds", "idempotency_key"],
		...[
			"reason",
			"approver",
			"denier",
			"grant",
			"edited_details",
			"digest",
			"scope",
			"pattern",
			"until",
			"asked_by",
		],
		...[
			"name",
			"role",
			"days",
			"principal",
			"of",
			"and",
			"text",
			"client_message_id",
			"source",
			"conversation",
		],
	];
	const body = fc.oneof(
		fc.constant(undefined),
		fc
			.tuple(
				fc.dictionary(fc.constantFrom(...names), field, { maxKeys: 6 }),
				fc.constantFrom(
					{},
					{ action: "a", description: "d" },
					{ scope: "always", action: "b" },
					{
						text: "hi",
						client_message_id: "x",
						source: { platform: "local", chat_id: "cli", chat_type: "dm" },
					},
				),
			)
			.map(([fields, base]) => JSON.stringify({ ...base, ...fields })),
		fc.json(),
		fc.string({ unit: "binary" }),
		fc.constantFrom("{", "[]", "null", '{"a":1', '"x"', `{"details":${"[".repeat(5000)}`),
	);
	const method = fc.oneof(
		{ weight: 9, arbitrary: fc.constantFrom("GET", "POST") },
		fc.constantFrom("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"),
	);
	const anything = fc.record({ method, path, headers, body });
	const mutation = fc.option(fc.tuple(fc.constantFrom(...names), field), { nil: undefined });
	const nearlyRight = fc
		.tuple(fc.constantFrom(...working()), fc.constantFrom(...ids), mutation)
		.map(([call, one, changed]) => ({
			method: "POST",
			path: call.path.replace("{id}", one),
			headers: {
				host: `127.0.0.1:${port}`,
				authorization: `Bearer ${call.bearer}`,
				"content-type": "application/json",
			},
			body: JSON.stringify({ ...call.body, ...(changed && { [changed[0]]: changed[1] }) }),
		}));
	return fc.oneof({ weight: 3, arbitrary: anything }, nearlyRight);
}

/** Calls that succeed as they are. */
function working(): readonly { readonly path: string; readonly bearer: string; readonly body: object }[] {
	const [agent = "", approver = "", , operator = ""] = bearers;
	const source = { platform: "local", chat_id: "cli", chat_type: "dm" };
	return [
		{ path: "/confirm", bearer: agent, body: { action: "a", description: "d" } },
		{ path: "/confirm/{id}/approve", bearer: approver, body: {} },
		{ path: "/confirm/{id}/deny", bearer: approver, body: { reason: "no" } },
		{ path: "/confirm/{id}/consume", bearer: agent, body: { digest: "x" } },
		{ path: "/confirm/{id}/cancel", bearer: agent, body: {} },
		{ path: "/grants", bearer: approver, body: { scope: "always", action: "b" } },
		{ path: "/api/inbound", bearer: operator, body: { text: "hi", client_message_id: "x", source } },
		{ path: "/api/tokens", bearer: operator, body: { name: "one", role: "reader" } },
	];
}

test(`${REQUESTS} requests of any kind are all answered, none with a 5xx`, async () => {
	const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
	const statuses = new Map<number, number>();
	const faults: unknown[] = [];
	for (let part = 0; part < 3; part++) {
		const batch = fc.sample(requests(), { numRuns: Math.ceil(REQUESTS / 3), seed: SEED + part });
		let next = 0;
		await Promise.all(
			Array.from({ length: AT_ONCE }, async () => {
				for (let one = batch[next++]; one; one = batch[next++]) {
					const status = await sendOne(agent, one).catch((error: Error) => `${error}`);
					if (typeof status === "number") statuses.set(status, (statuses.get(status) ?? 0) + 1);
					if (typeof status === "string" || status >= 500) faults.push({ status, ...one });
				}
			}),
		);
	}
	agent.destroy();
	expect(faults).toEqual([]);
	// It got somewhere: it was not all turned away at the door.
	for (const status of [200, 202, 400, 401, 403, 404, 405, 409, 415, 421])
		expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0);
	expect([...statuses.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(REQUESTS);
	const verified = await exchange({ host: "127.0.0.1", port }, "GET", "/audit/verify", { bearer: SECRET });
	expect(verified.body).toMatchObject({ ok: true });
}, 180_000);

/** So that a request that is never answered is named, before the test's own limit ends it without a word. */
const HANGS_MS = 100_000;

/** The status. */
function sendOne(agent: Agent, { method, path, headers, body }: Fuzzed): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request(
			{
				host: "127.0.0.1",
				port,
				agent,
				method,
				path,
				headers: {
					...headers,
					...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
				},
				timeout: HANGS_MS,
			},
			(response) => {
				response.resume();
				response.on("end", () => resolve(response.statusCode ?? 0));
				response.on("error", reject);
			},
		);
		sent.on("timeout", () => sent.destroy(new Error("no answer")));
		sent.on("error", reject);
		sent.end(body);
	});
}
