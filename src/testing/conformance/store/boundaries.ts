// Where sessions end by themselves, what the next one starts with, and who is notified.
import { expect } from "vitest";
import { carryOver, type ResetPolicy } from "../../../domain/index.ts";
import { HOUR, MINUTE } from "../clock.ts";
import {
	ADA,
	type Begun,
	delivery,
	OPERATOR,
	policy,
	ROTATION,
	refusal,
	type Scene,
	type Tell,
} from "./scene.ts";

const IDLE = policy({ mode: "idle", idle_minutes: 60, max_messages: 0 });
const DAILY = policy({ mode: "daily", at_hour: 4, timezone: "Europe/Berlin", max_messages: 0 });
const LIMIT = policy({ mode: "none", max_messages: 4 });

export function boundaryConformance(tell: Tell): void {
	tell("a session is idle strictly after its minutes, at the message's acceptance", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(HOUR);
		const inTime = await scene.say("two");
		scene.clock.advance(5 * HOUR);
		const second = await scene.begin(first.conversation, [inTime.id], { policy: IDLE });
		expect(second.session).toBe(first.session);
		expect((await scene.session(first.session)).lastActivityAt).toBe(scene.clock.now() - 5 * HOUR);
		await scene.reply(second, "2", { policy: IDLE });
		scene.clock.advance(HOUR + 1);
		const third = await scene.turn("three", ADA, { policy: IDLE });
		expect(third.session).not.toBe(first.session);
		expect(await scene.session(first.session)).toMatchObject({
			endReason: "idle",
			endedAt: scene.clock.now(),
			live: third.session,
		});
		expect(third.boundary).toMatchObject({
			cause: { reason: "idle", idleMs: HOUR + 1 },
			ended: { id: first.session, hadActivity: true },
			carriedOver: true,
			lastExchange: { user: "two", assistant: "2" },
		});
	});

	tell("the carry-over is the successor's first row, and is not counted", async (scene) => {
		await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(26 * HOUR);
		const turn = await scene.turn("two", ADA, { policy: IDLE });
		const rows = await scene.rows(turn.session);
		expect(rows).toMatchObject([
			{ seq: 1, role: "meta", kind: "carry_over", turn: null },
			{ seq: 2, role: "user", content: "two" },
		]);
		expect(rows[0]?.content).toBe(carryOver(turn.boundary as NonNullable<Begun["boundary"]>));
		expect(turn).toMatchObject({ messages: 1, nextIndex: 1 });
	});

	tell("a daily boundary falls at its hour in its zone", async (scene) => {
		scene.clock.set(Date.UTC(2026, 2, 10, 2, 30));
		const first = await scene.exchange("one", "1", ADA, { policy: DAILY });
		scene.clock.set(Date.UTC(2026, 2, 10, 2, 59, 59));
		expect((await scene.exchange("two", "2", ADA, { policy: DAILY })).session).toBe(first.session);
		scene.clock.set(Date.UTC(2026, 2, 10, 3));
		const third = await scene.turn("three", ADA, { policy: DAILY });
		expect(third.session).not.toBe(first.session);
		expect(third.boundary?.cause).toEqual({ reason: "daily", atHour: 4, timezone: "Europe/Berlin" });
	});

	tell("a boundary is told again until a turn has told it", async (scene) => {
		await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const failing = await scene.turn("two", ADA, { policy: IDLE });
		expect(failing.boundary).not.toBeNull();
		await scene.end(failing, { outcome: { kind: "failed", reason: "provider down" }, policy: IDLE });
		const again = await scene.turn("three", ADA, { policy: IDLE });
		expect(again.boundary).toEqual(failing.boundary);
		await scene.reply(again, "3", { policy: IDLE, noticeGiven: true });
		expect((await scene.turn("four", ADA, { policy: IDLE })).boundary).toBeNull();
	});

	tell("policy decides what is carried over", async (scene) => {
		const none: ResetPolicy = { ...IDLE, carryOver: "none" };
		await scene.exchange("one", "1", ADA, { policy: none });
		scene.clock.advance(2 * HOUR);
		const turn = await scene.turn("two", ADA, { policy: none });
		expect(turn.boundary).toMatchObject({ carriedOver: false });
		expect(await scene.texts(turn.conversation)).toEqual(["two"]);
	});

	tell(
		"a session that nobody spoke in hands on what was carried into it, and nobody is told",
		async (scene) => {
			const both = policy({ mode: "idle", idle_minutes: 60, max_messages: 2 });
			const first = await scene.exchange("one", "1", ADA, { policy: both });
			const silent = await scene.live(first.conversation);
			const [carried] = await scene.rows(silent.id);
			scene.clock.advance(2 * HOUR);
			const turn = await scene.turn("two", ADA, { policy: both });
			expect(turn.session).not.toBe(silent.id);
			expect(turn.boundary).toBeNull();
			expect(await scene.texts(turn.conversation)).toEqual([carried?.content, "two"]);
		},
	);

	tell("only a person's message ends a session at arrival", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const event = await processEnds(scene, "7");
		const turn = await scene.begin(event.conversation, [event.id], { policy: IDLE });
		expect(turn).toMatchObject({ session: first.session, boundary: null });
	});

	tell("what holds a session keeps it open: a process, or an event not yet processed", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const held = await scene.turn("two", ADA, { policy: IDLE, held: true });
		expect(held.session).toBe(first.session);
		await scene.reply(held, "2", { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const event = await processEnds(scene, "8");
		const besides = await scene.turn("three", ADA, { policy: IDLE });
		expect(besides.session).toBe(first.session);
		await scene.reply(besides, "3", { policy: IDLE });
		await scene.end(await scene.begin(event.conversation, [event.id]), { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		expect((await scene.turn("four", ADA, { policy: IDLE })).session).not.toBe(first.session);
	});

	tell("a clock that jumps back ends nothing and makes nothing older", async (scene) => {
		const both = policy({ mode: "both", idle_minutes: 60 });
		const first = await scene.exchange("one", "1", ADA, { policy: both });
		const { lastActivityAt } = await scene.session(first.session);
		scene.clock.advance(-30 * HOUR);
		const second = await scene.exchange("two", "2", ADA, { policy: both });
		expect(second.session).toBe(first.session);
		expect((await scene.session(first.session)).lastActivityAt).toBe(lastActivityAt);
		const ids = (await scene.rows(first.session)).map((row) => row.id);
		expect(ids).toEqual([...ids].sort((a, b) => a - b));
	});

	tell("the watcher ends a due session, and the next message opens its successor", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		const due = async () =>
			await scene.store.dueSessions({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
		scene.clock.advance(HOUR);
		expect(await due()).toEqual([]);
		scene.clock.advance(1);
		expect(await due()).toEqual([
			{
				session: first.session,
				conversation: first.conversation,
				platform: "telegram",
				chatType: "dm",
				work: "expire",
				endReason: null,
				endedAt: null,
			},
		]);
		const expire = { session: first.session, policy: IDLE };
		expect(await scene.store.expireSession(expire)).toEqual({ ended: "idle" });
		expect(await scene.store.expireSession(expire)).toEqual({ ended: null });
		const { liveSession } = await scene.store.conversation({
			scope: OPERATOR,
			ref: { id: first.conversation },
		});
		expect(liveSession).toBeNull();
		scene.clock.advance(HOUR);
		const next = await scene.turn("two", ADA, { policy: IDLE });
		expect(next.boundary).toMatchObject({
			cause: { reason: "idle", idleMs: 2 * HOUR + 1 },
			carriedOver: true,
		});
		expect((await scene.rows(next.session)).map((row) => row.kind ?? row.content)).toEqual([
			"carry_over",
			"two",
		]);
	});

	for (const [what, hold] of [
		["a turn that runs", async (scene: Scene) => void (await scene.turn("two", ADA, { policy: IDLE }))],
		["a message not yet begun", async (scene: Scene) => void (await scene.say("two"))],
		["an event not yet processed", async (scene: Scene) => void (await processEnds(scene, "9"))],
	] as const)
		tell(`${what} holds a session against the watcher, which looks again later`, async (scene) => {
			const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
			await hold(scene);
			scene.clock.advance(2 * HOUR);
			expect(await scene.store.expireSession({ session: first.session, policy: IDLE })).toEqual({
				ended: null,
			});
			const due = async () =>
				await scene.store.dueSessions({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
			expect(await due()).toEqual([]);
			scene.clock.advance(5 * MINUTE);
			expect(await due()).toMatchObject([{ session: first.session, work: "expire" }]);
		});

	tell("the watcher leaves a held session open", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const expire = { session: first.session, policy: IDLE, held: true };
		expect(await scene.store.expireSession(expire)).toEqual({ ended: null });
		expect(await scene.store.expireSession({ ...expire, held: false })).toEqual({ ended: "idle" });
	});

	tell(
		"each ending is finalised once, with a title from the first message where there is none",
		async (scene) => {
			const first = await scene.exchange("Plan the trip\nto Rome", "1", ADA, { policy: IDLE });
			const finalise = async () => await scene.store.finaliseSession({ session: first.session });
			expect(await refusal(finalise())).toBe("session.live");
			scene.clock.advance(2 * HOUR);
			await scene.store.expireSession({ session: first.session, policy: IDLE });
			const due = async () =>
				await scene.store.dueSessions({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
			expect(await due()).toMatchObject([{ session: first.session, work: "finalise", endReason: "idle" }]);
			await finalise();
			await finalise();
			expect(await due()).toEqual([]);
			expect(await scene.session(first.session)).toMatchObject({
				title: "Plan the trip to Rome",
				titleSource: "derived",
			});
			expect((await scene.events()).filter(({ type }) => type === "session.titled")).toHaveLength(1);
		},
	);

	tell("an ending that was taken back meanwhile is not finalised, and the next one is due", async (scene) => {
		const { session, conversation } = await scene.exchange("one", "1", ADA, { policy: IDLE });
		const due = async () =>
			await scene.store.dueSessions({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
		scene.clock.advance(2 * HOUR);
		await scene.store.expireSession({ session, policy: IDLE });
		const [first] = await due();
		const opening = { conversation, policy: IDLE, context: "context" };
		await scene.store.switchSession({ ...opening, target: session, within: "conversation" });
		const finalise = async (endedAt: number | null = null) =>
			await scene.store.finaliseSession({ session, endedAt });
		await finalise(first?.endedAt);
		scene.clock.advance(2 * HOUR);
		await scene.store.expireSession({ session, policy: IDLE });
		await finalise(first?.endedAt);
		const [second] = await due();
		expect(second).toMatchObject({ session, work: "finalise", endReason: "idle" });
		await finalise(second?.endedAt);
		expect(await due()).toEqual([]);
	});

	tell("a title is not derived from what was undone", async (scene) => {
		const first = await scene.exchange("my secret", "1", ADA, { policy: IDLE });
		await scene.store.undo({ conversation: first.conversation, turns: 1 });
		await scene.exchange("the weather", "2", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		await scene.store.expireSession({ session: first.session, policy: IDLE });
		await scene.store.finaliseSession({ session: first.session });
		expect((await scene.session(first.session)).title).toBe("the weather");
	});

	tell(
		"the turn that reaches the cap rotates the session in its end, with the notice after the reply",
		async (scene) => {
			const first = await scene.exchange("one", "1", ADA, { policy: LIMIT });
			const turn = await scene.turn("two", ADA, { policy: LIMIT });
			expect(turn).toMatchObject({ messages: 3, cap: 4 });
			const end = { policy: LIMIT, deliveries: [delivery("reply", "the summary")] };
			expect(await refusal(scene.reply(turn, "the summary", end))).toBe("turn.rotates");
			expect((await scene.session(first.session)).messages).toBe(3);
			const checkpoint = { kind: "saved", id: "cp1" } as const;
			const ended = await scene.reply(turn, "the summary", {
				...end,
				ifRotated: {
					context: "fresh context",
					material: { processes: [{ id: "p1", command: "make" }], confirmations: [], checkpoint },
					notice: [delivery("notice", "a new session began", "notice")],
				},
			});
			expect(ended).toMatchObject({ messages: 4, repeated: false });
			expect(await scene.session(first.session)).toMatchObject({
				endReason: "message_limit",
				live: ended.rotatedTo,
				messages: 4,
			});
			const successor = await scene.live(first.conversation);
			expect(successor).toMatchObject({ id: ended.rotatedTo, messages: 0, cap: 4, context: "fresh context" });
			const [carried] = await scene.rows(successor.id);
			for (const text of ["> the summary", "p1", "cp1", first.session])
				expect(carried?.content).toContain(text);
			expect(await scene.deliverAll()).toEqual(["the summary", "a new session began"]);
			const next = await scene.turn("three", ADA, { policy: LIMIT });
			expect(next).toMatchObject({ session: successor.id, boundary: null });
		},
	);

	tell("a turn that jumps over the cap rotates after it; without a cap none does", async (scene) => {
		const turn = await scene.turn("one", ADA, { policy: LIMIT });
		await scene.append(
			turn,
			[1, 2, 3, 4, 5].map((index) => ({ role: "assistant", content: `step ${index}`, index })),
		);
		const ended = await scene.end(turn, { policy: LIMIT, ifRotated: ROTATION });
		expect(ended).toMatchObject({ messages: 6, rotatedTo: expect.any(String) });
		const unlimited = { ...LIMIT, maxMessages: 0 };
		const other = { ...ADA, chat_id: "300", user_id: "300" };
		const first = await scene.exchange("one", "1", other, { policy: unlimited });
		await scene.exchange("two", "2", other, { policy: unlimited });
		expect((await scene.exchange("three", "3", other, { policy: unlimited })).session).toBe(first.session);
	});

	tell(
		"a session that a stopped turn filled ends at the next message, and the user is told",
		async (scene) => {
			const first = await scene.exchange("one", "1", ADA, { policy: LIMIT });
			const turn = await scene.turn("two", ADA, { policy: LIMIT });
			await scene.append(turn, [{ role: "assistant", content: "partial", index: 1 }]);
			await scene.store.stopTurn({ conversation: turn.conversation });
			expect((await scene.live(turn.conversation)).id).toBe(first.session);
			const next = await scene.turn("three", ADA, { policy: LIMIT });
			expect(next.boundary).toMatchObject({ cause: { reason: "message_limit", cap: 4 }, carriedOver: true });
			expect((await scene.session(first.session)).endReason).toBe("message_limit");
		},
	);

	tell("a held session takes messages beyond its cap, until a turn ends in it", async (scene) => {
		await scene.exchange("one", "1", ADA, { policy: LIMIT });
		const turn = await scene.turn("two", ADA, { policy: LIMIT });
		await scene.append(turn, [{ role: "assistant", content: "partial", index: 1 }]);
		await scene.store.stopTurn({ conversation: turn.conversation });
		const held = await scene.turn("three", ADA, { policy: LIMIT, held: true });
		expect(held.session).toBe(turn.session);
		const ended = await scene.reply(held, "3", { policy: LIMIT, ifRotated: ROTATION });
		expect(ended.rotatedTo).not.toBeNull();
	});

	tell("undo lowers the count, and so puts the limit off", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		await scene.store.undo({ conversation: first.conversation, turns: 1 });
		expect(await scene.store.limits({ scope: OPERATOR, conversation: first.conversation })).toMatchObject({
			messageCount: 0,
			maxMessages: 4,
			remaining: 4,
		});
		expect((await scene.exchange("two", "2", ADA, { policy: LIMIT })).session).toBe(first.session);
		expect((await scene.live(first.conversation)).id).toBe(first.session);
	});

	tell("/extend raises the live session's cap, and an unlimited one stays so", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		const extend = async (by: number) => await scene.store.extendSession({ conversation, by });
		expect(await extend(2)).toEqual({ session, cap: 6, messages: 2 });
		expect((await scene.exchange("two", "2", ADA, { policy: LIMIT })).session).toBe(session);
		expect((await scene.live(conversation)).id).toBe(session);
		for (const by of [0, -1, 1.5, 1_000_001]) expect(await refusal(extend(by))).toBe("argument.invalid");
		const free = await scene.exchange("one", "1", { ...ADA, chat_id: "300", user_id: "300" });
		expect(await scene.store.extendSession({ conversation: free.conversation, by: 5 })).toMatchObject({
			cap: 0,
		});
		const silent = await scene.say("hello", { ...ADA, chat_id: "400", user_id: "400" });
		expect(await refusal(scene.store.extendSession({ conversation: silent.conversation, by: 5 }))).toBe(
			"session.none",
		);
	});

	tell(
		"the limit is the present policy's and what was added, also for a session that is open",
		async (scene) => {
			const under = (maxMessages: number) => ({ policy: { ...LIMIT, maxMessages } });
			const { conversation, session } = await scene.exchange("one", "1", ADA, under(200));
			const turn = await scene.turn("two", ADA, under(10));
			expect(turn).toMatchObject({ session, cap: 10 });
			await scene.reply(turn, "2", under(10));
			await scene.store.extendSession({ conversation, by: 5 });
			expect(await scene.session(session)).toMatchObject({ cap: 15 });
			await scene.exchange("three", "3", ADA, under(0));
			expect(await scene.session(session)).toMatchObject({ messages: 6, cap: 0 });
			await scene.exchange("four", "4", ADA, under(10));
			expect(await scene.session(session)).toMatchObject({ messages: 8, cap: 15, endReason: null });
			const next = await scene.turn("five", ADA, under(3));
			expect(next.session).not.toBe(session);
			expect(next.boundary).toMatchObject({ cause: { reason: "message_limit", cap: 8 } });
			expect(next.cap).toBe(3);
		},
	);

	tell("how full a session is can be read; an unknown conversation is empty", async (scene) => {
		const { conversation } = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		expect(await scene.store.limits({ scope: OPERATOR, conversation })).toEqual({
			messageCount: 2,
			maxMessages: 4,
			remaining: 2,
			nearLimit: false,
			atLimit: false,
			threshold: 0.5,
		});
		const nowhere = await scene.store.limits({ scope: OPERATOR, conversation: "x" as typeof conversation });
		expect(nowhere).toMatchObject({ messageCount: 0, atLimit: false, nearLimit: false });
	});
}

/** An internal event in Ada's conversation. */
async function processEnds(scene: Scene, name: string) {
	const { id: conversation } = await scene.store.conversation({
		scope: OPERATOR,
		ref: { key: "agent:main:telegram:dm:100" },
	});
	return await scene.say(`process ${name} ended`, ADA, { kind: "process", conversation });
}
