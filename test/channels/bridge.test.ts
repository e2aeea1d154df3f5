// A Keryx with a bridge, the example programs beside it, and the chat service behind them: programs are killed and nothing is lost or
// doubled; a bridge's token reaches its own channel alone, and what comes through it decides nothing unless the operator says so.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { createScriptedAgent } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { type Carrier, createCarrier } from "../peers/carrier/index.ts";
import { until } from "../support/until.ts";

const ended: (() => unknown)[] = [];

afterEach(async () => {
	for (const end of ended.splice(0).reverse()) await end();
});

interface Scene {
	readonly keryx: Keryx;
	readonly url: string;
	readonly carrier: Carrier;
	tokenFor(channel: string): Promise<string>;
}

async function scene(entry: object = {}): Promise<Scene> {
	const home = mkdtempSync(join(tmpdir(), "keryx-bridge-"));
	let url = "";
	const keryx = await createKeryx({
		home,
		store: "sqlite::memory:",
		config: {
			auth: { carrier: { allow_all: true, allow: [{ id: "ann", role: "owner" }] } },
			channels: {
				carrier: { platform: "carrier", bridge: true, shows: ["edit", "lookup"], ...entry },
				pigeon: { platform: "pigeon", bridge: true },
			},
			gateway: { batch_ms: 0 },
		},
		agent: createScriptedAgent({
			script: { otherwise: [{ text: "You said {{input}}" }] },
			clock: systemClock,
		}),
		env: { TZ: "UTC", XDG_DATA_HOME: join(home, "data") },
		report: { note: () => {}, warn: () => {} },
		serve: async (api, ready) => {
			const served = await serveOnPort(api, { host: "127.0.0.1", port: 0 });
			url = `http://127.0.0.1:${served.port}`;
			await ready();
			return { ...served, url };
		},
	});
	await keryx.start();
	const carrier = await createCarrier({ limit: 4000, pauseSeconds: 1 });
	ended.push(
		() => rmSync(home, { recursive: true, force: true }),
		() => keryx.stop(),
		() => carrier.close(),
	);
	const tokenFor = async (channel: string) =>
		(await keryx.client.createToken({ name: `for-${channel}`, role: "channel", channel })).token;
	return { keryx, url, carrier, tokenFor };
}

const PROGRAMS = {
	Python: ["python3", "-u", "examples/bridge/bridge.py"],
	TypeScript: [process.execPath, "examples/bridge/bridge.ts"],
} as const;

/** A program that is started again each time it is killed. */
class Program {
	readonly #start: () => ChildProcess;
	#running: ChildProcess;

	constructor([program, ...args]: readonly string[], env: Readonly<Record<string, string>>) {
		this.#start = () => spawn(program as string, args, { env: { ...process.env, ...env }, stdio: "ignore" });
		this.#running = this.#start();
	}

	async kill(): Promise<void> {
		this.#running.kill("SIGKILL");
		await once(this.#running, "exit");
		this.#running = this.#start();
	}

	async end(): Promise<void> {
		this.#running.kill("SIGKILL");
		await once(this.#running, "exit");
	}
}

describe.each(Object.entries(PROGRAMS))("the example in %s", (_, command) => {
	test("is killed again and again: each message is answered once, in order", {
		timeout: 180_000,
	}, async () => {
		const { url, carrier, tokenFor } = await scene();
		const program = new Program(command, {
			CARRIER_URL: carrier.url,
			KERYX_URL: url,
			KERYX_CHANNEL: "carrier",
			KERYX_TOKEN: await tokenFor("carrier"),
		});
		ended.push(() => program.end());
		const chats = ["ann", "bob", "eve"];
		const said = new Map(chats.map((chat) => [chat, [] as string[]]));
		const answers = (chat: string) =>
			carrier.messages.filter((message) => message.chat === chat).map(({ text }) => text);
		for (let round = 0; round < 5; round++) {
			for (let n = 0; n < 4; n++)
				for (const chat of chats) {
					const text = `${chat} ${round}.${n}`;
					carrier.say(chat, text);
					said.get(chat)?.push(`You said ${text}`);
				}
			// In the middle of the answers of this round.
			const before = carrier.messages.length;
			await until(() => carrier.messages.length >= before + 3);
			await program.kill();
		}
		await until(() => chats.every((chat) => answers(chat).length >= (said.get(chat)?.length ?? 0)));
		for (const chat of chats) expect(answers(chat)).toEqual(said.get(chat));
	});
});

describe("rights of a bridge", () => {
	const post = (url: string, token: string, path: string, body: object) =>
		fetch(`${url}${path}`, {
			method: "POST",
			headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
			body: JSON.stringify(body),
		});

	test("its token speaks for its own channel and reaches nothing else", async () => {
		const { keryx, url, tokenFor } = await scene();
		const token = await tokenFor("pigeon");
		const headers = { authorization: `Bearer ${token}` };
		const ask = async (path: string) => (await fetch(`${url}${path}`, { headers })).status;
		expect(await ask("/api/bridges/pigeon")).toBe(200);
		for (const path of [
			"/api/bridges/carrier",
			"/api/bridges/carrier/work",
			"/api/bridges/pigeon%2F..%2Fcarrier",
			"/api/bridges/pigeonx",
			"/api/conversations",
			"/api/tokens",
			"/api/search?q=a",
			"/api/events",
			"/confirm",
			"/audit",
			"/v1/models",
			"/metrics",
		])
			expect([path, await ask(path)]).toEqual([path, 403]);
		const message = { source: { chat_id: "1", platform: "carrier" }, message_id: "1", text: "hi" };
		expect((await post(url, token, "/api/bridges/pigeon/messages", message)).status).toBe(400);
		const noted = await keryx.store.auditLog({ scope: { kind: "operator" }, limit: 100 });
		expect(noted.filter(({ who }) => who === "token:for-pigeon").length).toBeGreaterThan(5);
	});

	test("a file can be named by the bridge that uploaded it alone", async () => {
		const { keryx, url, tokenFor } = await scene();
		const [carrier, pigeon] = await Promise.all(["carrier", "pigeon"].map(tokenFor));
		const uploaded = await fetch(`${url}/api/bridges/carrier/files?name=a.txt`, {
			method: "POST",
			headers: { authorization: `Bearer ${carrier}`, "content-type": "text/plain" },
			body: "the carrier's own",
		});
		const { id } = (await uploaded.json()) as { id: string };
		const names = (channel: string, token: string | undefined, file: string) =>
			post(url, token ?? "", `/api/bridges/${channel}/messages`, {
				source: { chat_id: "ann", user_id: "ann" },
				message_id: "1",
				files: [{ id: file, name: "a.txt", media_type: "text/plain" }],
			});
		expect((await names("pigeon", pigeon, id)).status).toBe(404);
		expect((await names("pigeon", pigeon, id.split(".")[0] ?? "")).status).toBe(404);
		expect((await names("carrier", carrier, id)).status).toBe(200);
		await until(async () => (await keryx.store.workload({ scope: { kind: "operator" } })).turns === 0);
	});

	test("ids and cursors that the store could not tell apart are refused, so that none counts as a duplicate", async () => {
		const { url, tokenFor } = await scene();
		const headers = {
			authorization: `Bearer ${await tokenFor("pigeon")}`,
			"content-type": "application/json",
		};
		const post = async (message_id: string, more: object = {}) => {
			const body = JSON.stringify({
				source: { chat_id: "c", user_id: "ann" },
				message_id,
				text: "hi",
				...more,
			});
			const answer = await fetch(`${url}/api/bridges/pigeon/messages`, { method: "POST", headers, body });
			return `${answer.status} ${((await answer.json()) as { error?: { field?: string } }).error?.field ?? ""}`;
		};
		for (const id of ["\ud800", "\ud801", "a\0"]) expect(await post(id)).toBe("400 message_id");
		expect(await post("1", { cursor: "\ud800" })).toBe("400 cursor");
		expect(await post("\ud83d\ude00")).toBe("200 ");
	});

	test("no other role is a channel, and a token of role channel names one", async () => {
		const { keryx, url } = await scene();
		const { token } = await keryx.client.createToken({ name: "reader", role: "reader" });
		const message = { source: { chat_id: "1" }, message_id: "1", text: "hi" };
		expect((await post(url, token, "/api/bridges/pigeon/messages", message)).status).toBe(403);
		const headers = { authorization: `Bearer ${token}` };
		expect((await fetch(`${url}/api/bridges/pigeon/work?wait=0`, { headers })).status).toBe(403);
		await expect(keryx.client.createToken({ name: "loose", role: "channel" })).rejects.toThrow(/channel/);
		await expect(
			keryx.client.createToken({ name: "both", role: "reader", channel: "pigeon" }),
		).rejects.toThrow(/channel/);
	});

	test.each([{ decides: false }, { decides: true }])(
		"what comes through it changes settings only where it may decide: $decides",
		async ({ decides }) => {
			const { keryx, url, tokenFor } = await scene({ decides });
			const token = await tokenFor("carrier");
			const message = { source: { chat_id: "ann", user_id: "ann" }, message_id: "1", text: "/busy steer" };
			const accepted = (await (await post(url, token, "/api/bridges/carrier/messages", message)).json()) as {
				conversation: string;
				id: number;
			};
			await until(async () => (await keryx.client.inbound({ id: accepted.id })).disposition !== null);
			const { busy } = await keryx.client.conversation({ conversation: accepted.conversation });
			expect(busy).toBe(decides ? "steer" : null);
		},
	);
});
