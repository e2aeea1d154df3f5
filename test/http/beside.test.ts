// What was said in a conversation beside its transcript.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { apiTransport, createClient } from "../../src/http/index.ts";
import { SECRET, type Served, serve, TERMINAL } from "./support.ts";

let keryx: Served;
let conversation: string;
beforeAll(async () => {
	keryx = await serve({
		rules: [{ when: "fail", steps: [{ fail: { kind: "provider_down" } }] }],
		otherwise: [{ text: "you said {{input}}" }],
	});
	({ conversation } = await keryx.say("good day"));
	await keryx.say("/title Garden");
	await keryx.store.notify({
		conversation: conversation as ConversationId,
		deliveries: [
			{
				id: "a notice",
				kind: "notice",
				destination: { platform: "local", account: "", chatId: "cli" },
				body: { text: "It rains.", plain: "It rains." },
			},
		],
	});
	await keryx.say("fail");
	await keryx.say("/status");
});
afterAll(() => keryx.close());

async function refusedAs(query: string, id = conversation) {
	const response = await keryx.api.fetch(
		new Request(`http://keryx/api/conversations/${id}/deliveries${query}`),
	);
	const { error } = (await response.json()) as { error?: { code: string; field?: string } };
	return [response.status, error?.code, error?.field];
}

test("notices and answers to commands come in order, with what was asked", async () => {
	const { deliveries, more } = await keryx.client.conversationDeliveries({ conversation });
	expect(deliveries.map(({ kind, asked }) => [kind, asked?.text ?? null])).toEqual([
		["command", "/title Garden"],
		["notice", null],
		["command", "/status"],
	]);
	expect(more).toBe(false);
	const asked = deliveries[2]?.asked;
	const inbound = await keryx.client.inbound({ id: asked?.inbound as number });
	expect(inbound).toMatchObject({
		client_message_id: asked?.client_message_id,
		accepted_at: asked?.at,
		disposition: { kind: "command", name: "status" },
	});
	expect(asked).toMatchObject({ platform: "local", name: "Ada" });
	expect(await keryx.client.delivery({ delivery: "a notice" })).toEqual(deliveries[1]);
});

test("one kind is read alone, and why a turn failed where it is asked for", async () => {
	const read = async (kind: "notice" | "command" | "failure" | "all") =>
		(await keryx.client.conversationDeliveries({ conversation, kind })).deliveries.map(({ kind }) => kind);
	expect(await read("notice")).toEqual(["notice"]);
	expect(await read("command")).toEqual(["command", "command"]);
	expect(await read("failure")).toEqual(["reply"]);
	expect(await read("all")).toEqual(["command", "notice", "reply", "command"]);
});

test("pages go backwards and say whether there is more", async () => {
	const { deliveries: all } = await keryx.client.conversationDeliveries({ conversation, kind: "all" });
	const read = [];
	for (let before: number | undefined; ; ) {
		const page = await keryx.client.conversationDeliveries({
			conversation,
			kind: "all",
			limit: 2,
			...(before !== undefined && { before }),
		});
		read.unshift(...page.deliveries);
		if (!page.more) break;
		before = page.deliveries[0]?.n;
	}
	expect(read).toEqual(all);
	const none = await keryx.client.conversationDeliveries({ conversation, before: 0 });
	expect(none).toEqual({ deliveries: [], more: false });
});

test.each([
	["?kind=reply", "kind"],
	["?kind=", "kind"],
	["?before=yesterday", "before"],
	["?before=-1", "before"],
	["?before=1.5", "before"],
	["?limit=0", "limit"],
	["?limit=201", "limit"],
])("%s is refused, and named", async (query, field) => {
	expect(await refusedAs(query)).toEqual([400, "argument.invalid", field]);
});

test("another conversation has its own, and one that is not there is not found", async () => {
	const { conversation: other } = await keryx.client.send({
		text: "hello",
		client_message_id: "elsewhere",
		source: { ...TERMINAL, chat_id: "another" },
	});
	const { deliveries } = await keryx.client.conversationDeliveries({ conversation: other as string });
	expect(deliveries).toEqual([]);
	expect((await refusedAs("", "none")).slice(0, 2)).toEqual([404, "store.not_found"]);
});

test("who may not read conversations reads none of it", async () => {
	const operator = createClient(apiTransport(keryx.api, { bearer: SECRET }));
	const { token } = await operator.createToken({ name: "an-agent", role: "agent" });
	const agent = createClient(apiTransport(keryx.api, { bearer: token }));
	await expect(agent.conversation({ conversation })).rejects.toMatchObject({ code: "http.forbidden" });
	await expect(agent.conversationDeliveries({ conversation })).rejects.toMatchObject({
		code: "http.forbidden",
	});
});
