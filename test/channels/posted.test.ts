// Requests of strangers to the address of a channel, on a real port of a real Keryx: nothing but what the platform itself proves is taken.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { secretOf } from "../../src/channels/telegram/webhook.ts";
import { type ServedOnPort, serveOnPort } from "../../src/http/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { createSlackPeer, type SlackPeer, type Person as SlackPerson } from "../peers/slack/index.ts";
import { bodyOf, signed } from "../peers/slack/requests.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { until } from "../support/until.ts";
import { QUICK } from "./slack-scene.ts";

const home = mkdtempSync(join(tmpdir(), "keryx-posted-"));
let slack: SlackPeer;
let telegram: TelegramPeer;
let ada: SlackPerson;
let tess: ReturnType<TelegramPeer["user"]>;
let keryx: Keryx;
let port: ServedOnPort;
/** What stands in front of Keryx: its address is known before Keryx runs. */
let front: FaultProxy;
let url = "";

beforeAll(async () => {
	[slack, telegram] = await Promise.all([createSlackPeer(QUICK), createTelegramPeer()]);
	ada = slack.user("Ada");
	tess = telegram.user("Tess");
	// A free port, which Keryx then takes.
	const free = await createFaultProxy("http://127.0.0.1:1");
	await free.close();
	url = `http://127.0.0.1:${free.port}`;
	front = await createFaultProxy(url);
	keryx = await createKeryx({
		home,
		store: "sqlite::memory:",
		report: { warn: () => {}, note: () => {} },
		env: {
			SLACK: slack.botToken,
			SIGNING: slack.signingSecret,
			TELEGRAM: telegram.bot.token,
		},
		config: {
			gateway: { batch_ms: 0 },
			auth: { slack: { allow: [ada.id] }, telegram: { allow: [String(tess.id)] } },
			channels: {
				work: {
					platform: "slack",
					token_env: "SLACK",
					signing_secret_env: "SIGNING",
					api_root: slack.apiRoot,
				},
				phone: {
					platform: "telegram",
					token_env: "TELEGRAM",
					api_root: telegram.apiRoot,
					webhook_url: `${front.url}/channels/phone/events`,
				},
			},
		},
		serve: async (api, ready) => {
			port = await serveOnPort(api, { host: "127.0.0.1", port: free.port });
			await ready();
			return { url, close: () => port.close() };
		},
	});
	await keryx.start();
	await until(() =>
		["work", "phone"].every((name) =>
			keryx.gateway.health().some((one) => one.name === name && one.state === "connected"),
		),
	);
});
afterAll(async () => {
	await keryx.stop();
	await front.close();
	await Promise.all([slack.close(), telegram.close()]);
	rmSync(home, { recursive: true, force: true });
});

/** How many messages were ever accepted. */
async function accepted(): Promise<number> {
	const page = await keryx.store.events({ scope: { kind: "operator" }, after: "", limit: 1000 });
	return page.kind === "events" ? page.events.filter(({ type }) => type === "inbound.accepted").length : 0;
}

let events = 0;
function eventBody(
	text: string,
	ts = `${Math.floor(Date.now() / 1000)}.${String(++events).padStart(6, "0")}`,
) {
	const event = {
		type: "message",
		channel: slack.dm(ada).id,
		channel_type: "im",
		user: ada.id,
		text,
		ts,
		event_ts: ts,
	};
	const payload = { type: "event_callback", team_id: slack.team.id, event_id: `EvX${++events}`, event };
	return bodyOf("events_api", payload).body;
}

const now = () => Math.floor(Date.now() / 1000);

function post(
	name: string,
	body: string,
	headers: Readonly<Record<string, string>>,
	type = "application/json",
): Promise<Response> {
	return fetch(`${url}/channels/${name}/events`, {
		method: "POST",
		body,
		headers: { "content-type": type, ...headers },
	});
}

describe("Slack", () => {
	test("the challenge is answered where it is signed, events become messages and their answers", async () => {
		expect(await slack.subscribe(`${front.url}/channels/work/events`)).toBe(true);
		const dm = slack.dm(ada);
		slack.say(ada, dm, "hello over HTTP");
		await until(() => slack.answers(dm).length > 0);
		slack.command(ada, dm, "/keryx", "status");
		await until(() => slack.answers(dm).length > 1);
	});

	test("an event that comes again, with its own signature or a new one, is one message", async () => {
		const before = await accepted();
		const body = eventBody("once");
		const first = signed(body, slack.signingSecret, now());
		const again = { ...signed(body, slack.signingSecret, now() - 1), "x-slack-retry-num": "1" };
		const answers = await Promise.all([
			post("work", body, first),
			post("work", body, first),
			post("work", body, again),
		]);
		expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
		expect(await accepted()).toBe(before + 1);
	});

	test("what Slack did not sign is refused alike, and leaves nothing", async () => {
		const before = await accepted();
		const body = eventBody("forged");
		const right = signed(body, slack.signingSecret, now());
		const flipped = right["x-slack-signature"]?.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")) ?? "";
		const refused: Readonly<Record<string, Promise<Response>>> = {
			unsigned: post("work", body, {}),
			"another secret": post("work", body, signed(body, "another secret", now())),
			"an empty secret": post("work", body, signed(body, "", now())),
			"one digit off": post("work", body, { ...right, "x-slack-signature": flipped }),
			"another body": post("work", eventBody("other words"), right),
			"another time": post("work", body, { ...right, "x-slack-request-timestamp": String(now() + 7) }),
			"too old": post("work", body, signed(body, slack.signingSecret, now() - 301)),
			"from the future": post("work", body, signed(body, slack.signingSecret, now() + 330)),
			"no number": post("work", body, { ...right, "x-slack-request-timestamp": "1e9" }),
			"an old version": post("work", body, {
				...right,
				"x-slack-signature": right["x-slack-signature"]?.replace("v0=", "v1=") ?? "",
			}),
			"a challenge": post("work", JSON.stringify({ type: "url_verification", challenge: "x" }), {}),
			"a press": post("work", "payload=%7B%7D", {}, "application/x-www-form-urlencoded"),
			"Telegram's address": post("phone", body, right),
			"no channel": post("nothing", body, right),
			"a name of Keryx's own": post("web", body, right),
			__proto__: post("__proto__", body, right),
		};
		const said = new Set<string>();
		for (const [what, answer] of Object.entries(refused)) {
			const { status } = await answer;
			expect([what, status]).toEqual([what, 401]);
			said.add(await (await answer).text());
		}
		expect(said.size).toBe(1);
		expect(await accepted()).toBe(before);
		// Until something comes that Slack signed, the channel says so.
		await until(async () => {
			await post("work", body, {});
			const { detail = "" } = keryx.gateway.health().find(({ name }) => name === "work") ?? {};
			return detail.includes("signing secret");
		});
	});

	test("a body over the limit is refused before it is read to its end", async () => {
		const body = eventBody("x".repeat(2 * 1024 * 1024));
		const { status } = await post("work", body, signed(body, slack.signingSecret, now()));
		expect(status).toBe(413);
	});

	test("signed nonsense is acknowledged, and does nothing", async () => {
		const before = await accepted();
		for (const body of [
			"",
			"{",
			"null",
			"[]",
			'{"type":"event_callback"}',
			'{"type":"event_callback","event":7}',
		])
			expect((await post("work", body, signed(body, slack.signingSecret, now()))).status).toBe(200);
		expect(await accepted()).toBe(before);
	});

	test("a name in the Host header does not matter: the signature speaks", async () => {
		const body = eventBody("from outside");
		const { status } = await fetch(`${url}/channels/work/events`, {
			method: "POST",
			body,
			headers: {
				host: "bot.example.org",
				"content-type": "application/json",
				...signed(body, slack.signingSecret, now()),
			},
		});
		expect(status).toBe(200);
	});
});

describe("Telegram", () => {
	const secret = () => ({ "x-telegram-bot-api-secret-token": secretOf(telegram.bot.token) });
	const update = (id: number, text: string, message = id) =>
		JSON.stringify({
			update_id: id,
			message: {
				message_id: message,
				date: now(),
				chat: { id: tess.id, type: "private", first_name: "Tess" },
				from: tess,
				text,
			},
		});

	test("an update becomes a message and its answer", async () => {
		const dm = telegram.dm(tess);
		telegram.say(tess, dm, "hello by webhook");
		await until(() => telegram.answers(dm).length > 0);
		expect(telegram.bot.queue.waiting).toEqual([]);
	});

	test("without the secret nothing is taken, whatever is posted", async () => {
		const before = await accepted();
		const name = "x-telegram-bot-api-secret-token";
		const right = secretOf(telegram.bot.token);
		const wrong: readonly Readonly<Record<string, string>>[] = [
			{},
			{ [name]: "" },
			{ [name]: telegram.bot.token },
			{ [name]: right.slice(0, -1) },
			{ [name]: right.toUpperCase() },
			{ [name]: secretOf(`${telegram.bot.token} `) },
		];
		for (const headers of wrong)
			expect((await post("phone", update(900_000, "forged"), headers)).status).toBe(401);
		expect((await post("work", update(900_001, "forged"), secret())).status).toBe(401);
		expect((await post("phone", "x".repeat(3 * 1024 * 1024), {})).status).toBe(401);
		expect(await accepted()).toBe(before);
	});

	test("an update that comes again, at once or later, is one message", async () => {
		const before = await accepted();
		const body = update(910_000, "twice", 5001);
		const answers = await Promise.all([post("phone", body, secret()), post("phone", body, secret())]);
		expect([...answers, await post("phone", body, secret())].map(({ status }) => status)).toEqual([
			200, 200, 200,
		]);
		expect((await post("phone", update(910_001, "twice", 5001), secret())).status).toBe(200);
		expect(await accepted()).toBe(before + 1);
	});

	test("what is no update is refused; one too large is, too", async () => {
		for (const body of ["", "{", "null", "7", '{"update_id":"1"}', '{"update_id":1.5}'])
			expect((await post("phone", body, secret())).status).toBe(401);
		expect((await post("phone", update(1, "x".repeat(2 * 1024 * 1024)), secret())).status).toBe(413);
	});
});
