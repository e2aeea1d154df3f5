// Turns: one at a time, every write under a token, every row once, one disposition for each message.
import { expect } from "vitest";
import type { ConversationId, NewMessage } from "../../../domain/index.ts";
import { unpackTranscript } from "../../../store/index.ts";
import { HOUR } from "../clock.ts";
import {
	ADA,
	type Begun,
	delivery,
	OPERATOR,
	policy,
	QUIET,
	refusal,
	type Scene,
	type Tell,
} from "./scene.ts";

export function turnConformance(tell: Tell): void {
	tell("beginning a turn opens the first session and appends the message as its first row", async (scene) => {
		const turn = await scene.turn("hello", { ...ADA, message_id: "m9" });
		expect(turn).toMatchObject({ messages: 1, cap: 0, context: "context", nextIndex: 1, boundary: null });
		expect(turn.destination).toEqual({
			platform: "telegram",
			account: "",
			chatId: "100",
			replyTo: "m9",
			userId: "100",
		});
		expect(await scene.rows(turn.session)).toEqual(turn.appended);
		expect(turn.appended).toEqual([
			{
				id: expect.any(Number),
				session: turn.session,
				seq: 1,
				role: "user",
				content: "hello",
				author: { principal: turn.principal, name: "Ada" },
				turn: turn.turn,
				createdAt: scene.clock.now(),
				hidden: false,
			},
		]);
		expect(await scene.store.openTurnOf({ scope: OPERATOR, conversation: turn.conversation })).toMatchObject({
			id: turn.turn,
			state: "running",
			token: turn.token,
			attempts: 1,
		});
	});

	tell(
		"a begin without what a session opens with is answered so, and changes nothing, if one would open",
		async (scene) => {
			const POLICY = policy({ mode: "idle", idle_minutes: 60 });
			const without = (conversation: ConversationId, id: number) =>
				scene.store.beginTurn({
					conversation,
					inbox: [id],
					policy: POLICY,
					autoContinueFreshness: 3600,
					deadlineAt: scene.clock.now() + HOUR,
				});
			const first = await scene.say("one");
			const { conversation } = first;
			expect(await without(conversation, first.id)).toEqual({ kind: "opens" });
			const turn = await scene.begin(conversation, [first.id], { policy: POLICY });
			await scene.reply(turn, "1", { policy: POLICY });
			const second = await scene.say("two");
			const begun = await without(conversation, second.id);
			expect(begun).toMatchObject({ kind: "begun", session: turn.session, context: "context" });
			await scene.reply({ ...(begun as Begun), conversation }, "2", { policy: POLICY });
			scene.clock.advance(2 * HOUR);
			const third = await scene.say("three");
			const before = await scene.store.session({ scope: OPERATOR, id: turn.session });
			expect(await without(conversation, third.id)).toEqual({ kind: "opens" });
			expect(await scene.store.session({ scope: OPERATOR, id: turn.session })).toEqual(before);
			expect(await scene.texts(conversation)).toEqual(["one", "1", "two", "2"]);
			await scene.store.expireSession({ session: turn.session, policy: POLICY });
			expect(await without(conversation, third.id)).toEqual({ kind: "opens" });
			const next = await scene.begin(conversation, [third.id], { policy: POLICY });
			expect(next.session).not.toBe(turn.session);
			expect(next.boundary?.cause.reason).toBe("idle");
		},
	);

	tell("a turn that starts reads the facts about its people and its transcript at once", async (scene) => {
		const turn = await scene.turn("one");
		await scene.reply(turn, "first");
		const { conversation, principal, session } = await scene.turn("two");
		const people = {
			scope: OPERATOR,
			conversation,
			speakers: [{ principal, platform: "telegram" }],
			now: scene.clock.now(),
		};
		const { transcript, ...found } = await scene.store.turnFacts({ ...people, session });
		expect(found).toEqual(await scene.store.speakerFacts(people));
		expect(found.facts).toMatchObject([{ ids: ["100"], isOwn: true }]);
		const rows = unpackTranscript(transcript);
		expect(rows).toEqual(await scene.store.transcript({ scope: OPERATOR, session }));
		expect(rows.map(({ content }) => content)).toEqual(["one", "first", "two"]);
	});

	tell("people whom a program names are known for as long as its token is valid", async (scene) => {
		const made = { digest: "0".repeat(64), role: "agent", by: "operator", via: "cli" } as const;
		await scene.store.createToken({ ...made, name: "ci" });
		const source = { platform: "api_server", chat_id: "token:ci/u9", user_id: "token:ci/u9" };
		const { conversation, principal } = await scene.turn("hello", source);
		const tokens = async () => {
			const speakers = [{ principal, platform: "api_server" }];
			const asked = { scope: OPERATOR, conversation, speakers, now: scene.clock.now() };
			return (await scene.store.speakerFacts(asked)).facts.map(({ token }) => token);
		};
		expect(await tokens()).toEqual(["live"]);
		await scene.store.revokeToken({ name: "ci", by: "operator", via: "cli" });
		expect(await tokens()).toEqual(["ended"]);
	});

	tell("a turn reads rows of every kind as they are", async (scene) => {
		const turn = await scene.turn("one", { ...ADA, user_name: 'Zoë "Z"' });
		const text = 'the \u0024{secret:X} of {"type":"text_blob"}\u2028\n';
		const long = `${"long ".repeat(20_000)}end`;
		const call = { id: "c1", name: "look", input: { at: [1, { deep: "\u0000?" }] } };
		const rows: NewMessage[] = [
			{
				role: "assistant",
				content: text,
				toolCalls: [call],
				reasoning: { kept: true },
				finishReason: "calls",
				tokens: 7,
			},
			{ role: "tool", content: long, toolCallId: "c1", toolName: "look", isError: true },
			{ role: "tool", content: [{ type: "text", text: long }], toolCallId: "c0", toolName: "" },
			{ role: "meta", kind: "note", content: "", confirmation: { id: "x", as: "outcome" } },
			{ role: "meta", kind: "left_out", content: "no", leavesOut: ["digest"] },
			{
				role: "user",
				content: "",
				author: { principal: turn.principal ?? "" },
				quoted: { text, own: false },
				observed: true,
			},
		];
		const messages = rows.map((row, n) => ({ ...row, index: turn.nextIndex + n }));
		await scene.append(turn, messages);
		const { conversation, session } = turn;
		const asked = { scope: OPERATOR, conversation, session, speakers: [], now: scene.clock.now() };
		const read = unpackTranscript((await scene.store.turnFacts(asked)).transcript);
		expect(read).toEqual(await scene.store.transcript({ scope: OPERATOR, session }));
		expect(read.slice(1)).toMatchObject(rows);
	});

	tell("I5: while a turn runs no other begins, and its messages are not taken", async (scene) => {
		const turn = await scene.turn("one");
		const second = await scene.say("two");
		expect(await scene.tryBegin(turn.conversation, [second.id])).toEqual({
			kind: "busy",
			turn: turn.turn,
			elsewhere: false,
		});
		await scene.reply(turn, "first");
		const next = await scene.begin(turn.conversation, [second.id]);
		expect(next.token).toBeGreaterThan(turn.token);
		expect(await scene.texts(turn.conversation)).toEqual(["one", "first", "two"]);
	});

	tell(
		"I5: a turn that somebody else has ended is refused its own end, unless it brings nothing new",
		async (scene) => {
			const turn = await scene.turn("one");
			await scene.store.stopTurn({ conversation: turn.conversation });
			const stopped = { outcome: { kind: "stopped" } } as const;
			const partial = [{ role: "assistant", content: "half", index: turn.nextIndex }] as const;
			const notice = [delivery("n", "notice", "notice")];
			expect(await refusal(scene.end(turn, { ...stopped, messages: partial }))).toBe("turn.stale");
			expect(await refusal(scene.end(turn, { ...stopped, deliveries: notice }))).toBe("turn.stale");
			expect(await scene.end(turn, stopped)).toMatchObject({ repeated: true });
			expect(await scene.texts(turn.conversation)).toEqual(["one"]);
		},
	);

	tell("I5: an end is a repetition only with the same rows", async (scene) => {
		const turn = await scene.turn("one");
		const large = "x".repeat(70_000);
		await scene.reply(turn, large, { deliveries: [delivery("d", "reply")] });
		expect(await scene.reply(turn, large, { deliveries: [delivery("d", "reply")] })).toMatchObject({
			repeated: true,
		});
		expect(await refusal(scene.reply(turn, "other words"))).toBe("turn.stale");
		const more = [large, "more"].map((content, n) => ({
			role: "assistant" as const,
			content,
			index: turn.nextIndex + n,
		}));
		expect(await refusal(scene.end(turn, { messages: more }))).toBe("turn.stale");
	});

	tell("messages of a burst are rows of their own and end merged", async (scene) => {
		const items = [await scene.say("one"), await scene.say("two"), await scene.say("three")];
		const [first] = items as [(typeof items)[number]];
		const ids = items.map(({ id }) => id);
		const turn = await scene.begin(first.conversation, ids);
		expect(turn.appended.map((row) => row.content)).toEqual(["one", "two", "three"]);
		await scene.reply(turn, "all at once");
		for (const id of ids) {
			const item = await scene.store.inboxItem({ scope: OPERATOR, id });
			expect(item.disposition).toEqual({ kind: "merged", turn: turn.turn });
		}
	});

	tell("a message that a turn has taken begins no second one", async (scene) => {
		const { id, conversation } = await scene.say("one");
		await scene.reply(await scene.begin(conversation, [id]), "done");
		expect(await scene.tryBegin(conversation, [id])).toEqual({ kind: "nothing" });
		expect(await scene.tryBegin(conversation, [])).toEqual({ kind: "nothing" });
	});

	tell("a message of another conversation is not taken", async (scene) => {
		const { conversation } = await scene.exchange("one", "done");
		const other = await scene.say("two", { ...ADA, chat_id: "300", user_id: "300" });
		expect(await scene.tryBegin(conversation, [other.id])).toEqual({ kind: "nothing" });
	});

	for (const [how, makeStale] of STALE)
		tell(`I5: every write of a turn ${how} is refused`, async (scene) => {
			const { turn, token, session } = await makeStale(scene);
			const events = await scene.events();
			const held = { turn, token };
			const writes = [
				scene.append(held, [{ role: "assistant", content: "late", index: 1 }]),
				scene.store.joinTurn({ ...held, inbox: [], nextIndex: 1, policy: QUIET }),
				scene.store.startCall({ ...held, call: "c1", tool: "shell", repeatable: false }),
				scene.store.recordModelCall({ ...held, ...CALL }),
				scene.store.openDelivery({ ...held, delivery: delivery("late", "late") }),
				scene.end(held, { outcome: { kind: "failed", reason: "late" } }),
				scene.store.cover({
					session,
					ranges: [{ session, fromSeq: 1, toSeq: 1 }],
					summary: "late",
					turn: { id: turn, token },
				}),
				scene.store.putOffCompaction({ ...held, compactAfter: 1, deliveries: [] }),
			];
			for (const write of writes) expect(await refusal(write)).toBe("turn.stale");
			expect(await scene.events()).toEqual(events);
		});

	tell("a position of a turn that exists is answered with the row that exists", async (scene) => {
		const turn = await scene.turn("hello");
		const first = await scene.append(turn, [{ role: "assistant", content: "first", index: 1 }]);
		const again = await scene.append(turn, [
			{ role: "assistant", content: "another wording", index: 1 },
			{ role: "assistant", content: "second", index: 2 },
		]);
		expect(again.rows[0]).toEqual(first.rows[0]);
		expect(again.messages).toBe(3);
		expect(await scene.texts(turn.conversation)).toEqual(["hello", "first", "second"]);
	});

	for (const times of [1, 2])
		tell(
			`a 12-message exchange with tools is 12 rows when every call is made ${times === 1 ? "once" : "twice"}`,
			async (scene) => {
				const turn = await exchangeOfTwelve(scene, times);
				const rows = await scene.rows(turn.session);
				expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
				expect(rows.map((row) => row.role)).toEqual([
					"user",
					...Array.from({ length: 5 }, () => ["assistant", "tool"]).flat(),
					"assistant",
				]);
				expect(await scene.session(turn.session)).toMatchObject({
					messages: 12,
					toolCalls: 5,
					toolErrors: 1,
					inputTokens: 600,
					outputTokens: 60,
					lastPromptTokens: 100,
					costMicros: 6000,
					costStatus: "known",
				});
				expect((await scene.store.turn({ scope: OPERATOR, id: turn.turn })).deliveries).toHaveLength(1);
				const types = (await scene.events()).map(({ type }) => type);
				const count = (type: string) => types.filter((one) => one === type).length;
				expect(types).toHaveLength(new Set((await scene.events()).map(({ cursor }) => cursor)).size);
				expect({
					accepted: count("inbound.accepted"),
					appended: count("message.appended"),
					started: count("call.started"),
					called: count("model.called"),
					ended: count("turn.ended"),
					pending: count("delivery.pending"),
				}).toEqual({ accepted: 1, appended: 12, started: 5, called: 6, ended: 1, pending: 1 });
			},
		);

	tell("a row comes back with everything its author gave it", async (scene) => {
		const turn = await scene.turn("hello");
		const call = { id: "c1", name: "shell", input: { command: "ls", deep: [1, null, "ü"] } };
		const assistant = {
			role: "assistant",
			content: "",
			toolCalls: [call],
			reasoning: [{ provider: "x", signature: "s\u0000" }],
			finishReason: "tool_calls",
			tokens: 17,
		} as const;
		const tool = {
			role: "tool",
			content: [{ type: "text", text: "a\ud83d\ude00\u0000" }],
			toolCallId: "c1",
			toolName: "shell",
			isError: true,
		} as const;
		await scene.append(turn, [
			{ ...assistant, index: 1 },
			{ ...tool, index: 2 },
		]);
		const [, second, third] = await scene.rows(turn.session);
		expect(second).toMatchObject(assistant);
		expect(third).toMatchObject(tool);
		const [alone] = await scene.store.messages({ scope: OPERATOR, session: turn.session, limit: 1 });
		expect(alone).toEqual(third);
	});

	tell("ending a turn again changes nothing", async (scene) => {
		const turn = await scene.turn("hello");
		const end = { deliveries: [delivery("d1", "hi")] };
		const first = await scene.reply(turn, "hi", end);
		expect(first).toMatchObject({ repeated: false, messages: 2, rotatedTo: null });
		const before = await snapshot(scene, turn.turn);
		scene.clock.advance(1000);
		expect(await scene.reply(turn, "hi", end)).toMatchObject({ repeated: true, messages: 2 });
		expect(await snapshot(scene, turn.turn)).toEqual(before);
	});

	tell("a turn ends in one way only", async (scene) => {
		const turn = await scene.turn("hello");
		await scene.reply(turn, "hi");
		expect(await refusal(scene.end(turn, { outcome: { kind: "failed", reason: "late" } }))).toBe(
			"turn.stale",
		);
		expect(await refusal(scene.end(turn, { outcome: { kind: "stopped" } }))).toBe("turn.stale");
		expect(await scene.store.turn({ scope: OPERATOR, id: turn.turn })).toMatchObject({ state: "completed" });
	});

	tell("each end of a turn is the one disposition of its message", async (scene) => {
		const outcomes = [
			[{ kind: "completed" }, { kind: "answered" }],
			[{ kind: "stopped" }, { kind: "stopped" }],
			[
				{ kind: "failed", reason: "provider down" },
				{ kind: "failed", reason: "provider down" },
			],
		] as const;
		for (const [outcome, disposition] of outcomes) {
			const turn = await scene.turn("hello");
			await scene.end(turn, { outcome });
			const [item] = (await scene.store.turn({ scope: OPERATOR, id: turn.turn })).inbox;
			expect(item?.disposition).toMatchObject(disposition);
			expect(item?.disposedAt).toBe(scene.clock.now());
			scene.clock.advance(1000);
		}
	});

	tell("/stop ends the running turn, keeps what it wrote, and drops nothing that waits", async (scene) => {
		const turn = await scene.turn("hello");
		await scene.append(turn, [{ role: "assistant", content: "partial", index: 1 }]);
		const waiting = await scene.say("next");
		expect(await scene.store.stopTurn({ conversation: turn.conversation })).toMatchObject({
			stopped: turn.turn,
		});
		expect(await scene.store.stopTurn({ conversation: turn.conversation })).toMatchObject({ stopped: null });
		const stopped = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(stopped).toMatchObject({ state: "stopped", endedAt: scene.clock.now() });
		expect(stopped.inbox[0]?.disposition).toEqual({ kind: "stopped", turn: turn.turn });
		const next = await scene.begin(turn.conversation, [waiting.id]);
		expect(next.session).toBe(turn.session);
		expect(await scene.texts(turn.conversation)).toEqual(["hello", "partial", "next"]);
	});

	tell("a message joins the running turn at its next step, once", async (scene) => {
		const turn = await scene.turn("hello");
		const more = await scene.say("and this");
		const join = { turn: turn.turn, token: turn.token, inbox: [more.id], nextIndex: 1, policy: QUIET };
		const joined = await scene.store.joinTurn(join);
		expect(joined).toMatchObject({ rows: [{ content: "and this", seq: 2 }], nextIndex: 2 });
		expect(await scene.store.joinTurn({ ...join, nextIndex: 2 })).toEqual({
			rows: [],
			joined: [more.id],
			nextIndex: 2,
		});
		await scene.append(turn, [{ role: "assistant", content: "both", index: 2 }]);
		await scene.end(turn);
		expect(await scene.texts(turn.conversation)).toEqual(["hello", "and this", "both"]);
		const { inbox } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(inbox.map(({ disposition }) => disposition?.kind)).toEqual(["merged", "merged"]);
	});

	tell("a message that joins never lands on a row that exists", async (scene) => {
		const turn = await scene.turn("hello");
		await scene.append(turn, [{ role: "assistant", content: "step", index: 1 }]);
		const more = await scene.say("and this");
		const joined = await scene.store.joinTurn({
			turn: turn.turn,
			token: turn.token,
			inbox: [more.id],
			nextIndex: 1,
			policy: QUIET,
		});
		expect(joined.nextIndex).toBe(3);
		expect(await scene.texts(turn.conversation)).toEqual(["hello", "step", "and this"]);
	});

	tell("the cost of a session is known, unknown, or known in part", async (scene) => {
		const turn = await scene.turn("hello");
		const held = { turn: turn.turn, token: turn.token };
		const status = async () => (await scene.session(turn.session)).costStatus;
		expect(await status()).toBe("none");
		await scene.store.recordModelCall({ ...held, ...CALL, n: 1, costMicros: null });
		expect(await status()).toBe("unknown");
		await scene.store.recordModelCall({ ...held, ...CALL, n: 2 });
		expect(await status()).toBe("partial");
		await scene.store.recordModelCall({ ...held, ...CALL, n: 3 });
		expect(await status()).toBe("partial");
		expect((await scene.session(turn.session)).costMicros).toBe(2000);
	});

	tell(
		"the last prompt is that of the last call that answered: not of one that failed, nor of one beside it",
		async (scene) => {
			const turn = await scene.turn("hello");
			const held = { turn: turn.turn, token: turn.token };
			const last = async () => (await scene.session(turn.session)).lastPromptTokens;
			await scene.store.recordModelCall({ ...held, ...CALL, n: 1, inputTokens: 70 });
			await scene.store.recordModelCall({ ...held, ...CALL, n: 2, inputTokens: 0, status: "error" });
			await scene.store.recordModelCall({ ...held, ...CALL, n: 3, inputTokens: 9000, aside: true });
			expect(await last()).toBe(70);
			expect((await scene.session(turn.session)).inputTokens).toBe(9070);
			await scene.end(turn);
			expect((await scene.turn("more")).promptTokens).toBe(70);
		},
	);

	tell("the same failing call is counted until it succeeds or a person writes", async (scene) => {
		const turn = await scene.turn("hello");
		const outcome = async (digest: string, failed: boolean) =>
			(
				await scene.store.appendMessages({
					turn: turn.turn,
					token: turn.token,
					messages: [],
					outcomes: [{ digest, failed }],
				})
			).failingCount;
		expect(await outcome("a", true)).toBe(1);
		expect(await outcome("a", true)).toBe(2);
		expect(await outcome("b", true)).toBe(1);
		expect(await outcome("b", false)).toBe(0);
		expect(await outcome("b", true)).toBe(1);
		await scene.end(turn);
		const next = await scene.turn("try again");
		expect((await scene.append(next, [])).failingCount).toBe(0);
	});

	tell("the context block stays as it was when the session opened", async (scene) => {
		const first = await scene.exchange("hello", "hi", ADA, { context: "as it was" });
		const second = await scene.turn("again", ADA, { context: "as it is now" });
		expect(second.context).toBe("as it was");
		expect((await scene.session(first.session)).context).toBe("as it was");
	});

	tell("a conversation shows where it stands", async (scene) => {
		const turn = await scene.turn("hello");
		await scene.reply(turn, "hi  there\nAda");
		const found = await scene.store.conversation({ scope: OPERATOR, ref: { id: turn.conversation } });
		expect(found).toMatchObject({
			key: "agent:main:telegram:dm:100",
			displayName: "DM with Ada",
			preview: "hi there Ada",
			messageCount: 2,
			liveSession: turn.session,
			firstSession: turn.session,
			lastActivityAt: scene.clock.now(),
			busy: null,
			modelOverride: null,
		});
	});
}

const CALL = {
	n: 1,
	provider: "p",
	model: "m",
	inputTokens: 100,
	outputTokens: 10,
	costMicros: 1000,
	currency: "USD",
	status: "ok",
} as const;

/** The ways in which a turn loses its token while its owner lives. */
const STALE: readonly (readonly [
	how: string,
	make: (
		scene: Scene,
	) => Promise<{ turn: string; token: number; session: Awaited<ReturnType<Scene["turn"]>>["session"] }>,
])[] = [
	[
		"that has ended",
		async (scene) => {
			const turn = await scene.turn("hello");
			await scene.end(turn);
			return turn;
		},
	],
	[
		"that was stopped",
		async (scene) => {
			const turn = await scene.turn("hello");
			await scene.store.stopTurn({ conversation: turn.conversation });
			return turn;
		},
	],
	[
		"under a token that is not its own",
		async (scene) => {
			const turn = await scene.turn("hello");
			return { ...turn, token: turn.token + 1 };
		},
	],
];

/** One user message, five calls with results (one fails), a reply: 12 rows, with every operation made several times. */
async function exchangeOfTwelve(scene: Scene, times: number): Promise<Awaited<ReturnType<Scene["turn"]>>> {
	const repeated = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
		const first = await operation();
		for (let n = 1; n < times; n++) await operation();
		return first;
	};
	const item = await repeated(() => scene.say("do five things", ADA, { platformMessage: "m1" }));
	const turn = await scene.begin(item.conversation, [item.id]);
	for (let n = 1; n < times; n++)
		expect(await scene.tryBegin(item.conversation, [item.id])).toEqual({
			kind: "busy",
			turn: turn.turn,
			elsewhere: false,
		});
	const held = { turn: turn.turn, token: turn.token };
	for (let step = 0; step < 5; step++) {
		const call = `c${step}`;
		const asked = {
			role: "assistant",
			content: "",
			toolCalls: [{ id: call, name: "shell", input: {} }],
		} as const;
		await repeated(() => scene.store.recordModelCall({ ...held, ...CALL, n: step + 1 }));
		await repeated(() => scene.append(held, [{ ...asked, index: 1 + 2 * step }]));
		await repeated(() => scene.store.startCall({ ...held, call, tool: "shell", repeatable: false }));
		const result = { role: "tool", content: "done", toolCallId: call, isError: step === 2 } as const;
		await repeated(() => scene.append(held, [{ ...result, index: 2 + 2 * step }]));
	}
	await repeated(() => scene.store.recordModelCall({ ...held, ...CALL, n: 6 }));
	await repeated(() =>
		scene.end(turn, {
			messages: [{ role: "assistant", content: "all done", index: 11 }],
			deliveries: [delivery(`${turn.turn}:0`, "all done")],
		}),
	);
	return turn;
}

async function snapshot(scene: Scene, turn: string): Promise<unknown> {
	const found = await scene.store.turn({ scope: OPERATOR, id: turn });
	return [found, await scene.rows(found.session), await scene.session(found.session), await scene.events()];
}
