// Undo, redo, retry and compaction: rows are hidden or covered, never changed.
import { expect } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import { HOUR } from "../clock.ts";
import { ADA, delivery, GROUP, OPERATOR, policy, QUIET, refusal, type Scene, type Tell } from "./scene.ts";

const IDLE = policy({ mode: "idle", idle_minutes: 60, carry_over: "none" });

export function historyConformance(tell: Tell): void {
	tell("undo hides the last turns and gives back what the person had written", async (scene) => {
		const { conversation, session } = await talk(scene, ["one", "two", "three"]);
		expect(await undo(scene, conversation, 2)).toEqual({
			rows: 4,
			messages: 4,
			turns: 2,
			text: "two",
			stopped: null,
			cancelled: 0,
		});
		expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
		const rows = await scene.rows(session);
		expect(rows.map((row) => row.hidden)).toEqual([false, false, true, true, true, true]);
		expect((await scene.session(session)).messages).toBe(2);
		const { messageCount } = await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(messageCount).toBe(2);
	});

	tell("undo of less than one is one; of more than there are, all", async (scene) => {
		const { conversation } = await talk(scene, ["one", "two", "three"]);
		expect(await undo(scene, conversation, 0)).toMatchObject({ turns: 1, text: "three" });
		expect(await undo(scene, conversation, Number.NaN)).toMatchObject({ turns: 1, text: "two" });
		expect(await undo(scene, conversation, 99)).toMatchObject({ turns: 1, rows: 2, text: "one" });
		expect(await undo(scene, conversation, 1)).toEqual({
			rows: 0,
			messages: 0,
			turns: 0,
			text: null,
			stopped: null,
			cancelled: 0,
		});
		const silent = await scene.say("hello", { ...ADA, chat_id: "300", user_id: "300" });
		expect(await undo(scene, silent.conversation, 1)).toMatchObject({ rows: 0, text: null });
	});

	tell("a turn of several messages is undone as one", async (scene) => {
		const { conversation } = await talk(scene, ["one"]);
		const items = [await scene.say("two"), await scene.say("three")];
		const turn = await scene.begin(
			conversation,
			items.map(({ id }) => id),
		);
		const joining = await scene.say("four");
		const held = { turn: turn.turn, token: turn.token };
		await scene.append(turn, [{ role: "assistant", content: "step", index: 2 }]);
		await scene.store.joinTurn({ ...held, inbox: [joining.id], nextIndex: 3, policy: QUIET });
		await scene.end(turn, { messages: [{ role: "assistant", content: "all", index: 4 }] });
		expect(await undo(scene, conversation, 1)).toMatchObject({ rows: 5, turns: 1, text: "two" });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
	});

	tell("redo lifts the last undo until the next message", async (scene) => {
		const { conversation } = await talk(scene, ["one", "two", "three"]);
		await undo(scene, conversation, 1);
		await undo(scene, conversation, 1);
		expect(await redo(scene, conversation)).toEqual({ rows: 2, messages: 2, stopped: null });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one", "two", "re: two"]);
		expect((await scene.live(conversation)).messages).toBe(4);
		expect(await redo(scene, conversation)).toEqual({ rows: 2, messages: 2, stopped: null });
		expect(await redo(scene, conversation)).toEqual({ rows: 0, messages: 0, stopped: null });
		await undo(scene, conversation, 1);
		await scene.exchange("four", "re: four");
		expect(await redo(scene, conversation)).toEqual({ rows: 0, messages: 0, stopped: null });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one", "two", "re: two", "four", "re: four"]);
		expect((await scene.live(conversation)).messages).toBe(6);
	});

	tell("undo reaches into the base of a continued session, and redo comes back out", async (scene) => {
		const { conversation, base, live } = await continued(scene);
		expect(await undo(scene, conversation, 2)).toMatchObject({ rows: 4, turns: 2, text: "two" });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
		expect((await scene.rows(base)).map((row) => row.hidden)).toEqual([false, false, true, true]);
		expect((await scene.session(live)).messages).toBe(2);
		expect(await redo(scene, conversation)).toMatchObject({ rows: 4 });
		expect(await scene.texts(conversation)).toEqual([
			"one",
			"re: one",
			"two",
			"re: two",
			"three",
			"re: three",
		]);
		expect((await scene.session(live)).messages).toBe(6);
	});

	tell("undo stops at the point where a session branched", async (scene) => {
		const { conversation } = await talk(scene, ["one"]);
		await scene.store.branchSession({ conversation, policy: QUIET, context: "context" });
		expect(await undo(scene, conversation, 1)).toMatchObject({ rows: 0 });
		await scene.exchange("two", "re: two");
		expect(await undo(scene, conversation, 9)).toMatchObject({ rows: 2, turns: 1 });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
	});

	tell(
		"undo from a message takes back its turn and all after it, and nothing before a branch",
		async (scene) => {
			const { conversation, session } = await talk(scene, ["one", "two", "three"]);
			const [one, , , answered] = await scene.rows(session);
			const from = answered?.id ?? 0;
			expect(await scene.store.undo({ conversation, turns: 1, from })).toMatchObject({
				rows: 4,
				turns: 2,
				text: "two",
			});
			expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
			// A hidden turn is no longer counted.
			expect(await scene.store.undo({ conversation, turns: 1, from })).toMatchObject({ rows: 0, turns: 0 });
			expect(await redo(scene, conversation)).toMatchObject({ rows: 4 });
			await scene.store.branchSession({ conversation, policy: QUIET, context: "context" });
			expect(await scene.store.undo({ conversation, turns: 1, from: one?.id ?? 0 })).toMatchObject({
				rows: 0,
			});
			expect(await scene.texts(conversation)).toHaveLength(6);
		},
	);

	tell("redo counts only what it shows", async (scene) => {
		const { conversation, base, live } = await continued(scene);
		await undo(scene, conversation, 2);
		await switchTo(scene, conversation, base);
		await undo(scene, conversation, 9);
		await switchTo(scene, conversation, live);
		expect(await redo(scene, conversation)).toMatchObject({ rows: 2 });
		expect(await scene.texts(conversation)).toEqual(["three", "re: three"]);
		expect((await scene.session(live)).messages).toBe(2);
		const { messageCount } = await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(messageCount).toBe(2);
	});

	tell("what was observed before a turn stays when the turn is undone", async (scene) => {
		await scene.say("chatter", { ...GROUP, user_id: "9" }, { as: { kind: "observe" } });
		const turn = await scene.exchange("hello", "hi", { ...GROUP, user_id: "100" });
		await undo(scene, turn.conversation, 1);
		expect(await scene.texts(turn.conversation)).toEqual(["chatter"]);
	});

	tell("retry hides the answer and begins a new turn over the same messages", async (scene) => {
		const { conversation } = await talk(scene, ["one"]);
		const turn = await scene.turn("two", { ...ADA, message_id: "m2" });
		await scene.append(turn, [
			{ role: "assistant", content: "", toolCalls: [{ id: "c", name: "t", input: {} }], index: 1 },
			{ role: "tool", content: "result", toolCallId: "c", index: 2 },
		]);
		await scene.end(turn, { messages: [{ role: "assistant", content: "wrong", index: 3 }] });
		const begun = await retry(scene, conversation);
		expect(begun).toMatchObject({
			kind: "begun",
			session: turn.session,
			destination: turn.destination,
			messages: 3,
			nextIndex: 0,
			hidden: 3,
			stopped: null,
		});
		if (begun.kind !== "begun") return;
		expect(begun.token).toBeGreaterThan(turn.token);
		await scene.end(begun, { messages: [{ role: "assistant", content: "right", index: 0 }] });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one", "two", "right"]);
		const { inbox } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(inbox[0]?.disposition).toEqual({ kind: "answered", turn: turn.turn });
		expect(await undo(scene, conversation, 1)).toMatchObject({ rows: 2, turns: 1, text: "two" });
	});

	tell("retry in a shared conversation is for who had written", async (scene) => {
		const turn = await scene.exchange("hello", "hi", { ...GROUP, user_id: "100" });
		expect(turn.principal).not.toBeNull();
		const begun = await retry(scene, turn.conversation);
		expect(begun).toMatchObject({ kind: "begun", principal: turn.principal });
		const open = await scene.store.openTurnOf({ scope: OPERATOR, conversation: turn.conversation });
		expect(open?.principal).toBe(turn.principal);
	});

	tell("retry stops a turn that runs, and answers in its place", async (scene) => {
		const turn = await scene.turn("one");
		await scene.append(turn, [{ role: "assistant", content: "half", index: 1 }]);
		const begun = await retry(scene, turn.conversation);
		expect(begun).toMatchObject({ kind: "begun", hidden: 1, stopped: turn.turn, messages: 1 });
		expect(await scene.texts(turn.conversation)).toEqual(["one"]);
	});

	tell("retry reaches into the base of a continued session", async (scene) => {
		const first = await scene.exchange("one", "wrong", ADA, { policy: IDLE });
		const { conversation } = first;
		scene.clock.advance(2 * HOUR);
		await scene.store.expireSession({ session: first.session, policy: IDLE });
		const { session } = await scene.store.continueSession({ conversation, policy: IDLE, context: "context" });
		const begun = await retry(scene, conversation);
		expect(begun).toMatchObject({ kind: "begun", session, hidden: 1, messages: 1 });
		if (begun.kind !== "begun") return;
		await scene.end(begun, { messages: [{ role: "assistant", content: "right", index: 0 }] });
		expect(await scene.texts(conversation)).toEqual(["one", "right"]);
	});

	tell("there is nothing to retry before a person has written, or in a suspended session", async (scene) => {
		const silent = await scene.say("/retry");
		expect(await retry(scene, silent.conversation)).toEqual({ kind: "nothing", stopped: null });
		const { conversation } = await talk(scene, ["one"]);
		if (!scene.canRestart) return;
		await scene.suspend(await scene.turn("two"));
		expect(await retry(scene, conversation)).toEqual({ kind: "nothing", stopped: null });
	});

	tell("a summary names what it covers, and nothing else changes", async (scene) => {
		const { conversation, session } = await talk(scene, ["one", "two"]);
		const before = await scene.rows(session);
		const ranges = [{ session, fromSeq: 1, toSeq: 2 }];
		const row = await scene.store.cover({ session, ranges, summary: "they said one" });
		expect(row).toMatchObject({
			role: "meta",
			kind: "summary",
			content: "they said one",
			covers: ranges,
			seq: 5,
		});
		expect(await scene.rows(session)).toEqual([...before, row]);
		expect((await scene.session(session)).messages).toBe(4);
		expect((await scene.store.limits({ scope: OPERATOR, conversation })).messageCount).toBe(4);
	});

	tell("a summary may cover the base's rows, and is part of a turn under its token", async (scene) => {
		const { conversation, base, live } = await continued(scene);
		const turn = await scene.turn("four");
		const row = await scene.store.cover({
			session: live,
			ranges: [
				{ session: base, fromSeq: 1, toSeq: 4 },
				{ session: live, fromSeq: 1, toSeq: 2 },
			],
			summary: "all of it",
			turn: { id: turn.turn, token: turn.token },
		});
		expect(row.covers).toHaveLength(2);
		expect((await scene.texts(conversation)).at(-1)).toBe("all of it");
	});

	tell(
		"a range that is not there, hidden meanwhile, or of an ended session is not covered",
		async (scene) => {
			const { conversation, session } = await talk(scene, ["one", "two"]);
			const cover = (fromSeq: number, toSeq: number, of = session) =>
				scene.store.cover({ session, ranges: [{ session: of, fromSeq, toSeq }], summary: "s" });
			for (const [from, to] of [
				[0, 1],
				[2, 1],
				[1, 5],
			] as const)
				expect(await refusal(cover(from, to))).toBe("argument.invalid");
			expect(await refusal(cover(1, 1, "20260101_000000_00000000" as typeof session))).toBe(
				"argument.invalid",
			);
			expect(await refusal(scene.store.cover({ session, ranges: [], summary: "s" }))).toBe(
				"argument.invalid",
			);
			await undo(scene, conversation, 1);
			expect(await refusal(cover(1, 3))).toBe("transcript.changed");
			await cover(1, 2);
			await scene.store.newSession({ conversation, policy: QUIET, context: "context" });
			expect(await refusal(cover(1, 2))).toBe("session.ended");
			expect(await scene.rows(session)).toHaveLength(5);
		},
	);

	tell("undo of what a summary covers hides the summary as well", async (scene) => {
		const { conversation, session } = await talk(scene, ["one", "two"]);
		await scene.store.cover({ session, ranges: [{ session, fromSeq: 1, toSeq: 4 }], summary: "both" });
		expect(await undo(scene, conversation, 1)).toMatchObject({ rows: 3, turns: 1 });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one"]);
		expect(await redo(scene, conversation)).toMatchObject({ rows: 3 });
		expect(await scene.texts(conversation)).toEqual(["one", "re: one", "two", "re: two", "both"]);
	});

	tell(
		"from when on the next compaction is tried is kept with a summary or without, and told to turns",
		async (scene) => {
			const { session } = await talk(scene, ["one"]);
			const turn = await scene.turn("two");
			expect(turn.compactAfter).toBeNull();
			const held = { turn: turn.turn, token: turn.token };
			const deliveries = [delivery("told once", "it cannot shrink")];
			await scene.store.putOffCompaction({ ...held, compactAfter: 900, deliveries });
			await scene.store.putOffCompaction({ ...held, compactAfter: 1000, deliveries });
			const waiting = await scene.store.deliveries({ scope: OPERATOR, which: "waiting", limit: 9 });
			expect(waiting.map(({ id }) => id)).toEqual(["told once"]);
			await scene.end(turn);
			const next = await scene.turn("three");
			expect(next.compactAfter).toBe(1000);
			const of = { id: next.turn, token: next.token };
			const ranges = [{ session, fromSeq: 1, toSeq: 2 }];
			const row = await scene.store.cover({ session, ranges, summary: "s", turn: of, compactAfter: 300 });
			expect(row.turn).toBe(next.turn);
			await scene.end(next);
			expect((await scene.turn("four")).compactAfter).toBe(300);
		},
	);

	tell("a compaction ends the open turn and begins one that answers no message", async (scene) => {
		const { conversation, session } = await talk(scene, ["one"]);
		const open = await scene.turn("two");
		const asked = {
			conversation,
			destination: open.destination,
			deadlineAt: scene.clock.now() + HOUR,
		};
		const begun = await scene.store.compress(asked);
		expect(begun).toMatchObject({ kind: "begun", session, stopped: open.turn, messages: 3, nextIndex: 0 });
		if (begun.kind !== "begun") return expect.fail("expected a turn");
		expect(begun.token).toBe(open.token + 1);
		await scene.end(begun);
		expect((await scene.session(session)).messages).toBe(3);
		if (!scene.canRestart) return;
		await scene.suspend(await scene.turn("three"));
		expect(await scene.store.compress(asked)).toEqual({ kind: "nothing", stopped: null });
	});
}

/** Each text is answered with `re: <text>`. */
async function talk(scene: Scene, texts: readonly string[]) {
	let last: Awaited<ReturnType<Scene["exchange"]>> | undefined;
	for (const text of texts) last = await scene.exchange(text, `re: ${text}`);
	return last ?? expect.fail("nothing was said");
}

/** An ended session of two exchanges, and a live one with a third that continues it. */
async function continued(scene: Scene) {
	const { conversation, session: base } = await talk(scene, ["one", "two"]);
	await scene.store.newSession({ conversation, policy: QUIET, context: "context" });
	const { session: live } = await talk(scene, ["three"]);
	await scene.store.continueSession({ conversation, policy: QUIET, context: "context" });
	return { conversation, base, live };
}

async function undo(scene: Scene, conversation: ConversationId, turns: number) {
	return await scene.store.undo({ conversation, turns });
}

async function redo(scene: Scene, conversation: ConversationId) {
	return await scene.store.redo({ conversation });
}

async function retry(scene: Scene, conversation: ConversationId) {
	return await scene.store.retry({ conversation, deadlineAt: scene.clock.now() + HOUR });
}

async function switchTo(
	scene: Scene,
	conversation: ConversationId,
	target: Awaited<ReturnType<typeof talk>>["session"],
) {
	await scene.store.switchSession({
		conversation,
		target,
		within: "conversation",
		policy: QUIET,
		context: "context",
	});
}
