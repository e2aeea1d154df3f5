// Reading: every scope sees only its own data, pages go both ways, events come once and in order.
import { expect } from "vitest";
import { type ConversationId, conversationId, type SessionId, sessionId } from "../../../domain/index.ts";
import type { Scope } from "../../../store/index.ts";
import { HOUR } from "../clock.ts";
import {
	ADA,
	BOB,
	delivery,
	GROUP,
	OPERATOR,
	principalScope,
	QUIET,
	refusal,
	refused,
	type Scene,
	type Tell,
} from "./scene.ts";

export function readConformance(tell: Tell): void {
	tell("another principal gets not found, in the words for what is not there", async (scene) => {
		const begun = await scene.turn("secret");
		const { conversation, session, turn } = begun;
		await scene.reply(begun, "s", { deliveries: [delivery("d", "s")] });
		const { id } = (await scene.store.turn({ scope: OPERATOR, id: turn })).inbox[0] ?? expect.fail("no item");
		const bob = await scene.exchange("hello", "hi", BOB);
		const stranger = principalScope(bob.principal);
		const reads = [
			(scope: Scope, real: boolean) =>
				scene.store.conversation({ scope, ref: { id: real ? conversation : conversationId("x") } }),
			(scope: Scope, real: boolean) => scene.store.session({ scope, id: real ? session : sessionId("x") }),
			(scope: Scope, real: boolean) =>
				scene.store.sessions({
					scope,
					conversation: real ? conversation : conversationId("x"),
					limit: 1,
				}),
			(scope: Scope, real: boolean) =>
				scene.store.messages({ scope, session: real ? session : sessionId("x"), limit: 1 }),
			(scope: Scope, real: boolean) =>
				scene.store.transcript({ scope, session: real ? session : sessionId("x") }),
			(scope: Scope, real: boolean) =>
				scene.store.transcriptEnd({ scope, session: real ? session : sessionId("x"), limit: 1 }),
			(scope: Scope, real: boolean) =>
				scene.store.blob({ scope, conversation: real ? conversation : conversationId("x"), digest: "0" }),
			(scope: Scope, real: boolean) => scene.store.inboxItem({ scope, id: real ? id : 999 }),
			(scope: Scope, real: boolean) => scene.store.story({ scope, id: real ? id : 999 }),
			(scope: Scope, real: boolean) => scene.store.turn({ scope, id: real ? turn : "x" }),
			(scope: Scope, real: boolean) =>
				scene.store.openTurnOf({ scope, conversation: real ? conversation : conversationId("x") }),
			(scope: Scope, real: boolean) => scene.store.delivery({ scope, id: real ? "d" : "x" }),
			(scope: Scope, real: boolean) =>
				scene.store.sideDeliveries({
					scope,
					conversation: real ? conversation : conversationId("x"),
					kinds: ["notice"],
					limit: 1,
				}),
			(scope: Scope, real: boolean) =>
				scene.store.events({
					scope,
					conversation: real ? conversation : conversationId("x"),
					after: "",
					limit: 1,
				}),
			(scope: Scope, real: boolean) =>
				scene.store.liveEvents({
					scope,
					conversation: real ? conversation : conversationId("x"),
					after: "",
					limit: 1,
				}),
		];
		for (const read of reads) {
			const [unseen, missing] = [await refused(read(stranger, true)), await refused(read(stranger, false))];
			expect(unseen.code).toBe("store.not_found");
			expect({ ...unseen.toJSON(), message: "" }).toEqual({ ...missing.toJSON(), message: "" });
		}
		expect(await scene.store.conversations({ scope: stranger, limit: 10 })).toMatchObject([
			{ id: bob.conversation },
		]);
		expect(await scene.store.limits({ scope: stranger, conversation })).toMatchObject({ messageCount: 0 });
	});

	tell("a principal reads its own, by every id that means the same person", async (scene) => {
		const ada = await scene.exchange("one", "1");
		const web = await scene.exchange("two", "2", { ...ADA, platform: "web", chat_id: "main" });
		expect(web.principal).not.toBe(ada.principal);
		expect(
			await refusal(scene.store.session({ scope: principalScope(web.principal), id: ada.session })),
		).toBe("store.not_found");
		await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
		for (const principal of [ada.principal, web.principal]) {
			const scope = principalScope(principal);
			expect(await scene.store.transcript({ scope, session: ada.session })).toHaveLength(2);
			expect(await scene.store.transcript({ scope, session: web.session })).toHaveLength(2);
			expect(await scene.store.conversations({ scope, limit: 10 })).toHaveLength(2);
		}
	});

	tell(
		"a principal reads the shared conversation it is speaking in, and only within its profile",
		async (scene) => {
			const group = await scene.exchange("one", "1", { ...GROUP, user_id: "100" });
			const scope = principalScope(group.principal);
			expect(await refusal(scene.store.session({ scope, id: group.session }))).toBe("store.not_found");
			const here = principalScope(group.principal, { conversation: group.conversation });
			expect(await scene.store.session({ scope: here, id: group.session })).toMatchObject({
				id: group.session,
			});
			expect(await scene.store.conversations({ scope: here, limit: 10 })).toHaveLength(1);
			const elsewhere = principalScope(group.principal, {
				conversation: group.conversation,
				profile: "work",
			});
			expect(await refusal(scene.store.session({ scope: elsewhere, id: group.session }))).toBe(
				"store.not_found",
			);
			expect(await scene.store.conversations({ scope: elsewhere, limit: 10 })).toEqual([]);
		},
	);

	tell("a refused message is the operator's to read", async (scene) => {
		const ada = await scene.exchange("one", "1");
		const { id } = await scene.accept("two", ADA, { as: { kind: "refuse", reason: "no" } });
		expect(await scene.store.inboxItem({ scope: OPERATOR, id })).toMatchObject({ content: null });
		const scope = principalScope(ada.principal);
		expect(await refusal(scene.store.inboxItem({ scope, id }))).toBe("store.not_found");
	});

	tell(
		"conversations are listed newest first, page by page, by activity, platform and profile",
		async (scene) => {
			const ids: ConversationId[] = [];
			for (let n = 0; n < 7; n++) {
				// Some have the same time: the order among them is fixed as well.
				if (n % 2 === 0) scene.clock.advance(1000);
				const source = {
					...ADA,
					platform: n < 5 ? "telegram" : "signal",
					chat_id: `c${n}`,
					user_id: `u${n}`,
				};
				ids.push((await scene.exchange("one", "1", source)).conversation);
			}
			const work = { groupSessionsPerUser: false, threadSessionsPerUser: false, profile: "work" };
			scene.clock.advance(1000);
			const { conversation } = await scene.say("one", ADA, { routing: work });
			const all = await scene.store.conversations({ scope: OPERATOR, limit: 100 });
			expect(new Set(all.map(({ id }) => id))).toEqual(new Set([...ids, conversation]));
			const times = all.map(({ lastActivityAt }) => lastActivityAt);
			expect(times).toEqual([...times].sort((a, b) => b - a));
			const paged: ConversationId[] = [];
			for (let page = await list(scene, 3); page.length > 0; page = await list(scene, 3, page.at(-1)))
				paged.push(...page.map(({ id }) => id));
			expect(paged).toEqual(all.map(({ id }) => id));
			const filtered = async (filter: { platform?: string; profile?: string; activeSince?: number }) =>
				(await scene.store.conversations({ scope: OPERATOR, limit: 100, ...filter })).length;
			expect(await filtered({ platform: "signal" })).toBe(2);
			expect(await filtered({ profile: "work" })).toBe(1);
			expect(await filtered({ profile: "" })).toBe(7);
			expect(await filtered({ activeSince: times[0] ?? 0 })).toBe(1);
		},
	);

	tell("a conversation is found by id, key, session and platform message", async (scene) => {
		const turn = await scene.turn("one");
		const { key } = await scene.store.conversation({ scope: OPERATOR, ref: { id: turn.conversation } });
		const inbound = { platform: "telegram", account: "", chat: "100", platformMessage: "1" };
		for (const ref of [{ key }, { session: turn.session }, inbound])
			expect((await scene.store.conversation({ scope: OPERATOR, ref })).id).toBe(turn.conversation);
		const wrong = { ...inbound, platformMessage: "2" };
		for (const ref of [{ key: "agent:main:x" }, { session: sessionId("x") }, wrong])
			expect(await refusal(scene.store.conversation({ scope: OPERATOR, ref }))).toBe("store.not_found");
	});

	tell("sessions are listed newest first, page by page", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1");
		const ids = [session];
		for (let n = 0; n < 4; n++) ids.push((await newSession(scene, conversation)).session);
		const page = async (limit: number, before?: SessionId) =>
			(await scene.store.sessions({ scope: OPERATOR, conversation, limit, ...(before && { before }) })).map(
				({ id }) => id,
			);
		expect(await page(10)).toEqual(ids.toReversed());
		expect(await page(2)).toEqual([ids[4], ids[3]]);
		expect(await page(2, ids[3])).toEqual([ids[2], ids[1]]);
	});

	tell("a session's rows are paged both ways, and a hidden row takes no place on a page", async (scene) => {
		const { conversation, session } = await scene.exchange("1", "2");
		await scene.exchange("3", "4");
		await scene.exchange("5", "6");
		await scene.store.undo({ conversation, turns: 1 });
		await scene.exchange("7", "8");
		await scene.exchange("9", "10");
		await scene.store.undo({ conversation, turns: 1 });
		const page = async (more: { after?: number; before?: number; hidden?: boolean; limit: number }) =>
			(await scene.store.messages({ scope: OPERATOR, session, ...more })).map((row) => row.seq);
		expect(await page({ limit: 100 })).toEqual([1, 2, 3, 4, 7, 8]);
		expect(await page({ limit: 2 })).toEqual([7, 8]);
		expect(await page({ limit: 3, before: 7 })).toEqual([2, 3, 4]);
		expect(await page({ limit: 3, after: 0 })).toEqual([1, 2, 3]);
		expect(await page({ limit: 3, after: 3 })).toEqual([4, 7, 8]);
		expect(await page({ limit: 3, after: 8 })).toEqual([]);
		expect(await page({ limit: 9, after: 1, before: 8 })).toEqual([2, 3, 4, 7]);
		expect(await page({ limit: 4, hidden: true })).toEqual([7, 8, 9, 10]);
		expect(await page({ limit: 3, after: 4, hidden: true })).toEqual([5, 6, 7]);
	});

	tell("a read by session id answers for that session and names the live one", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1");
		const { session: live } = await newSession(scene, conversation);
		expect(await scene.session(session)).toMatchObject({ id: session, live });
		expect(await scene.session(live)).toMatchObject({ id: live, live });
	});

	tell("message ids grow with time", async (scene) => {
		const ids: number[] = [];
		for (let n = 0; n < 4; n++) {
			const turn = await scene.turn("one", n % 2 ? ADA : BOB);
			const { rows } = await scene.reply(turn, "1");
			ids.push(...turn.appended.map((row) => row.id), ...rows.map((row) => row.id));
			scene.clock.advance(n);
		}
		expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
		expect(ids.every(Number.isSafeInteger)).toBe(true);
	});

	tell("a follower sees every event once, in one order, across pages and conversations", async (scene) => {
		const ada = await scene.exchange("one", "1");
		const seen = await scene.events();
		const bob = await scene.exchange("two", "2", BOB);
		const all = await scene.events();
		expect(all.slice(0, seen.length)).toEqual(seen);
		expect(new Set(all.map(({ cursor }) => cursor)).size).toBe(all.length);
		const after = seen.at(-1)?.cursor ?? "";
		const rest = await scene.store.events({ scope: OPERATOR, after, limit: 1000 });
		expect(rest).toMatchObject({
			kind: "events",
			events: all.slice(seen.length),
			cursor: all.at(-1)?.cursor,
		});
		const [adas, bobs] = [await scene.events(ada.conversation), await scene.events(bob.conversation)];
		expect(adas.map(({ cursor }) => cursor)).toEqual(
			seen.filter(isOf(ada.conversation)).map(({ cursor }) => cursor),
		);
		expect([...adas, ...bobs].length).toBe(all.length);
		expect(adas.map(({ type }) => type)).toEqual([
			"conversation.created",
			"inbound.accepted",
			"session.opened",
			"turn.begun",
			"message.appended",
			"message.appended",
			"turn.ended",
		]);
	});

	tell("live events are the events, each with the row that it is about", async (scene) => {
		const turn = await scene.turn("one");
		await scene.reply(turn, "1", { deliveries: [delivery("d", "1")] });
		const page = await scene.store.liveEvents({ scope: OPERATOR, after: "", limit: 1000 });
		if (page.kind !== "events") throw new Error("resync");
		expect(page.events.map(({ event }) => event)).toEqual(await scene.events());
		for (const { event, message, delivery } of page.events) {
			expect(message?.id).toBe(event.type === "message.appended" ? Number(event.subject) : undefined);
			expect(delivery?.id).toBe(event.type.startsWith("delivery.") ? event.subject : undefined);
		}
		expect(page.events.flatMap(({ message }) => (message ? [message.content] : []))).toEqual(["one", "1"]);
		expect(await scene.store.liveEvents({ scope: OPERATOR, after: "zzz", limit: 1 })).toMatchObject({
			kind: "resync",
		});
	});

	tell("the end of a transcript is its last rows, also of the session that it continues", async (scene) => {
		const { conversation } = await scene.exchange("1", "2");
		await scene.exchange("3", "4");
		await scene.store.undo({ conversation, turns: 1 });
		await scene.exchange("5", "6");
		await newSession(scene, conversation);
		const { session: later } = await scene.store.continueSession({
			conversation,
			policy: QUIET,
			context: "context",
		});
		await scene.exchange("7", "8");
		const shown = (await scene.store.transcript({ scope: OPERATOR, session: later })).filter(
			({ hidden }) => !hidden,
		);
		expect(shown.map(({ content }) => content)).toEqual(["1", "2", "5", "6", "7", "8"]);
		for (let limit = 1; limit <= 7; limit++)
			expect(await scene.store.transcriptEnd({ scope: OPERATOR, session: later, limit })).toEqual({
				messages: shown.slice(-limit),
				more: limit < shown.length,
			});
	});

	tell("events carry no text of people or models", async (scene) => {
		const turn = await scene.turn("my secret plan");
		await scene.reply(turn, "my secret reply", { deliveries: [delivery("d", "my secret reply")] });
		await scene.store.setTitle({ session: turn.session, title: "secret title", source: "user" });
		expect(JSON.stringify(await scene.events())).not.toContain("secret");
	});

	tell("a cursor goes on where it stood; one that is none of ours is told to resync", async (scene) => {
		await scene.exchange("one", "1");
		const now = await scene.store.events({ scope: OPERATOR, after: "now", limit: 10 });
		expect(now).toMatchObject({ kind: "events", events: [] });
		await scene.exchange("two", "2");
		const next = await scene.store.events({ scope: OPERATOR, after: now.cursor, limit: 100 });
		expect(next.kind === "events" && next.events[0]?.type).toBe("inbound.accepted");
		for (const after of ["e", "nonsense", "ezzzzzzz", "e-1", "0", "\u0000"]) {
			const answer = await scene.store.events({ scope: OPERATOR, after, limit: 10 });
			expect(answer.kind, after).toBe("resync");
			expect(answer.cursor).toBe(next.cursor);
		}
		const { principal } = await scene.say("three");
		const unnamed = scene.store.events({ scope: principalScope(principal), after: "", limit: 10 });
		expect(await refusal(unnamed)).toBe("argument.invalid");
	});

	tell("a listener is called after each commit until it is taken away", async (scene) => {
		let commits = 0;
		const stop = scene.store.onCommit(() => {
			commits++;
		});
		await scene.say("one");
		expect(commits).toBeGreaterThan(0);
		stop();
		const before = commits;
		await scene.say("two");
		expect(commits).toBe(before);
	});

	tell("the story of a message is what happened to it and to its turn", async (scene) => {
		const turn = await scene.turn("one");
		await scene.reply(turn, "1", { deliveries: [delivery("d", "1")] });
		await scene.exchange("two", "2");
		await scene.deliverAll();
		const { id } =
			(await scene.store.turn({ scope: OPERATOR, id: turn.turn })).inbox[0] ?? expect.fail("no item");
		const { item, events } = await scene.store.story({ scope: OPERATOR, id });
		expect(item.disposition).toEqual({ kind: "answered", turn: turn.turn });
		expect(events.map(({ type }) => type)).toEqual([
			"inbound.accepted",
			"turn.begun",
			"message.appended",
			"message.appended",
			"delivery.pending",
			"turn.ended",
			"delivery.sent",
		]);
		// Lets the sender recognise it, although secrets are hidden in its text.
		expect(events[2]?.facts).toMatchObject({ role: "user", inbound: id });
	});

	tell("when anything last happened can be asked", async (scene) => {
		expect(await scene.store.lastEventAt({ scope: OPERATOR })).toBeNull();
		await scene.say("one");
		const at = scene.clock.now();
		scene.clock.advance(HOUR);
		expect(await scene.store.lastEventAt({ scope: OPERATOR })).toBe(at);
	});

	tell("what waits is counted, and that it can be written is proved by writing", async (scene) => {
		const { store } = scene;
		const none = {
			inbox: 0,
			turns: 0,
			deliveries: { waiting: 0, unsettled: 0, oldestAt: null },
			confirmations: {},
		};
		expect(await store.workload({ scope: OPERATOR })).toEqual(none);
		await scene.reply(await scene.turn("one"), "1", { deliveries: [delivery("d", "1")] });
		await scene.turn("two", BOB);
		await scene.say("three");
		expect(await store.workload({ scope: OPERATOR })).toEqual({
			...none,
			inbox: 1,
			turns: 1,
			deliveries: { waiting: 1, unsettled: 0, oldestAt: scene.clock.now() },
		});
		await store.proveWritable();
		await store.proveWritable();
		expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
	});

	tell("a store that has been used is sound", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1");
		await scene.exchange("two", "2");
		await scene.store.undo({ conversation, turns: 1 });
		await newSession(scene, conversation);
		await scene.exchange("three", "3");
		await scene.store.continueSession({ conversation, policy: QUIET, context: "context" });
		await scene.store.undo({ conversation, turns: 2 });
		await scene.store.setTitle({ session, title: "One", source: "user" });
		await scene.say("waiting");
		expect(await scene.store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
	});
}

function isOf(conversation: ConversationId) {
	return (event: object) => (event as { conversation?: ConversationId }).conversation === conversation;
}

async function list(scene: Scene, limit: number, after?: { lastActivityAt: number; id: ConversationId }) {
	return await scene.store.conversations({ scope: OPERATOR, limit, ...(after && { after }) });
}

async function newSession(scene: Scene, conversation: ConversationId) {
	return await scene.store.newSession({ conversation, policy: QUIET, context: "context" });
}
