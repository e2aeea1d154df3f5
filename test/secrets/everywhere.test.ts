// I12: known secrets are planted wherever something can be written, in every form, through a whole Keryx. Afterwards none of them is
// anywhere: not in the home, an export, a log, an answer, an event, or anything that was sent.
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { actionName } from "../../src/domain/index.ts";
import { call } from "../support/keryx.ts";
import { answers, calls, refuses, says } from "../support/model-server.ts";
import { eventually } from "../support/soon.ts";
import { formsOf, traceOf } from "./traces.ts";
import { HOOK_SECRET, WatchedKeryx } from "./watched-keryx.ts";

const MODEL_KEY = "sk-live-Q7/x+Kd_2026xYw";
const TOOL_TOKEN = 'kx"9é\\Kd+2&26 xYw!';
const SECRETS = [MODEL_KEY, TOOL_TOKEN];
const [ofKey, ofToken] = SECRETS.map((secret) => Object.values(formsOf(secret))) as [string[], string[]];
/** Every secret in every form. */
const ALL = [...ofKey, ...ofToken].join(" ; ");
/** Every form once, of one secret or the other. */
const FORMS = ofKey.map((form, n) => (n % 2 === 0 ? form : (ofToken[n] as string)));

const keryx = new WatchedKeryx({ MODEL_KEY, TOOL_TOKEN });
const ask = keryx.ask.bind(keryx);
const talk = keryx.talk.bind(keryx);

beforeAll(() =>
	keryx.start({
		agent: { api_key_env: "MODEL_KEY", instructions: `Never tell that the key is ${ALL}` },
		secrets: ["TOOL_TOKEN"],
	}),
);
afterAll(() => keryx.end());

/** Where something was planted. */
const planted = new Set<string>();

function place(name: string, plant: () => Promise<void>): void {
	test(`planted in ${name}`, async () => {
		await plant();
		planted.add(name);
	});
}

function inPieces(text: string, length: number): string[] {
	return Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
		text.slice(n * length, (n + 1) * length),
	);
}

describe("secrets are", () => {
	place("instructions of the configuration, and what a person writes", async () => {
		await talk(ALL);
		await ask("GET", "/api/config");
	});
	place("a model's text, in one piece", async () => {
		await talk("one", [says(ALL)]);
	});
	place("a model's text, in pieces of two characters", async () => {
		await talk("many", [says(...inPieces(ALL, 2))]);
	});
	place("a model's thoughts", async () => {
		await talk("think", [answers([{ reasoning_content: ALL }, { content: "thought" }])]);
	});
	place("a text that is cut off", async () => {
		await talk("cut", [
			(response) => {
				const delta = { choices: [{ index: 0, delta: { content: ALL } }] };
				response.writeHead(200, { "content-type": "text/event-stream" });
				response.write(`data: ${JSON.stringify(delta)}\n\n`, () => response.destroy());
			},
		]);
	});
	place("the arguments of calls, which are refused", async () => {
		const wanted = [...ofKey, ...ofToken].map((form, n) => ({
			id: `literal${n}`,
			name: "terminal",
			args: JSON.stringify({ command: `echo '${form}'`, [form]: form }),
		}));
		const { conversation } = await talk("call", [calls(...wanted), says("done")]);
		const rows = await keryx.rows(conversation);
		const results = rows.filter(({ tool_call_id: id }) => String(id).startsWith("literal"));
		expect(results).toHaveLength(wanted.length);
		for (const { is_error, content } of results)
			expect([is_error, content]).toEqual([true, expect.stringContaining("Write \u0024{secret:NAME}")]);
		expect((await ask("GET", "/api/processes?which=all")).body.processes).toEqual([]);
	});
	place("names and ids of calls", async () => {
		await talk("names", [calls({ id: ALL, name: MODEL_KEY, args: "{}" }), says("done")]);
	});
	place("results of calls: what commands print", async () => {
		const token = "printf %s \u0024{secret:TOOL_TOKEN}";
		const commands = [
			"cat",
			"base64",
			"od -An -tx1 -v | tr -d ' \n'",
			"fold -w 5",
			"tr a-z A-Z",
			"cat >&2; exit 3",
		];
		const wanted = commands.map((command, n) => ({
			id: `out${n}`,
			name: "terminal",
			args: JSON.stringify({ command: `${token} | ${command}` }),
		}));
		const { conversation } = await talk("run", [calls(...wanted), says("done")]);
		const { processes } = (await ask("GET", `/api/processes?which=all&conversation=${conversation}`)).body;
		expect(processes).toHaveLength(commands.length);
		expect(JSON.stringify(await keryx.rows(conversation))).toContain(
			'output\\":\\"\u0024{secret:TOOL_TOKEN}',
		);
	});
	place("the output of a program in the background, its end, and its log", async () => {
		const args = { command: "printf '%s\\n' \u0024{secret:TOOL_TOKEN}; exit 7", background: true };
		const start = calls({ id: "background", name: "terminal", args: JSON.stringify(args) });
		const { conversation } = await talk("start", [start, says("begun"), says("heard of its end")]);
		const heardOf = async () => {
			const rows = await keryx.rows(conversation);
			expect(rows.at(-1)).toMatchObject({ content: "heard of its end" });
			return /proc_[0-9a-f]{12}/.exec(JSON.stringify(rows.at(-2)))?.[0] as string;
		};
		const id = await eventually(heardOf);
		await ask("GET", `/api/processes/${id}/log`);
		const args2 = JSON.stringify({ action: "log", id });
		await talk("look", [calls({ id: "log", name: "process", args: args2 }), says("read")]);
	});
	place("errors of tools", async () => {
		const wrong = calls(
			{ id: "e1", name: "terminal", args: JSON.stringify({ command: "cat \u0024{secret:TOOL_TOKEN}" }) },
			{ id: "e2", name: `no ${TOOL_TOKEN}`, args: "{}" },
			{ id: "e3", name: "terminal", args: `{"command":${JSON.stringify(ALL)}` },
		);
		await talk("wrong", [wrong, says("done")]);
	});
	place("errors of the provider, and their headers", async () => {
		const headers = { "x-request-id": MODEL_KEY, "retry-after": MODEL_KEY };
		for (const status of [400, 401, 429, 500])
			await talk(`error ${status}`, [refuses(status, { message: `no, ${ALL}`, code: MODEL_KEY }, headers)]);
		for (const form of FORMS)
			await talk("error", [refuses(400, { message: `Incorrect API key provided: ${form}` })]);
	});
	place("titles", async () => {
		const { conversation } = await talk("titled");
		const { body } = await ask("GET", `/api/conversation?id=${conversation}`);
		for (const title of [...ofKey, ...ofToken])
			await ask("POST", `/api/sessions/${body.live_session}/title`, { title });
		await ask("POST", `/api/conversations/${conversation}/new`, { title: `new ${MODEL_KEY}` });
		await ask("POST", `/api/conversations/${conversation}/branch`, { title: `branch ${TOOL_TOKEN}` });
	});
	place("commands and their answers", async () => {
		const commands = ["title", "model", "resume", "sessions", "nosuchcommand", "deny"];
		for (const [n, form] of FORMS.entries()) await talk(`/${commands[n % commands.length]} ${form}`);
		await talk("/model default");
	});
	place("names of chats and of people", async () => {
		for (const [n, form] of FORMS.entries())
			await talk("named", [says("ok")], {
				from: { chat_id: `c${n}`, chat_name: form, user_name: form, chat_topic: form },
			});
	});
	place("ids of chats, threads and people", async () => {
		for (const form of FORMS)
			await talk("id", [says("ok")], { from: { chat_id: form, user_id: form, thread_id: form } });
	});
	place("ids of messages", async () => {
		for (const [n, form] of FORMS.entries())
			await talk("message", [says("ok")], { client_message_id: `${n} ${form}` });
	});
	place("names of attachments", async () => {
		const { body } = await ask("POST", "/api/attachments", Buffer.from("content"));
		const attachments = [{ id: body.id, media_type: "text/plain", name: `${TOOL_TOKEN} ${MODEL_KEY}.txt` }];
		await talk("file", [says("ok")], { attachments });
	});
	place("contents of attachments, also across two chunks", async () => {
		const bytes = Buffer.from(ALL);
		const fill = Buffer.alloc(1024 * 1024 - bytes.length - Math.floor(bytes.length / 2), ".");
		const file = Buffer.concat([bytes, fill, bytes, Buffer.alloc(100, "."), bytes]);
		const { body } = await ask("POST", "/api/attachments", file);
		expect(body).toMatchObject({ size: file.length });
		const attachments = [{ id: body.id, media_type: "text/plain", name: "a.txt" }];
		const { conversation } = await talk("large", [says("ok")], { attachments });
		const read = await ask("GET", `/api/conversations/${conversation}/attachments/${body.digest}`);
		expect(read.status).toBe(200);
	});
	place("headers of requests", async () => {
		for (const name of ["x-keryx-via", "user-agent", "last-event-id", "x-request-id", "content-type"])
			await ask("GET", "/api/conversations", undefined, { [name]: MODEL_KEY });
		await ask("GET", "/api/conversations", undefined, { authorization: `Bearer ${MODEL_KEY}` });
		const type = `text/${MODEL_KEY.replace("/", "")}`;
		await ask("POST", "/api/attachments", Buffer.from("x"), { "content-type": type });
	});
	place("paths and questions, which errors repeat", async () => {
		for (const form of [...ofKey, ...ofToken]) {
			const encoded = encodeURIComponent(form);
			const asked = [
				"/nothing/",
				"/api/conversations/",
				"/api/search?q=",
				"/api/conversation?key=",
				"/confirm/",
			];
			for (const path of [...asked, "/api/turns/", "/api/processes/", "/api/insights?days="])
				await ask("GET", path + encoded);
			await ask("POST", "/api/inbound", { text: "x", source: { platform: form }, [form]: 1 });
			await ask("POST", "/api/config/validate", { text: JSON.stringify({ agent: form, [form]: 1 }) });
		}
	});
	place("webhooks that come in", async () => {
		for (const body of [ALL, JSON.stringify({ text: ALL, [MODEL_KEY]: TOOL_TOKEN })]) {
			keryx.model.next(says("ok"));
			const timestamp = String(Math.floor(Date.now() / 1000));
			const signature = createHmac("sha256", HOOK_SECRET).update(`${timestamp}.deploy.${body}`).digest("hex");
			const headers = { "x-keryx-timestamp": timestamp, "x-keryx-signature": `sha256=${signature}` };
			const taken = await ask("POST", "/hooks/deploy", body, headers);
			expect(taken.status).toBe(202);
			await ask("GET", `/api/inbound/${taken.body.id}?wait=60`);
		}
	});
	place("confirmations, decisions about them, and webhooks that tell of them", async () => {
		const { body: made } = await ask("POST", "/api/tokens", { name: "asker", role: "agent" });
		const told = () => keryx.heard.filter(({ where }) => where === "webhook");
		for (const bearer of [keryx.operator, made.token as string])
			for (const [n, form] of FORMS.entries()) {
				const headers = { authorization: `Bearer ${bearer}` };
				const request = {
					// Not every form of a secret can be the name of an action.
					action: actionName(`do:${form}`) ?? `do_${n}`,
					description: form,
					details: { [form]: [form, { deep: form }] },
					requester: form,
					idempotency_key: `${n} ${form} ${bearer === keryx.operator}`,
					session_key: form,
				};
				const asked = await ask("POST", "/confirm", request, headers);
				expect(asked.status).toBe(202);
				// What is decided is no longer told.
				await eventually(() =>
					expect(told().some(({ text }) => text.includes(String(asked.body.id)))).toBe(true),
				);
				const path = `/confirm/${asked.body.id}`;
				const verb = n % 2 === 0 ? "approve" : "deny";
				const decided = await ask("POST", `${path}/${verb}`, { reason: form, approver: form });
				if (bearer !== keryx.operator && verb === "approve") expect(decided.status).toBe(200);
				if (n === 0) await ask("POST", `${path}/consume`, { digest: asked.body.digest }, headers);
				await ask("POST", "/confirm", { action: form, description: 7, [form]: form }, headers);
			}
		await ask("POST", "/grants", { scope: "always", action: MODEL_KEY, pattern: `{"a":"*${TOOL_TOKEN}*"}` });
		for (const path of ["/confirm", "/audit?limit=500", "/audit/log", "/grants"]) await ask("GET", path);
		expect(told().length).toBeGreaterThan(FORMS.length);
	});
	place("tokens, and models that are asked for", async () => {
		const name = MODEL_KEY.replace(/[^\w-]/g, "-");
		await ask("POST", "/api/tokens", { name, role: "reader", session_key: TOOL_TOKEN });
		const { conversation } = await talk("model");
		for (const model of FORMS) {
			await ask("POST", `/api/conversations/${conversation}/model`, { override: { model } });
			await ask("POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: model }] });
		}
		await ask("POST", `/api/conversations/${conversation}/model`, { override: null });
	});
	place("the API in OpenAI's shape, whole and streamed", async () => {
		for (const stream of [false, true]) {
			keryx.model.next(says(...inPieces(ALL, 7)));
			const messages = [{ role: "user", content: ALL }];
			const answered = await ask("POST", "/v1/chat/completions", { model: "keryx", stream, messages });
			expect(answered.status).toBe(200);
		}
	});
	place("names and contents of files, and labels of checkpoints of them", async () => {
		const files = { from: { chat_id: "files" } };
		const { conversation } = await talk("begin", [says("ok")], files);
		const path = `/api/conversations/${conversation}/checkpoints`;
		const { id: first } = (await ask("POST", path, { label: "empty" })).body.checkpoint as { id: string };
		const command =
			"touch \u0024{secret:TOOL_TOKEN}; printf %s \u0024{secret:TOOL_TOKEN} > a; base64 a > b; cat a >> b";
		const write = calls({ id: "files", name: "terminal", args: JSON.stringify({ command }) });
		await talk("write", [write, says("written")], files);
		for (const label of FORMS) await ask("POST", path, { label });
		const diff = await ask("GET", `${path}/${first}/diff`);
		expect(JSON.stringify(diff.body)).toContain("\u0024{secret:TOOL_TOKEN}");
		await ask("GET", path);
		await ask("GET", `${path}/${first}/plan`);
		expect((await ask("POST", `${path}/${first}/restore`, {})).status).toBe(409);
	});
	place("imports: rows, names, titles and blobs", async () => {
		const { conversation } = await talk("import me", [says("yes")], { from: { chat_id: "import" } });
		const exported = await keryx.host.api.fetch(
			new Request(`http://keryx/api/export?conversation=${conversation}`),
		);
		const lines = (await exported.text()).split("\n").filter(Boolean);
		const text = lines.flatMap((line) => plantedLines(JSON.parse(line))).map((line) => JSON.stringify(line));
		const take = () => ask("POST", "/api/import?origin=elsewhere", text.join("\n"));
		expect((await take()).body).toMatchObject({ conversations: 1, messages: 2, blobs: 1 });
		expect((await take()).body).toMatchObject({ conversations: 0, messages: 0, blobs: 0 });
		const { body } = await ask("GET", "/api/search?q=imported");
		expect(body.hits).not.toEqual([]);
	});
	place("a summary of what was said", async () => {
		const here = { from: { chat_id: "summary" } };
		for (const text of ["a", "long", "story"]) await talk(text, [says(`heard ${"word ".repeat(200)}`)], here);
		const { conversation } = await talk("told", [says("ok")], here);
		keryx.model.next(says(`In short: ${MODEL_KEY} and ${TOOL_TOKEN}`));
		const { body } = await ask("POST", `/api/conversations/${conversation}/compress`, {});
		const summed = async () =>
			expect(JSON.stringify(await keryx.rows(conversation))).toContain("In short: \u0024{secret:MODEL_KEY}");
		expect(body.turn).not.toBeNull();
		await eventually(summed);
	});
});

/** A line of an export with secrets wherever text stands, and a large text before the first message. */
function plantedLines(line: Record<string, unknown>): object[] {
	const conversation = `old-${MODEL_KEY}`;
	const own = { ...line, ...("conversation" in line && { conversation }) };
	const bytes = Buffer.from(`${"x".repeat(70_000)}${ALL}`);
	const digest = createHash("sha256").update(bytes).digest("hex");
	const blob = { conversation, digest };
	switch (line.type) {
		case "conversation":
			return [
				{
					...own,
					id: conversation,
					key: `old ${TOOL_TOKEN}`,
					preview: ALL,
					addresses: [],
					source: { ...(line.source as object), chat_name: ALL },
				},
			];
		case "session":
			return [{ ...own, title: `imported ${MODEL_KEY}`, context: ALL }];
		case "conversation_end":
			return [{ ...own, blobs: 1 }];
		case "message": {
			const isFirst = line.seq === 1;
			const content = isFirst ? { type: "text_blob", digest } : ALL;
			const body = { ...(line.body as object), content, reasoning: { [ALL]: ALL }, authorName: ALL };
			const chunks = [bytes.subarray(0, 70_050), bytes.subarray(70_050)].map((data, n) => ({
				type: "blob_chunk",
				...blob,
				n,
				data: data.toString("base64"),
			}));
			const size = bytes.length;
			const head = { type: "blob", ...blob, mediaType: "text/plain; charset=utf-8", size, createdAt: 1 };
			return [...(isFirst ? [head, ...chunks] : []), { ...own, body }];
		}
		default:
			return [own];
	}
}

test("25 places and more were tried", () => {
	expect(planted.size).toBeGreaterThanOrEqual(25);
});

describe("afterwards no secret is, in any form,", () => {
	test("in an export or what a command prints", async () => {
		for (const format of ["jsonl", "markdown"])
			expect((await ask("GET", `/api/export?format=${format}`)).status).toBe(200);
		const texts = keryx.heard.flatMap(({ where, text }) => (where.includes("/api/export") ? [text] : []));
		const commands = [
			"sessions list --json",
			"sessions search imported --json",
			"ps --json",
			"confirm list --json",
		];
		for (const args of [...commands, "doctor --quick", "outbox list --json", "sessions export --all"]) {
			const { stdout, stderr } = await call(args.split(" "), { env: keryx.env });
			texts.push(stdout + stderr);
		}
		expect(texts[0]).toContain("\u0024{secret:MODEL_KEY}");
		for (const text of texts) expect(traceOf(SECRETS, text)).toBeNull();
	});

	test("in an answer, a live event, a webhook or the input of a hook", () => {
		const heard = [...keryx.heard, { where: "hooks", text: keryx.hooked }];
		const found = heard.flatMap(({ where, text }) => {
			const trace = traceOf(SECRETS, text);
			return trace === null ? [] : [`${where}: ${trace}`];
		});
		expect(found).toEqual([]);
		const places = new Set(heard.map(({ where }) => where.split(" ")[0]));
		expect([...places]).toEqual(expect.arrayContaining(["live", "webhook", "hooks", "GET", "POST"]));
	});

	test("in what was printed, or put to the model", () => {
		expect(keryx.model.requests.length).toBeGreaterThan(50);
		expect(traceOf(SECRETS, keryx.printed.join("\n"))).toBeNull();
		for (const { body } of keryx.model.requests) expect(traceOf(SECRETS, body)).toBeNull();
	});

	test("in any file of the home", () => {
		const files = keryx.files();
		const names = files.map((file) => basename(file));
		expect(names).toEqual(expect.arrayContaining(["keryx.db", "keryx.db-wal", "meta.json"]));
		const found = files.flatMap((file) => {
			const trace = traceOf(SECRETS, readFileSync(file));
			return trace === null ? [] : [`${relative(keryx.home, file)}: ${trace}`];
		});
		expect(found).toEqual([]);
	});

	test("and everything that must hold in the store does", async () => {
		expect((await ask("GET", "/api/store/integrity")).body).toEqual({ problems: [] });
		expect((await ask("GET", "/audit/verify")).body).toMatchObject({ ok: true });
	});
});
