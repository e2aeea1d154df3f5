// Channels, configuration, turns, limits, attachments and login links over the API.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConfigView, loadConfig } from "../../src/config/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import type { Gateway } from "../../src/gateway/index.ts";
import { apiTransport, createApi, createClient, serveOnPort } from "../../src/http/index.ts";
import type { Store } from "../../src/store/index.ts";
import type { McpServerReport } from "../../src/tools/mcp/servers.ts";
import { exchange } from "./port.ts";
import { SECRET, type Served, serve, TERMINAL } from "./support.ts";

const PASSWORD = "correct horse battery staple";
const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ";

let home: string;
let keryx: Served;
let where: { readonly host: string; readonly port: number };
let closeServer: () => Promise<void>;
beforeAll(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-resources-"));
	writeFileSync(
		join(home, "config.yaml"),
		`secrets: [WORD]\nsession_reset:\n  max_messages: 50\nagent:\n  api_key_env: WORD\nconfirmations:\n  notify:\n    - {webhook: "https://example.org/${TOKEN}", secret_env: WORD}\n`,
	);
	const env = { WORD: PASSWORD, SHORT_WORD: "short", KERYX_SESSION_RESET_IDLE_MINUTES: "77" };
	const atStart = loadConfig({ home, env });
	keryx = await serve(
		{
			rules: [{ when: "slow", steps: [{ delay_ms: 60_000, text: "late" }] }],
			otherwise: [{ text: "you said {{input}}" }],
		},
		{},
		{},
		async () => ({ config: createConfigView({ home, env, atStart }), url: () => "http://127.0.0.1:1" }),
	);
	const served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	where = { host: "127.0.0.1", port: served.port };
	closeServer = served.close;
});
afterAll(async () => {
	await closeServer();
	await keryx.close();
	rmSync(home, { recursive: true, force: true });
});

describe("channels", () => {
	test("each says whether it is there, since when, and what waits for it", async () => {
		await keryx.say("hello");
		const { channels, counted } = await keryx.client.channels({});
		expect(counted).toBe(true);
		expect(channels.map(({ platform }) => platform).slice(0, 2)).toEqual(["local", "api_server"]);
		expect(channels[0]).toMatchObject({
			state: "connected",
			account: "",
			built_in: true,
			age_seconds: expect.any(Number),
		});
	});

	test("what waits is counted for each, however many pages it is, up to ten thousand", async () => {
		const counting = async (waiting: number) => {
			const all = Array.from({ length: waiting }, (_, index) => ({
				n: index + 1,
				destination: { platform: index % 3 === 0 ? "api_server" : "local", account: "", chatId: "1" },
			}));
			const store = Object.create(keryx.store, {
				deliveries: {
					value: async ({ after, limit }: { after: number; limit: number }) =>
						all.slice(after, after + limit),
				},
			}) as Store;
			const client = createClient(apiTransport(createApi({ ...keryx.host, store })));
			const { channels, counted } = await client.channels({});
			return [counted, ...channels.slice(0, 2).map(({ pending }) => pending)];
		};
		expect(await counting(1201)).toEqual([true, 800, 401]);
		expect((await counting(11_000))[0]).toBe(false);
	});

	test("the state of a channel and of an MCP server names variables of secrets to the operator alone", async () => {
		const health = keryx.gateway.health().map((one) => ({ ...one, detail: "WORD is not set" }));
		const gateway = Object.create(keryx.gateway, { health: { value: () => health } }) as Gateway;
		const settings = configSchema.parse({ mcp: { servers: { t: { command: "track", args: ["$WORD"] } } } })
			.mcp.servers.t as McpServerReport["settings"];
		const report: McpServerReport = {
			name: "t",
			settings,
			state: { kind: "waiting", why: "the variable WORD is not set", until: 0 },
			pid: null,
			starts: 0,
			lastFailure: "WORD was not set",
			tools: [],
			prompts: [],
			resources: 0,
			remarks: ["set WORD"],
		};
		const mcpServers = { report: () => [report], retry: async () => report };
		const api = createApi({ ...keryx.host, gateway, mcpServers });
		const { token } = await createClient(apiTransport(keryx.api, { bearer: SECRET })).createToken({
			name: "monitor",
			role: "reader",
		});
		for (const path of ["/api/channels", "/health", "/ready", "/api/mcp/servers"]) {
			const ask = async (bearer: string) =>
				(
					await api.fetch(
						new Request(`http://keryx${path}`, { headers: { authorization: `Bearer ${bearer}` } }),
					)
				).text();
			expect(await ask(SECRET)).toContain("WORD");
			const read = await ask(token);
			expect(read).toContain("•••");
			expect(read).not.toContain("WORD");
		}
	});
});

describe("the configuration", () => {
	const of = async (key: string) =>
		(await keryx.client.config({})).entries.find((entry) => entry.key === key);

	test("shows every value with where it came from", async () => {
		const { file, entries, problems } = await keryx.client.config({});
		expect([file, problems]).toEqual([join(home, "config.yaml"), []]);
		expect(entries.length).toBeGreaterThan(50);
		expect(await of("session_reset.max_messages")).toMatchObject({ value: 50, from: "file", line: 3 });
		expect(await of("session_reset.idle_minutes")).toMatchObject({
			value: 77,
			from: "environment",
			variable: "KERYX_SESSION_RESET_IDLE_MINUTES",
		});
		expect(await of("http.port")).toMatchObject({ value: 7717, from: "default", file: null });
	});

	test("shows no secret, however deep it stands", async () => {
		const answer = await exchange(where, "GET", "/api/config", { bearer: SECRET });
		expect(answer.text).not.toContain(PASSWORD);
		expect(answer.text).not.toContain(TOKEN);
		expect(answer.text).toContain("https://example.org/•••");
		const checked = await keryx.client.validateConfig({ yaml: `agent:\n  provider: ${TOKEN}\n` });
		expect(checked.ok).toBe(false);
		expect(JSON.stringify(checked)).not.toContain(TOKEN);
	});

	test("names the variables of secrets to the operator alone", async () => {
		const file = join(home, "config.yaml");
		const before = readFileSync(file, "utf8");
		// Named in another file than the one it started with, not set, too short, in a map, in a wrong value and in an argument.
		const yaml = [
			"secrets: [WORD, UNSET_WORD, {name: SHORT_WORD, roles: [member]}]",
			"agent:",
			"  api_key_env: MODEL_WORD",
			"walls:",
			"  env_pass: [PLAIN_WORD]",
			"mcp:",
			"  servers:",
			"    tracker: {command: tracker, args: ['--key=$TRACKER_WORD'], env: [TRACKER_WORD]}",
		].join("\n");
		writeFileSync(file, yaml);
		const named = /\b(?:UNSET_|SHORT_|MODEL_|TRACKER_)?WORD\b/g;
		const shown = async (bearer: string) => (await exchange(where, "GET", "/api/config", { bearer })).text;
		const told = await shown(SECRET);
		expect(new Set(told.match(named))).toEqual(
			new Set(["WORD", "UNSET_WORD", "SHORT_WORD", "MODEL_WORD", "TRACKER_WORD"]),
		);
		const operator = createClient(apiTransport(keryx.api, { bearer: SECRET }));
		for (const role of ["reader", "approver"] as const) {
			const { token } = await operator.createToken({ name: `config-${role}`, role });
			expect(JSON.parse(await shown(token))).toEqual(JSON.parse(told.replaceAll(named, "•••")));
			writeFileSync(file, `${yaml}\nhttp: {port: UNSET_WORD}\nagnet: {api_key_env: OTHER_WORD}\n`);
			const wrong = await shown(token);
			expect(JSON.parse(wrong)).toMatchObject({ problems: [{}, {}] });
			expect(wrong.match(named)).toBe(null);
			writeFileSync(file, yaml);
		}
		expect(told).toContain("PLAIN_WORD");
		writeFileSync(file, before);
	});

	test("a changed file is shown, what waits for a restart as such, and a wrong one leaves the last good one", async () => {
		const file = join(home, "config.yaml");
		writeFileSync(file, "session_reset:\n  max_messages: 60\nhttp:\n  port: 7800\n");
		expect(await of("session_reset.max_messages")).toMatchObject({ value: 60 });
		expect(await of("http.port")).toMatchObject({ value: 7717, after_restart: 7800 });
		writeFileSync(file, "session_reset:\n  max_messages: lots\n");
		const { entries, problems } = await keryx.client.config({});
		expect(problems).toMatchObject([{ key: "session_reset.max_messages", line: 2 }]);
		expect(entries.find(({ key }) => key === "session_reset.max_messages")).toMatchObject({ value: 60 });
	});

	test("a new one is checked by line and column, and nothing is written", async () => {
		const yaml = "session_reset:\n  max_mesages: 5\n  mode: sometimes\n";
		const { ok, problems } = await keryx.client.validateConfig({ yaml });
		expect(ok).toBe(false);
		expect(problems).toMatchObject([
			{ code: "config.invalid", line: 2, column: 3, suggestion: "max_messages" },
			{ code: "config.invalid", key: "session_reset.mode", line: 3 },
		]);
		expect(await keryx.client.validateConfig({ yaml: "a: [" })).toMatchObject({
			ok: false,
			problems: [{ code: "config.syntax", line: 1 }],
		});
		expect(await keryx.client.validateConfig({ yaml: "http:\n  port: 7718\n" })).toMatchObject({
			ok: true,
			problems: [],
		});
		const file = (await keryx.client.config({})).problems;
		expect(file).toMatchObject([{ key: "session_reset.max_messages" }]);
	});
});

describe("turns", () => {
	test("one is stopped by its id, and no other is", async () => {
		const { client } = keryx;
		const sent = await client.send({ text: "slow", client_message_id: "slow 1", source: TERMINAL });
		const turn = await expect
			.poll(async () => (await client.inbound({ id: sent.id })).turn)
			.not.toBeNull()
			.then(async () => (await client.inbound({ id: sent.id })).turn as string);
		const { messages } = await client.messages({
			session: (await client.conversation({ conversation: sent.conversation as string }))
				.live_session as string,
		});
		const earlier = messages.find((message) => message.turn !== null && message.turn !== turn)
			?.turn as string;
		expect(await client.stopTurn({ turn: earlier })).toMatchObject({ id: earlier, state: "completed" });
		const conversation = sent.conversation as ConversationId;
		expect(await keryx.gateway.actions.stop({ conversation, turn: earlier })).toMatchObject({
			stopped: null,
		});
		expect(await client.turn({ turn })).toMatchObject({ state: "running" });
		expect(await client.stopTurn({ turn })).toMatchObject({ id: turn, state: "stopped" });
		expect(await client.stopTurn({ turn })).toMatchObject({ state: "stopped" });
		await expect(client.stopTurn({ turn: "none" })).rejects.toMatchObject({ code: "store.not_found" });
	});

	test("the limit of a conversation is that of its live session", async () => {
		const { conversation } = await keryx.say("count me");
		const limit = await keryx.client.limit({ conversation });
		const { live_session } = await keryx.client.conversation({ conversation });
		expect(limit).toEqual((await keryx.client.session({ session: live_session as string })).limit);
		await expect(keryx.client.limit({ conversation: "none" })).rejects.toMatchObject({
			code: "store.not_found",
		});
	});
});

describe("attachments", () => {
	const PICTURE = Buffer.concat([Buffer.from("\x89PNG\r\n", "latin1"), Buffer.alloc(2_500_000, 7)]);
	const put = (body: Buffer | string, type: string, bearer = SECRET) =>
		fetch(`http://127.0.0.1:${where.port}/api/attachments`, {
			method: "POST",
			headers: { authorization: `Bearer ${bearer}`, "content-type": type },
			body: typeof body === "string" ? body : new Uint8Array(body),
		});

	test("a file is put, named in a message, and read back by its conversation alone", async () => {
		const { client } = keryx;
		const answer = (await (await put(PICTURE, "image/png; x=1")).json()) as { id: string; digest: string };
		expect(answer).toMatchObject({ size: PICTURE.length, media_type: "image/png" });
		const message = {
			text: "look",
			client_message_id: "with a picture",
			source: TERMINAL,
			attachments: [{ id: answer.id, media_type: "image/png", name: "cat.png" }],
		};
		const sent = await client.send(message);
		await client.inbound({ id: sent.id, wait: 30 });
		expect(await client.send(message)).toMatchObject({ id: sent.id, duplicate: true });
		const conversation = sent.conversation as string;
		const { live_session } = await client.conversation({ conversation });
		const { messages } = await client.messages({ session: live_session as string });
		expect(messages.findLast(({ role }) => role === "user")?.content).toEqual([
			{ type: "text", text: "look" },
			{ type: "image", blob: answer.digest, media_type: "image/png", name: "cat.png" },
		]);
		const path = `/api/conversations/${conversation}/attachments/${answer.digest}`;
		const read = (query: string) => keryx.api.fetch(new Request(`http://keryx${path}${query}`));
		const shown = await read("?media_type=image/png");
		expect(Buffer.from(await shown.arrayBuffer()).equals(PICTURE)).toBe(true);
		expect([shown.headers.get("content-type"), shown.headers.get("content-disposition")]).toEqual([
			"image/png",
			"inline",
		]);
		for (const type of ["text/html", "image/svg+xml", "application/javascript"]) {
			const saved = await read(`?media_type=${encodeURIComponent(type)}`);
			expect([saved.headers.get("content-type"), saved.headers.get("content-disposition")]).toEqual([
				"application/octet-stream",
				"attachment",
			]);
			expect(saved.headers.get("content-security-policy")).toContain("default-src 'none'");
		}
		const elsewhere = await client.send({
			text: "hi",
			client_message_id: "elsewhere",
			source: { platform: "api_server", chat_id: "x", chat_type: "dm" },
		});
		const other = `/api/conversations/${elsewhere.conversation}/attachments/${answer.digest}`;
		expect((await keryx.api.fetch(new Request(`http://keryx${other}`))).status).toBe(404);

		// The same bytes again are kept once, and a message that was sent twice is still one.
		const again = (await (await put(PICTURE, "image/png")).json()) as { id: string };
		const second = {
			...message,
			client_message_id: "again",
			attachments: [{ id: again.id, media_type: "image/png" }],
		};
		const first = await client.send(second);
		expect(await client.send(second)).toMatchObject({ id: first.id, duplicate: true });
		await client.inbound({ id: first.id, wait: 30 });
	});

	test("one that is not there is not found, and no message is taken", async () => {
		const attachments = [{ id: "nothing", media_type: "image/png" }];
		await expect(
			keryx.client.send({ text: "x", client_message_id: "never", source: TERMINAL, attachments }),
		).rejects.toMatchObject({ code: "store.not_found" });
	});

	test("more than 25 MiB are refused, whether or not they are announced, and a reader puts none", async () => {
		const declared = await exchange(where, "POST", "/api/attachments", {
			bearer: SECRET,
			headers: { "content-length": String(25 * 1024 * 1024 + 1), connection: "close" },
		});
		expect(declared.status).toBe(413);
		const endless = async function* () {
			const chunk = new Uint8Array(1024 * 1024);
			for (let n = 0; n < 26; n++) yield chunk;
		};
		const response = await keryx.api.fetch(
			new Request("http://keryx/api/attachments", {
				method: "POST",
				body: ReadableStream.from(endless()) as never,
				duplex: "half",
			} as RequestInit),
		);
		expect(response.status).toBe(413);
		const operator = createClient(apiTransport(keryx.api, { bearer: SECRET }));
		const { token } = await operator.createToken({ name: "no-put", role: "reader" });
		expect((await put("x", "text/plain", token)).status).toBe(403);
	});
});

describe("login links", () => {
	test("are made for who has proven to be the operator, and for nobody else", async () => {
		const operator = createClient(apiTransport(keryx.api, { bearer: SECRET }));
		const { path, url } = await operator.loginLink({});
		expect(url).toBe(`http://127.0.0.1:1${path}`);
		expect((await exchange(where, "GET", path)).status).toBe(303);
		await expect(keryx.client.loginLink({})).rejects.toMatchObject({ code: "http.unauthenticated" });
		const { token } = await operator.createToken({ name: "no-link", role: "approver" });
		const refused = await exchange(where, "POST", "/api/login-link", { bearer: token, body: {} });
		expect(refused.status).toBe(403);
	});
});
