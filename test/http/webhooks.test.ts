// Webhooks in: what is signed rightly becomes a message, once; everything else is refused and leaves nothing.
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { webhookRoutes } from "../../src/app/webhooks.ts";
import { checkConfig } from "../../src/config/index.ts";
import { type ServedOnPort, serveOnPort } from "../../src/http/index.ts";
import { call } from "../support/keryx.ts";
import { exchange } from "./port.ts";
import { type Served, serve } from "./support.ts";

const SECRETS = { deploy: "a secret of the deploy route", news: "another secret, of the news" };
const ROUTES = [
	{ name: "deploy", secret: SECRETS.deploy, profile: null, text: null },
	{
		name: "news",
		secret: SECRETS.news,
		profile: null,
		text: "{{title}} by {{author.name}}, {{tags.1}}{{missing}}{{__proto__}}: {{ body }}",
	},
];

let keryx: Served;
let port: ServedOnPort;
beforeAll(async () => {
	const routes = async () => ({ webhooks: ROUTES });
	keryx = await serve(undefined, { gateway: { batch_ms: 0 } }, {}, routes, { webhooks: true });
	port = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
	await port.close();
	await keryx.close();
});

interface Sent {
	readonly name?: string;
	readonly secret?: string;
	readonly at?: number;
	readonly headers?: Readonly<Record<string, string>>;
}

function seconds(): number {
	return Math.floor(Date.now() / 1000);
}

function signature(body: string, at: number, secret: string, name = "deploy"): string {
	return `sha256=${createHmac("sha256", secret).update(`${at}.${name}.${body}`).digest("hex")}`;
}

function post(
	body: string,
	{ name = "deploy", secret = SECRETS.deploy, at = seconds(), headers }: Sent = {},
) {
	return exchange({ host: "127.0.0.1", port: port.port }, "POST", `/hooks/${name}`, {
		body,
		headers: headers ?? {
			"x-keryx-timestamp": String(at),
			"x-keryx-signature": signature(body, at, secret, name),
		},
	});
}

async function said(conversation: string): Promise<unknown[]> {
	const { live_session } = await keryx.client.conversation({ conversation });
	if (live_session === null) return [];
	const { messages } = await keryx.client.messages({ session: live_session, limit: 200 });
	return messages.filter(({ role }) => role === "user").map(({ content }) => content);
}

async function stored(): Promise<number> {
	const { conversations } = await keryx.client.conversations({});
	return conversations.reduce((sum, one) => sum + one.message_count, 0);
}

/** Sends, waits for the end, and answers what was said. */
async function deliver(body: string, sent: Sent = {}): Promise<unknown> {
	const { status, body: answer } = await post(body, sent);
	expect(status).toBe(202);
	const { disposition } = await keryx.client.inbound({ id: answer.id as number, wait: 30 });
	expect(disposition?.kind).toBe("answered");
	return (await said(answer.conversation as string)).at(-1);
}

describe("a webhook", () => {
	test("puts its body into the route's own conversation, where the agent answers", async () => {
		const { body } = await post("version 7 is out");
		await keryx.client.inbound({ id: body.id as number, wait: 30 });
		const conversation = await keryx.client.conversation({ conversation: body.conversation as string });
		expect(conversation).toMatchObject({
			platform: "webhook",
			chat_type: "webhook",
			key: "agent:main:webhook:webhook:deploy",
		});
		expect(await said(conversation.id)).toEqual(["The webhook deploy says:\n\nversion 7 is out"]);
	});

	test("says what its text makes of a body in JSON", async () => {
		const news = { title: "Rain", author: { name: "Ada" }, tags: ["a", "b"], $: "$&" };
		const body = JSON.stringify(news);
		const sent = { name: "news", secret: SECRETS.news };
		expect(await deliver(body, sent)).toBe(`The webhook news says:\n\nRain by Ada, b: ${body}`);
		expect(await deliver("no JSON $&", sent)).toBe("The webhook news says:\n\n by , : no JSON $&");
	});

	test("gives no command, whatever stands in its body", async () => {
		expect(await deliver("/new")).toBe("The webhook deploy says:\n\n/new");
	});

	test("is taken once: the same signature again is refused, and stores nothing", async () => {
		const at = seconds();
		const first = await post("only once", { at });
		await keryx.client.inbound({ id: first.body.id as number, wait: 30 });
		const before = await stored();
		const upper = {
			"x-keryx-timestamp": String(at),
			"x-keryx-signature": signature("only once", at, SECRETS.deploy),
		};
		for (const headers of [
			upper,
			{ ...upper, "x-keryx-signature": upper["x-keryx-signature"].toUpperCase().replace("SHA", "sha") },
		])
			expect(await post("only once", { headers })).toMatchObject({
				status: 409,
				body: {
					error: {
						code: "webhook.replayed",
						message: `this was already accepted, as message ${first.body.id}`,
					},
				},
			});
		expect(await stored()).toBe(before);
	});

	test("of the same text later is another", async () => {
		const at = seconds();
		const [first, second] = [await post("tick", { at: at - 1 }), await post("tick", { at })];
		expect(second.body).toMatchObject({ conversation: first.body.conversation });
		expect(second.body.id).not.toBe(first.body.id);
	});

	// A minute within what is allowed: a busy machine may need some of it.
	test.each([-240, 0, 240])("may be %i seconds off", async (off) => {
		expect((await post(`off ${off}`, { at: seconds() + off })).status).toBe(202);
	});
});

describe("what is refused leaves nothing", () => {
	let cursor: string;
	beforeEach(async () => {
		cursor = (await keryx.client.eventsAfter({ after: "now" })).cursor;
	});
	afterEach(async () => {
		const { events } = await keryx.client.eventsAfter({ after: cursor });
		expect(events.filter(({ type }) => type.startsWith("inbound."))).toEqual([]);
	});

	const at = seconds();
	const good = signature("x", at, SECRETS.deploy);
	const time = { "x-keryx-timestamp": String(at) };
	test.each<[string, Sent]>([
		["no headers", { headers: {} }],
		["no signature", { headers: time }],
		["no timestamp", { headers: { "x-keryx-signature": good } }],
		["a blank signature", { headers: { ...time, "x-keryx-signature": "" } }],
		["a signature without its form", { headers: { ...time, "x-keryx-signature": good.slice(7) } }],
		["a short signature", { headers: { ...time, "x-keryx-signature": good.slice(0, -2) } }],
		["another secret", { secret: "wrong" }],
		["the secret of another route", { secret: SECRETS.news }],
		["a blank secret", { secret: "" }],
		["an old timestamp", { at: at - 400 }],
		["a timestamp of the future", { at: at + 400 }],
		[
			"another timestamp than the signed one",
			{ headers: { "x-keryx-timestamp": String(at + 1), "x-keryx-signature": good } },
		],
		["a timestamp that is no number", { headers: { "x-keryx-timestamp": "NaN", "x-keryx-signature": good } }],
		["a route that is not there", { name: "nothing" }],
		["a route of the language", { name: "__proto__" }],
		[
			"a route that is not there, with the word that stands in for its secret",
			{ name: "nothing", secret: "none" },
		],
	])("%s: 401", async (_name, sent) => {
		expect(await post("x", sent)).toMatchObject({
			status: 401,
			body: { error: { code: "webhook.refused" } },
		});
	});

	test("what was signed for another route: 401, also where both have one secret", async () => {
		const headers = { ...time, "x-keryx-signature": signature("x", at, SECRETS.deploy, "news") };
		expect((await post("x", { headers })).status).toBe(401);
		const bare = createHmac("sha256", SECRETS.deploy).update(`${at}.x`).digest("hex");
		expect((await post("x", { headers: { ...time, "x-keryx-signature": `sha256=${bare}` } })).status).toBe(
			401,
		);
	});

	test("another body than the signed one: 401", async () => {
		const headers = { ...time, "x-keryx-signature": good };
		expect((await post("y", { headers })).status).toBe(401);
	});

	test("a body that is too large: 413, declared or not", async () => {
		const body = "x".repeat(1024 * 1024 + 1);
		expect((await post(body)).status).toBe(413);
		const chunked = {
			"transfer-encoding": "chunked",
			"x-keryx-timestamp": String(at),
			"x-keryx-signature": signature(body, at, SECRETS.deploy),
		};
		expect((await post(body, { headers: chunked })).status).toBe(413);
	});

	test("an empty body, and one that is no text: 400", async () => {
		expect((await post(" ")).status).toBe(400);
		const body = Buffer.from([0xff, 0xfe]);
		const hmac = createHmac("sha256", SECRETS.deploy).update(`${at}.deploy.`).update(body).digest("hex");
		const answer = await keryx.api.fetch(
			new Request("http://keryx/hooks/deploy", {
				method: "POST",
				body,
				headers: { ...time, "x-keryx-signature": `sha256=${hmac}` },
			}),
		);
		expect(answer.status).toBe(400);
	});

	test("a right signature with one digit changed, whichever", async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(63), fc.integer({ min: 1, max: 15 }), async (place, by) => {
				const digits = good.slice(7);
				const digit = (Number.parseInt(digits[place] as string, 16) ^ by).toString(16);
				const changed = `sha256=${digits.slice(0, place)}${digit}${digits.slice(place + 1)}`;
				const { status } = await post("x", { headers: { ...time, "x-keryx-signature": changed } });
				expect(status).toBe(401);
			}),
			{ numRuns: 30 },
		);
	});

	test("the listener of confirmations has no webhooks", async () => {
		const compat = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0, compat: true });
		try {
			const where = { host: "127.0.0.1", port: compat.port };
			const headers = { ...time, "x-keryx-signature": good };
			const { status } = await exchange(where, "POST", "/hooks/deploy", { body: "x", headers });
			expect(status).toBe(404);
		} finally {
			// Its end ends the streams of the API, of which there are none.
			await compat.close();
		}
	});
});

test("a stranger who was told to wait does not keep out what is signed, nor one route another", async () => {
	// No time passes, so that nobody gets a request back on a slow machine.
	const routes = async () => ({ webhooks: ROUTES, ratePerMinute: 60, monotonic: () => 0 });
	const busy = await serve(undefined, { gateway: { batch_ms: 0 } }, {}, routes, { webhooks: true });
	const served = await serveOnPort(busy.api, { host: "127.0.0.1", port: 0 });
	const hook = (name: "deploy" | "news", body: string, secret: string) => {
		const at = seconds();
		const headers = {
			"x-keryx-timestamp": String(at),
			"x-keryx-signature": signature(body, at, secret, name),
		};
		return exchange({ host: "127.0.0.1", port: served.port }, "POST", `/hooks/${name}`, { body, headers });
	};
	try {
		for (let n = 0; n < 60; n++) expect((await hook("deploy", `${n}`, "guess")).status).toBe(401);
		for (let n = 0; n < 10; n++) expect((await hook("deploy", `${n}`, "guess")).status).toBe(429);
		for (let n = 0; n < 60; n++) expect((await hook("deploy", `${n}`, SECRETS.deploy)).status).toBe(202);
		expect((await hook("deploy", "one too many", SECRETS.deploy)).status).toBe(429);
		expect((await hook("news", "none too many", SECRETS.news)).status).toBe(202);
	} finally {
		await served.close();
		await busy.close();
	}
});

describe("the configuration of webhooks", () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-hooks-"));
	afterAll(() => rmSync(home, { recursive: true, force: true }));
	const write = (yaml: string) => writeFileSync(join(home, "config.yaml"), yaml);

	test.each<Record<string, string>>([{}, { DEPLOY_SECRET: "" }, { DEPLOY_SECRET: " \t " }])(
		"Keryx does not start with a route whose secret is not there: %j",
		async (env) => {
			write("webhooks:\n  deploy: { secret_env: DEPLOY_SECRET }\n");
			const run = await call([], { env: { KERYX_HOME: home, KERYX_HTTP_PORT: "0", ...env } });
			expect(run.code).not.toBe(0);
			expect(run.stderr).toContain("webhooks.deploy.secret_env");
			expect(run.stderr).toContain("DEPLOY_SECRET is not set, or blank");
		},
	);

	test.each([
		["fifteen bytes..", 15],
		["ÄÖÜäöüß", 14],
	])("Keryx does not start with a secret that can be guessed: %s", async (secret, bytes) => {
		write("webhooks:\n  deploy: { secret_env: DEPLOY_SECRET }\n");
		const env = { KERYX_HOME: home, KERYX_HTTP_PORT: "0", DEPLOY_SECRET: secret };
		const run = await call([], { env });
		expect(run.code).not.toBe(0);
		expect(run.stderr).toContain(`DEPLOY_SECRET has ${bytes} bytes, but needs at least 16`);
		expect(run.stderr).toContain("openssl rand -hex 32");
		expect(run.stderr).not.toContain(secret);
	});

	test("a route must name its variable, and a profile that there is", () => {
		write("webhooks:\n  deploy: { text: hello }\n  news: { secret_env: NEWS, profile: nobody }\n");
		const { problems } = checkConfig({ home, env: {} });
		expect(problems.map(({ key }) => key)).toEqual(expect.arrayContaining(["webhooks.deploy.secret_env"]));
		write("webhooks:\n  news: { secret_env: NEWS, profile: nobody }\n");
		expect(checkConfig({ home, env: {} }).problems.map(({ key }) => key)).toEqual(["webhooks.news.profile"]);
	});

	test("I12: the secret is read from the environment, hidden in output, and in no file", () => {
		write("webhooks:\n  deploy: { secret_env: DEPLOY_SECRET }\n");
		const env = { DEPLOY_SECRET: "sesame, open the door" };
		const { config } = checkConfig({ home, env });
		expect(config && webhookRoutes(config.values, env)).toEqual([
			{ name: "deploy", secret: env.DEPLOY_SECRET, profile: null, text: null },
		]);
		expect(config?.secrets.hide(`it is ${env.DEPLOY_SECRET}`)).toBe("it is \u0024{secret:DEPLOY_SECRET}");
		expect(readFileSync(join(home, "config.yaml"), "utf8")).not.toContain("sesame");
	});
});
