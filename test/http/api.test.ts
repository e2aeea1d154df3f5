import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ERRORS, type KeryxError } from "../../src/errors.ts";
import { apiTransport, createClient } from "../../src/http/index.ts";
import { SECRET, type Served, serve, TERMINAL } from "./support.ts";

let keryx: Served;
beforeAll(async () => {
	keryx = await serve({
		rules: [{ when: "fail", steps: [{ fail: { kind: "provider_down" } }] }],
		otherwise: [{ text: "you said {{input}}" }],
	});
});
afterAll(() => keryx.close());

async function raw(
	method: string,
	path: string,
	body?: string,
	headers: Record<string, string> = { "content-type": "application/json" },
) {
	const response = await keryx.api.fetch(
		new Request(`http://keryx${path}`, { method, ...(body !== undefined && { body, headers }) }),
	);
	return { status: response.status, body: (await response.json()) as never as { error: KeryxError } };
}

describe("the API", () => {
	test("a message is accepted, answered, and found again by every way", async () => {
		const { client } = keryx;
		const { id, conversation } = await keryx.say("a pelican in spring");
		const inbound = await client.inbound({ id });
		expect(inbound.disposition).toMatchObject({ kind: "answered" });

		const found = await client.conversation({ conversation });
		expect(found).toMatchObject({ platform: "local", key: "agent:main:local:dm:cli", shared: false });
		expect(await client.findConversation({ key: found.key })).toEqual(found);
		expect(await client.findConversation({ session: found.live_session as string })).toEqual(found);
		const { client_message_id: message } = inbound;
		const where = { platform: "local", chat: "cli" };
		expect(await client.findConversation({ message, ...where })).toEqual(found);
		for (const wrong of [{ message }, { message, platform: "local" }, { message, key: found.key, ...where }])
			await expect(client.findConversation(wrong)).rejects.toThrow(/one of|needs its platform and chat/);
		await expect(client.findConversation({ message: "another", ...where })).rejects.toMatchObject({
			code: "store.not_found",
		});
		expect((await client.conversations({})).conversations.map((one) => one.id)).toEqual([conversation]);

		const session = found.live_session as string;
		const { messages } = await client.messages({ session });
		expect(messages.map(({ role, content }) => [role, content]).slice(-2)).toEqual([
			["user", "a pelican in spring"],
			["assistant", "you said a pelican in spring"],
		]);
		expect((await client.search({ q: "pelican" })).hits.map((hit) => hit.session)).toEqual([
			session,
			session,
		]);
		const turn = await client.turn({ turn: inbound.turn as string });
		expect(turn).toMatchObject({ state: "completed", session });
		expect(turn.deliveries[0]).toMatchObject({ state: "sent", plain: "you said a pelican in spring" });
		expect((await client.why({ id })).text).toContain("Result: it was answered.");
	});

	test("the same client message id again is answered with what became of the first", async () => {
		const { client } = keryx;
		const message = { text: "only once", client_message_id: "fixed id", source: TERMINAL };
		const first = await client.send(message);
		await client.inbound({ id: first.id, wait: 30 });
		const again = await client.send({ ...message, text: "another text" });
		expect(again).toMatchObject({
			id: first.id,
			duplicate: true,
			inbound: { disposition: { kind: "answered" } },
		});
	});

	test("pages of messages go both ways, and meet", async () => {
		const { client } = keryx;
		for (let n = 0; n < 3; n++) await keryx.say(`page ${n}`);
		const session = (await client.findConversation({ key: "agent:main:local:dm:cli" }))
			.live_session as string;
		const all = (await client.messages({ session, limit: 200 })).messages.map(({ seq }) => seq);
		const down = await client.messages({ session, limit: 2, before: all.at(-1) as number });
		const up = await client.messages({ session, limit: 2, after: 0 });
		expect(down.messages.map(({ seq }) => seq)).toEqual(all.slice(-3, -1));
		expect(up.messages.map(({ seq }) => seq)).toEqual(all.slice(0, 2));
	});

	test("conversations are listed page by page, newest first, each once", async () => {
		const other = await serve();
		try {
			for (let n = 0; n < 5; n++) {
				const { id } = await other.client.send({
					text: "hello",
					client_message_id: `m${n}`,
					source: { platform: "api_server", chat_id: `chat ${n}`, chat_type: "dm", user_id: `u${n}` },
				});
				// The end of its turn is activity, too: a conversation that moves up between two pages is on neither.
				await other.client.inbound({ id, wait: 30 });
			}
			const seen: string[] = [];
			for (let after: string | undefined; ; ) {
				const page = await other.client.conversations({ limit: 2, ...(after !== undefined && { after }) });
				seen.push(...page.conversations.map((one) => one.source.chat_id as string));
				if (page.next === null) break;
				after = page.next;
			}
			expect(seen.toSorted()).toEqual(["chat 0", "chat 1", "chat 2", "chat 3", "chat 4"]);
		} finally {
			await other.close();
		}
	});

	test("undo, redo, retry, title, branch, new, continue, switch, extend, model and busy are calls too", async () => {
		const client = createClient(apiTransport(keryx.api, { bearer: SECRET }));
		const { conversation } = await keryx.say("take this back");
		const before = await client.conversation({ conversation });
		expect(await client.undo({ conversation })).toMatchObject({ rows: 2, turns: 1, text: "take this back" });
		expect(await client.redo({ conversation })).toMatchObject({ rows: 2 });
		const retried = await client.retry({ conversation });
		expect(retried.turn).not.toBeNull();
		await expect
			.poll(async () => (await client.turn({ turn: retried.turn as string })).state)
			.toBe("completed");
		const summing = await client.compress({ conversation });
		await expect
			.poll(async () => (await client.turn({ turn: summing.turn as string })).state)
			.toBe("completed");
		const session = before.live_session as string;
		expect(await client.setTitle({ session, title: "Pelicans" })).toMatchObject({ title: "Pelicans" });
		expect(await client.renameConversation({ conversation, title: "Birds" })).toMatchObject({
			name: "Birds",
		});
		expect(await client.pinConversation({ conversation, pinned: true })).toEqual({ pinned: true });
		const put = (state: "open" | "archived" | "deleted") =>
			client.setConversationState({ conversations: [conversation], state });
		const ids = async (list: "open" | "deleted" | "pinned" | "archived") =>
			(await client.conversations({ list })).conversations.map(({ id }) => id);
		expect(await ids("pinned")).toEqual([conversation]);
		expect(await put("deleted")).toEqual({ changed: 1 });
		expect([await ids("open"), await ids("deleted")]).toEqual([
			expect.not.arrayContaining([conversation]),
			[conversation],
		]);
		expect(await put("open")).toEqual({ changed: 1 });
		expect(await put("open")).toEqual({ changed: 0 });
		expect(await client.conversation({ conversation })).toMatchObject({
			name: "Birds",
			state: "open",
			pinned: false,
		});
		expect(await client.branchSession({ conversation, title: "Another way" })).toMatchObject({
			ended: session,
		});
		const fresh = await client.newSession({ conversation });
		expect(fresh.session).not.toBe(session);
		expect(await client.continueSession({ conversation })).toMatchObject({ session: fresh.session });
		expect(await client.switchSession({ conversation, target: session })).toMatchObject({ session });
		expect((await client.session({ session })).title).toBe("Birds");
		const { cap } = await client.extendSession({ conversation, by: 7 });
		expect((await client.session({ session })).limit.max_messages).toBe(cap);
		await client.setModel({ conversation, override: { model: "m", provider: "p" } });
		await client.setBusy({ conversation, busy: "steer" });
		expect(await client.conversation({ conversation })).toMatchObject({
			model_override: { model: "m", provider: "p" },
			busy: "steer",
		});
		await client.setBusy({ conversation, busy: "queue" });
		expect(await client.stop({ conversation })).toEqual({ stopped: null, dropped: 0, killed: 0 });
	});

	test("an export is taken back by another Keryx, whole, and a second time changes nothing", async () => {
		const other = await serve();
		try {
			await keryx.say("keep this line");
			const lines = async function* () {
				yield* keryx.client.export({});
			};
			const bytes = [];
			for await (const chunk of lines()) bytes.push(chunk);
			// One record a line, and no line without one.
			expect(Buffer.concat(bytes).toString()).toMatch(/^({.*}\n)+$/);
			// Who is who is in a file, too: taking one in needs proof.
			await expect(other.client.import(lines())).rejects.toMatchObject({ code: "http.unauthenticated" });
			const operator = createClient(apiTransport(other.api, { bearer: SECRET }));
			const added = await operator.import(lines());
			expect(added.messages).toBeGreaterThan(0);
			expect((await other.client.search({ q: '"keep this line"' })).hits).not.toHaveLength(0);
			expect(await operator.import(lines())).toMatchObject({ messages: 0, conversations: 0 });
			const markdown = [];
			for await (const chunk of keryx.client.export({ format: "markdown" })) markdown.push(chunk);
			expect(Buffer.concat(markdown).toString()).toContain("keep this line");
		} finally {
			await other.close();
		}
	});

	test("what cannot be found is 404, and what cannot be exported is an error, not a short file", async () => {
		const { client } = keryx;
		await expect(client.session({ session: "20200101_000000_00000000" })).rejects.toMatchObject({
			code: "store.not_found",
		});
		await expect(client.export({ session: "20200101_000000_00000000" }).next()).rejects.toMatchObject({
			code: "store.not_found",
		});
		expect((await raw("GET", "/api/conversations/none")).status).toBe(404);
		expect(await raw("GET", "/nowhere")).toMatchObject({
			status: 404,
			body: { error: { code: "http.no_route" } },
		});
	});

	test.each([
		["no JSON", "POST", "/api/inbound", "hello", { "content-type": "text/plain" }, 415, "http.not_json"],
		["broken JSON", "POST", "/api/inbound", "{", undefined, 400, "argument.invalid"],
		["a missing field", "POST", "/api/inbound", '{"text":"x"}', undefined, 400, "argument.invalid"],
		[
			"an unknown field",
			"POST",
			"/api/conversations/c/undo",
			'{"turn":1}',
			undefined,
			400,
			"argument.invalid",
		],
		[
			"too large a page",
			"GET",
			"/api/conversations?limit=1000",
			undefined,
			undefined,
			400,
			"argument.invalid",
		],
		["a made-up page", "GET", "/api/conversations?after=x", undefined, undefined, 400, "argument.invalid"],
		["no number", "GET", "/api/inbound/one", undefined, undefined, 400, "argument.invalid"],
		["no time", "GET", "/api/search?q=x&from=noon", undefined, undefined, 400, "argument.invalid"],
		[
			"too much",
			"POST",
			"/api/inbound",
			JSON.stringify({ text: "x".repeat(2 ** 20) }),
			undefined,
			413,
			"http.too_large",
		],
		[
			"an unknown platform's name",
			"POST",
			"/api/inbound",
			'{"text":"x","client_message_id":"1","source":{"platform":"NO NAME"}}',
			undefined,
			400,
			"source.invalid",
		],
		[
			"an address that leads nowhere",
			"POST",
			"/api/import",
			"not an export\n",
			{ authorization: `Bearer ${SECRET}` },
			400,
			"import.invalid",
		],
	])(
		"%s is refused with a code, a message and a remedy",
		async (_name, method, path, body, headers, status, code) => {
			const answer = await raw(method, path, body, headers);
			expect(answer.status).toBe(status);
			expect(answer.body.error.code).toBe(code);
			expect(Object.keys(ERRORS)).toContain(code);
			expect(answer.body.error.message).not.toBe("");
			expect(answer.body.error.hint).not.toBe("");
		},
	);

	test("a failed turn says so in what became of the message", async () => {
		const { id } = await keryx.say("please fail");
		expect((await keryx.client.inbound({ id })).disposition).toMatchObject({ kind: "failed" });
	});

	test("the outbox is listed, and only what is unknown or dead can be decided by a person", async () => {
		const { client } = keryx;
		const { id } = await keryx.say("deliver me");
		const { turn } = await client.inbound({ id });
		const delivery = (await client.turn({ turn: turn as string })).deliveries[0]?.id as string;
		expect((await client.deliveries({ which: "unsettled" })).deliveries).toEqual([]);
		await expect(client.resolveDelivery({ delivery, as: "retry" })).rejects.toMatchObject({
			code: "delivery.stale",
		});
	});

	test("health, commands, integrity and the rebuilding of the search index", async () => {
		const { client } = keryx;
		expect(await client.health()).toMatchObject({ status: "ok", pid: process.pid });
		expect((await client.commands()).commands.map(({ name }) => name)).toContain("undo");
		expect(await client.integrity()).toEqual({ problems: [] });
		let step = await client.rebuildSearch({ wipe: true });
		while (step.next !== null) step = await client.rebuildSearch({ cursor: step.next });
		expect(await client.integrity()).toEqual({ problems: [] });
	});
});
