// Secrets that are words of Keryx itself, or digits that stand in its ids: everything works with them, and text hides them all the same.
import { afterEach, expect, test } from "vitest";
import type { SessionId } from "../../src/domain/index.ts";
import { endpoints } from "../../src/http/endpoints.ts";
import { createSecrets } from "../../src/secrets/index.ts";
import { runPlain } from "../gateway/net/run.ts";
import { SCENARIOS } from "../gateway/net/scenarios.ts";
import { HOUR, OPERATOR, Scene } from "../gateway/support.ts";
import { serve } from "../http/support.ts";

const WORDS = [
	...["session", "message", "messages", "content", "assistant", "system", "telegram", "platform", "default"],
	...["running", "pending", "approved", "completed", "operator", "principal", "deliveries"],
	...[
		"command",
		"reply-to",
		"received",
		"answered",
		"assigned",
		"facts.",
		"private",
		"resolve",
		"000000",
		"202603",
		"00000000",
		"destination",
	],
];
const secrets = createSecrets(new Map(WORDS.map((word, n) => [`W${n}`, word])));

let scene: Scene | undefined;
afterEach(async () => {
	await scene?.end();
	scene = undefined;
});

test("conversations, calls, confirmations, commands, notices and boundaries work, and texts are hidden", async () => {
	scene = await Scene.start({
		secrets,
		durable: true,
		config: { session_reset: { mode: "idle", idle_minutes: 60 }, display: { streaming: true } },
		script: {
			rules: [
				{ when: "call", steps: [{ tools: [{ name: "effect", input: { what: "it" } }] }, { text: "called" }] },
				{
					when: "danger",
					steps: [{ tools: [{ name: "danger", input: { what: "harm" } }] }, { text: "asked" }],
				},
			],
			otherwise: [{ chunks: ["you said ", "{{input}}"] }],
		},
	});
	const first = await scene.say("my session message");
	expect(scene.texts()).toEqual(["you said my \u0024{secret:W0} \u0024{secret:W1}"]);
	await scene.say("call");
	expect(scene.effects).toEqual(["it"]);
	await scene.say("danger");
	const [asked] = await scene.store.openConfirmations({
		scope: OPERATOR,
		conversation: await scene.conversation(first),
		now: scene.clock.now(),
	});
	await scene.say(`/approve ${asked?.id}`);
	expect(scene.dangers).toEqual(["harm"]);
	for (const command of ["/title ours", "/undo", "/redo", "/branch other", "/status", "/new", "/usage"]) {
		const before = scene.texts().length;
		await scene.say(command);
		expect(scene.texts().length, command).toBeGreaterThan(before);
	}
	await scene.clock.advance(3 * HOUR);
	await scene.say("after a while");
	await scene.crash(1000);
	await scene.say("after a crash", { chat: "bob" });
	expect(scene.texts().at(-1)).toContain("after a while");
	expect(scene.texts("bob")).toEqual(["you said after a crash"]);
	expect(await scene.store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
	expect(await scene.store.verifyAudit({ scope: OPERATOR })).toMatchObject({ bad: null });
	expect(scene.log).toEqual([]);
});

test.each(SCENARIOS)("everything holds in the scenario: $name", async (scenario) => {
	const { problems, spins } = await runPlain({
		...scenario,
		options: () => ({ ...scenario.options?.(), secrets }),
	});
	expect({ problems, spins }).toEqual({ problems: [], spins: false });
});

test("answers of the API keep their form, errors too", async () => {
	const keryx = await serve(undefined, {}, {}, undefined, { secrets });
	try {
		const { client, say } = keryx;
		const { id, conversation } = await say("my session message");
		const before = await client.sessions({ conversation });
		await keryx.store.setTitle({
			session: before.sessions[0]?.id as SessionId,
			title: "a session",
			source: "user",
		});
		const { sessions } = endpoints.sessions.answer.parse(await client.sessions({ conversation }));
		const session = sessions[0]?.id as string;
		expect(sessions).toMatchObject([{ title: "a \u0024{secret:W0}", conversation }]);
		const { messages } = endpoints.messages.answer.parse(await client.messages({ session }));
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
		expect(endpoints.inbound.answer.parse(await client.inbound({ id })).disposition?.kind).toBe("answered");
		const [listed] = endpoints.conversations.answer.parse(await client.conversations({})).conversations;
		expect(listed).toMatchObject({ id: conversation, source: { platform: "local", chat_type: "dm" } });
		const { events } = endpoints.eventsAfter.answer.parse(await client.eventsAfter({}));
		expect(JSON.stringify(events.map(({ type, facts }) => [type, Object.keys(facts)]))).not.toContain(
			"secret:",
		);
		endpoints.why.answer.parse(await client.why({ id }));
		expect(
			endpoints.search.answer.parse(await client.search({ q: "said", role: "assistant" })).hits,
		).toHaveLength(1);
		await expect(client.session({ session: "20260101_000000_00000000" })).rejects.toMatchObject({
			code: "store.not_found",
		});
		expect(
			secrets.hideIn({ error: { code: "argument.invalid", field: "session", message: "a session" } }),
		).toEqual({
			error: { code: "argument.invalid", field: "session", message: "a \u0024{secret:W0}" },
		});
	} finally {
		await keryx.close();
	}
});
