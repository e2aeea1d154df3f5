// Actions on sessions: new, continue, switch, branch, titles, and the conversation's own settings.
import { expect } from "vitest";
import { type ConversationId, type SessionId, sessionId } from "../../../domain/index.ts";
import type { BranchPoint } from "../../../store/index.ts";
import { HOUR } from "../clock.ts";
import {
	ADA,
	BOB,
	delivery,
	GROUP,
	OPERATOR,
	policy,
	QUIET,
	refusal,
	type Scene,
	type Tell,
} from "./scene.ts";

const IDLE = policy({ mode: "idle", idle_minutes: 60, max_messages: 10 });
const LIMIT = policy({ mode: "none", max_messages: 4 });
const OTHER_CHAT = { ...ADA, platform: "web", chat_id: "main" };

export function sessionConformance(tell: Tell): void {
	tell("/new ends the live session, carries nothing over, and tells nobody", async (scene) => {
		const first = await scene.exchange("one", "1");
		const changed = await newSession(scene, first.conversation, { title: "Fresh" });
		expect(changed).toEqual({ session: expect.any(String), ended: first.session, stopped: null });
		expect(await scene.session(first.session)).toMatchObject({
			endReason: "user_new",
			live: changed.session,
		});
		expect(await scene.session(changed.session)).toMatchObject({
			title: "Fresh",
			titleSource: "user",
			messages: 0,
		});
		const next = await scene.turn("two");
		expect(next).toMatchObject({ session: changed.session, boundary: null });
		expect(await scene.texts(first.conversation)).toEqual(["two"]);
	});

	tell("/new opens a session where there is none", async (scene) => {
		const { conversation } = await scene.say("/new");
		const { session, ended } = await newSession(scene, conversation);
		expect(ended).toBeNull();
		expect((await scene.live(conversation)).id).toBe(session);
	});

	tell("a command that changes the transcript first ends the running turn", async (scene) => {
		const commands: [string, (conversation: ConversationId) => Promise<{ stopped: string | null }>][] = [
			["new", (conversation) => newSession(scene, conversation)],
			["continue", (conversation) => continueSession(scene, conversation)],
			["branch", (conversation) => branch(scene, conversation)],
			["undo", (conversation) => scene.store.undo({ conversation, turns: 1 })],
			["redo", (conversation) => scene.store.redo({ conversation })],
			["retry", (conversation) => scene.store.retry({ conversation, deadlineAt: 0 })],
			[
				"switch",
				async (conversation) => {
					const target = (await scene.live(conversation)).id;
					return await switchTo(scene, conversation, target);
				},
			],
		];
		for (const [name, command] of commands) {
			const source = { ...ADA, chat_id: name, user_id: name };
			const { conversation } = await scene.exchange("zero", "0", source);
			await newSession(scene, conversation);
			await scene.exchange("one", "1", source);
			if (name === "redo") await scene.store.undo({ conversation, turns: 1 });
			const item = name === "redo" ? await processEnds(scene, conversation) : await scene.say("two", source);
			const running = await scene.begin(conversation, [item.id]);
			expect((await command(conversation)).stopped, name).toBe(running.turn);
			const late = scene.append(running, [{ role: "assistant", content: "late", index: 1 }]);
			expect(await refusal(late)).toBe("turn.stale");
			expect((await scene.store.turn({ scope: OPERATOR, id: running.turn })).state).toBe("stopped");
		}
	});

	tell("/continue puts the previous session's rows before the live one's; nothing moves", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		const second = await scene.exchange("two", "2", ADA, { policy: IDLE });
		scene.clock.advance(1000);
		const continued = await continueSession(scene, first.conversation, IDLE);
		expect(continued).toEqual({
			session: second.session,
			ended: null,
			stopped: null,
			continued: first.session,
		});
		expect(await scene.session(second.session)).toMatchObject({
			base: { session: first.session, seq: 2, kind: "continue" },
			messages: 4,
			cap: 10,
			lastActivityAt: scene.clock.now(),
		});
		const rows = await scene.rows(second.session);
		expect(rows.map((row) => [row.session, row.seq])).toEqual([
			[first.session, 1],
			[first.session, 2],
			[second.session, 1],
			[second.session, 2],
			[second.session, 3],
		]);
		expect((await scene.exchange("three", "3", ADA, { policy: IDLE })).session).toBe(second.session);
		expect(await refusal(continueSession(scene, first.conversation))).toBe("session.continued");
		await newSession(scene, first.conversation);
		expect(await scene.texts(first.conversation)).toEqual([]);
	});

	tell("/continue opens a session where the watcher has ended the last one", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		await scene.store.expireSession({ session: first.session, policy: IDLE });
		const { session, continued } = await continueSession(scene, first.conversation, IDLE);
		expect(continued).toBe(first.session);
		expect(await scene.session(session)).toMatchObject({ messages: 2, live: session });
		const next = await scene.turn("two", ADA, { policy: IDLE });
		expect(next).toMatchObject({ session, boundary: null, messages: 3 });
		expect(await scene.texts(first.conversation)).toEqual(["one", "1", "two"]);
	});

	tell("/continue after message_limit extends the cap by a whole one, however often", async (scene) => {
		const { conversation } = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		await scene.exchange("two", "2", ADA, { policy: LIMIT });
		for (let times = 1; times <= 3; times++) {
			const { session } = await continueSession(scene, conversation, LIMIT);
			expect(await scene.session(session)).toMatchObject({ messages: 4 * times, cap: 4 * times + 4 });
			for (let n = 0; n < 2; n++)
				expect((await scene.exchange("more", "more", ADA, { policy: LIMIT })).session).toBe(session);
			expect((await scene.live(conversation)).id).not.toBe(session);
		}
	});

	tell("/continue where nothing came before is refused, and changes nothing", async (scene) => {
		const { conversation } = await scene.say("hello");
		expect(await refusal(continueSession(scene, conversation))).toBe("session.none");
		const turn = await scene.turn("hello");
		expect(await refusal(continueSession(scene, conversation))).toBe("session.none");
		expect((await scene.store.turn({ scope: OPERATOR, id: turn.turn })).state).toBe("running");
	});

	tell("/resume makes an older session live again, as it was, with room to go on", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		const { session: second } = await newSession(scene, first.conversation);
		await scene.exchange("two", "2", ADA, { policy: LIMIT });
		scene.clock.advance(1000);
		const switched = await switchTo(scene, first.conversation, first.session, LIMIT);
		expect(switched).toEqual({ session: first.session, ended: second, stopped: null });
		expect((await scene.session(second)).endReason).toBe("user_switch");
		expect(await scene.session(first.session)).toMatchObject({
			endedAt: null,
			endReason: null,
			lastActivityAt: scene.clock.now(),
			cap: 6,
			messages: 2,
		});
		const next = await scene.exchange("three", "3", ADA, { policy: LIMIT });
		expect(next).toMatchObject({ session: first.session, boundary: null });
		expect(await scene.texts(first.conversation)).toEqual(["one", "1", "three", "3"]);
		const again = await switchTo(scene, first.conversation, first.session);
		expect(again).toEqual({ session: first.session, ended: null, stopped: null });
	});

	tell(
		"the boundary after a resumed session tells of that one, and /continue goes back to it",
		async (scene) => {
			const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
			await newSession(scene, first.conversation);
			await scene.exchange("two", "2", ADA, { policy: IDLE });
			await switchTo(scene, first.conversation, first.session, IDLE);
			scene.clock.advance(2 * HOUR);
			await scene.store.expireSession({ session: first.session, policy: IDLE });
			const third = await scene.turn("three", ADA, { policy: IDLE });
			expect(third.boundary).toMatchObject({ ended: { id: first.session }, lastExchange: { user: "one" } });
			await scene.reply(third, "3", { policy: IDLE });
			expect(await continueSession(scene, first.conversation, IDLE)).toMatchObject({
				continued: first.session,
			});
		},
	);

	tell(
		"a session of another conversation of the same person is copied, as far as it shows",
		async (scene) => {
			const from = await scene.exchange("one", "1", ADA);
			await scene.exchange("undone", "u", ADA);
			await scene.store.undo({ conversation: from.conversation, turns: 1 });
			await scene.store.cover({
				session: from.session,
				ranges: [{ session: from.session, fromSeq: 1, toSeq: 2 }],
				summary: "short",
			});
			await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
			const to = await scene.exchange("here", "h", OTHER_CHAT);
			const within = switchTo(scene, to.conversation, from.session, LIMIT, "conversation");
			expect(await refusal(within)).toBe("store.not_found");
			const copied = await switchTo(scene, to.conversation, from.session, LIMIT, "principal");
			expect(copied).toMatchObject({ ended: to.session });
			expect(copied.session).not.toBe(from.session);
			expect(await scene.texts(to.conversation)).toEqual(["one", "1"]);
			expect(await scene.session(copied.session)).toMatchObject({
				conversation: to.conversation,
				messages: 2,
				cap: 6,
				base: null,
			});
			expect((await scene.session(from.session)).live).toBe(from.session);
			expect((await scene.exchange("on", "o", OTHER_CHAT, { policy: LIMIT })).session).toBe(copied.session);
		},
	);

	tell("a session of anybody else is not found", async (scene) => {
		const bobs = await scene.exchange("secret", "s", BOB);
		const group = await scene.exchange("ours", "o", { ...GROUP, user_id: "100" });
		const ada = await scene.exchange("one", "1", ADA);
		const targets = [bobs.session, group.session, sessionId("20260101_000000_00000000")];
		for (const target of targets)
			expect(await refusal(switchTo(scene, ada.conversation, target, QUIET, "principal"))).toBe(
				"store.not_found",
			);
		const fromGroup = switchTo(scene, group.conversation, ada.session, QUIET, "principal");
		expect(await refusal(fromGroup)).toBe("store.not_found");
		expect(await scene.texts(ada.conversation)).toEqual(["one", "1"]);
	});

	tell("/branch opens a session from the present point, and the one before stays as it is", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: LIMIT });
		const branched = await branch(scene, first.conversation, { policy: LIMIT, title: "Other way" });
		expect(branched).toMatchObject({ ended: first.session });
		expect(await scene.session(branched.session)).toMatchObject({
			base: { session: first.session, seq: 2, kind: "branch" },
			messages: 2,
			cap: 6,
			title: "Other way",
		});
		await scene.exchange("two", "2", ADA, { policy: LIMIT });
		expect(await scene.texts(first.conversation)).toEqual(["one", "1", "two", "2"]);
		await switchTo(scene, first.conversation, first.session, LIMIT);
		await scene.exchange("three", "3", ADA, { policy: LIMIT });
		expect(await scene.texts(first.conversation)).toEqual(["one", "1", "three", "3"]);
		expect((await scene.rows(branched.session)).map((row) => row.content)).toEqual(["one", "1", "two", "2"]);
		const silent = await scene.say("hello", BOB);
		expect(await refusal(branch(scene, silent.conversation))).toBe("session.none");
	});

	tell("a branch leaves before a message, or after its turn, and both ways can be gone on", async (scene) => {
		const first = await scene.exchange("one", "1");
		const { conversation } = first;
		const turn = await scene.turn("two");
		await scene.append(turn, [
			{ role: "assistant", content: "", toolCalls: [{ id: "c", name: "t", input: {} }], index: 1 },
			{ role: "tool", content: "result", toolCallId: "c", index: 2 },
		]);
		await scene.end(turn, { messages: [{ role: "assistant", content: "2", index: 3 }] });
		await scene.exchange("three", "3");
		const [one, , two, call] = await scene.rows(first.session);
		const branched = await branch(scene, conversation, { from: { where: "before", message: two?.id ?? 0 } });
		expect(branched).toMatchObject({ ended: first.session });
		expect(await scene.session(branched.session)).toMatchObject({
			base: { session: first.session, seq: 2, kind: "branch" },
			messages: 2,
		});
		await scene.exchange("two again", "2 again");
		expect(await scene.texts(conversation)).toEqual(["one", "1", "two again", "2 again"]);
		// A call stays with its result.
		await branch(scene, conversation, { from: { where: "after", message: call?.id ?? 0 } });
		expect(await scene.texts(conversation)).toEqual(["one", "1", "two", "", "result", "2"]);
		await branch(scene, conversation, { from: { where: "before", message: one?.id ?? 0 } });
		expect(await scene.texts(conversation)).toEqual([]);
		await scene.exchange("zero", "0");
		expect(await scene.texts(conversation)).toEqual(["zero", "0"]);
		await switchTo(scene, conversation, first.session);
		expect(await scene.texts(conversation)).toHaveLength(8);
		const other = await scene.exchange("elsewhere", "yes", BOB);
		const foreign = branch(scene, other.conversation, { from: { where: "before", message: one?.id ?? 0 } });
		expect(await refusal(foreign)).toBe("store.not_found");
	});

	tell(
		"a branched session had activity where it holds messages: what ends it is told and carried over",
		async (scene) => {
			const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
			const branched = await branch(scene, first.conversation, { policy: IDLE });
			scene.clock.advance(2 * HOUR);
			const next = await scene.turn("two", ADA, { policy: IDLE });
			expect(next.boundary).toMatchObject({
				cause: { reason: "idle" },
				ended: { id: branched.session, hadActivity: true },
				carriedOver: true,
				lastExchange: { user: "one", assistant: "1" },
			});
		},
	);

	tell("a copied session had activity where it holds messages", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
		const web = { ...ADA, platform: "web", chat_id: "main" };
		const { conversation } = await scene.exchange("here", "h", web, { policy: IDLE });
		const copied = await switchTo(scene, conversation, first.session, IDLE, "principal");
		scene.clock.advance(2 * HOUR);
		const next = await scene.turn("two", web, { policy: IDLE });
		expect(next.boundary).toMatchObject({ ended: { id: copied.session, hadActivity: true } });
	});

	tell("a session that is live again is counted by what it shows", async (scene) => {
		const first = await scene.exchange("one", "1", ADA, { policy: IDLE });
		await scene.exchange("two", "2", ADA, { policy: IDLE });
		scene.clock.advance(2 * HOUR);
		await scene.exchange("three", "3", ADA, { policy: IDLE });
		await continueSession(scene, first.conversation, IDLE);
		await scene.store.undo({ conversation: first.conversation, turns: 2 });
		expect((await scene.live(first.conversation)).messages).toBe(2);
		await switchTo(scene, first.conversation, first.session, IDLE);
		expect(await scene.session(first.session)).toMatchObject({ messages: 2, cap: 12 });
		expect(await scene.texts(first.conversation)).toEqual(["one", "1"]);
	});

	tell("titles are clean and unique within a conversation", async (scene) => {
		const first = await scene.exchange("one", "1");
		const { session: second } = await newSession(scene, first.conversation);
		const { session: third } = await newSession(scene, first.conversation);
		const bobs = await scene.exchange("one", "1", BOB);
		const title = async (session: SessionId, text: string, source: "user" | "model" | "derived" = "user") =>
			(await scene.store.setTitle({ session, title: text, source })).title;
		expect(await title(first.session, "  Trip\u202e \u200bto\nRome ")).toBe("Trip to Rome");
		expect(await title(first.session, "Trip to Rome")).toBe("Trip to Rome");
		expect(await title(second, "trip to rome")).toBe("trip to rome #2");
		expect(await title(third, "Trip to Rome")).toBe("Trip to Rome #3");
		expect(await title(bobs.session, "Trip to Rome")).toBe("Trip to Rome");
		expect(await title(first.session, "x".repeat(200))).toBe("x".repeat(100));
		expect(await refusal(title(first.session, "\u200b\n"))).toBe("argument.invalid");
	});

	tell("a person's title is not replaced by ours", async (scene) => {
		const { session } = await scene.exchange("one", "1");
		const title = async (text: string, source: "user" | "model") =>
			(await scene.store.setTitle({ session, title: text, source })).title;
		expect(await title("From the model", "model")).toBe("From the model");
		expect(await title("Mine", "user")).toBe("Mine");
		expect(await title("From the model again", "model")).toBe("Mine");
		expect(await scene.session(session)).toMatchObject({ title: "Mine", titleSource: "user" });
	});

	tell("a model override keeps what it may, survives rotation, and goes with /new", async (scene) => {
		const { conversation } = await scene.exchange("one", "1", ADA, { policy: IDLE });
		const override = async () =>
			(await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } })).modelOverride;
		const set = async (value: unknown) =>
			await scene.store.setModelOverride({ conversation, override: value });
		const given = { model: "m", provider: "p", base_url: "https://user:key@example.org", api_key: "secret" };
		expect(await set(given)).toMatchObject({ override: { model: "m", provider: "p" } });
		scene.clock.advance(2 * HOUR);
		await scene.exchange("two", "2", ADA, { policy: IDLE });
		expect(await override()).toEqual({ model: "m", provider: "p" });
		expect(await set(null)).toMatchObject({ override: null, before: { model: "m" } });
		expect(await override()).toBeNull();
		await set({ model: "m" });
		await newSession(scene, conversation);
		expect(await override()).toBeNull();
		expect(JSON.stringify(await scene.events())).not.toContain("secret");
	});

	tell("the busy mode is the conversation's own", async (scene) => {
		const { conversation } = await scene.exchange("one", "1");
		await scene.store.setBusyMode({ conversation, busy: "steer" });
		const found = await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(found.busy).toBe("steer");
		expect(await scene.say("two")).toMatchObject({ busy: "steer" });
	});

	tell("a command takes effect with the end of its message, and is answered once", async (scene) => {
		const { conversation } = await scene.exchange("one", "1");
		const item = await scene.say("/undo");
		const change = { name: "undo", args: { conversation, turns: 1 } } as const;
		const perform = async () => await scene.store.performCommand({ inbox: item.id, command: "undo", change });
		for (let n = 0; n < 2; n++)
			expect(await perform()).toMatchObject({ kind: "done", result: { rows: 2, turns: 1 } });
		expect(await scene.tryBegin(conversation, [item.id])).toEqual({ kind: "nothing" });
		const waiting = await scene.store.inboxItem({ scope: OPERATOR, id: item.id });
		expect(waiting).toMatchObject({
			disposition: { kind: "command", name: "undo" },
			command: { name: "undo", result: { rows: 2, turns: 1 } },
		});
		const answer = { inbox: item.id, conversation, deliveries: [delivery("a", "undone", "command")] };
		await scene.store.answerCommand(answer);
		await scene.store.answerCommand({ ...answer, deliveries: [delivery("b", "again", "command")] });
		expect(await scene.deliverAll()).toEqual(["undone"]);
		expect(await perform()).toEqual({ kind: "nothing" });
		const answered = await scene.store.inboxItem({ scope: OPERATOR, id: item.id });
		expect(answered).toMatchObject({ content: null, command: null });
	});

	tell("a command that is refused leaves its message waiting", async (scene) => {
		const item = await scene.say("/continue");
		const { conversation } = item;
		const args = { conversation, policy: QUIET, context: "context" };
		const change = { name: "continueSession", args } as const;
		const perform = scene.store.performCommand({ inbox: item.id, command: "continue", change });
		expect(await refusal(perform)).toBe("session.none");
		expect(
			await scene.store.waitingItems({ scope: OPERATOR, after: 0, conversation, limit: 10 }),
		).toMatchObject([{ id: item.id }]);
		const outcome = await scene.store.performCommand({ inbox: item.id, command: "continue" });
		expect(outcome).toEqual({ kind: "done", result: null });
	});

	tell("what waits and will not be answered is expired or dropped, once, and said", async (scene) => {
		const turn = await scene.turn("running");
		const { conversation } = turn;
		const [old, unwanted] = [await scene.say("old"), await scene.say("unwanted")];
		const running = (await scene.store.turn({ scope: OPERATOR, id: turn.turn })).inbox.map(({ id }) => id);
		const end = async (inbox: number[], as: Parameters<Scene["store"]["endItems"]>[0]["as"]) =>
			await scene.store.endItems({
				conversation,
				inbox,
				as,
				deliveries: [delivery(as.kind, as.kind, "notice")],
			});
		expect(await end([...running, old.id], { kind: "expired", reason: "too old" })).toEqual({
			ended: [old.id],
		});
		expect(await end([old.id, unwanted.id], { kind: "dropped_by_user" })).toEqual({ ended: [unwanted.id] });
		expect(await end([old.id, unwanted.id], { kind: "dropped_by_user" })).toEqual({ ended: [] });
		const disposition = async (id: number) =>
			(await scene.store.inboxItem({ scope: OPERATOR, id })).disposition;
		expect(await disposition(old.id)).toEqual({ kind: "expired", reason: "too old" });
		expect(await disposition(unwanted.id)).toEqual({ kind: "dropped_by_user" });
		expect(await scene.deliverAll()).toEqual(["expired", "dropped_by_user"]);
		await scene.reply(turn, "done");
		expect(await scene.texts(conversation)).toEqual(["running", "done"]);
	});
}

async function newSession(scene: Scene, conversation: ConversationId, more: { title?: string } = {}) {
	return await scene.store.newSession({ conversation, policy: LIMIT, context: "context", ...more });
}

async function continueSession(scene: Scene, conversation: ConversationId, by = QUIET) {
	return await scene.store.continueSession({ conversation, policy: by, context: "context" });
}

async function switchTo(
	scene: Scene,
	conversation: ConversationId,
	target: SessionId,
	by = QUIET,
	within: "conversation" | "principal" = "conversation",
) {
	return await scene.store.switchSession({ conversation, target, within, policy: by, context: "context" });
}

async function branch(
	scene: Scene,
	conversation: ConversationId,
	more: { policy?: typeof QUIET; title?: string; from?: BranchPoint } = {},
) {
	return await scene.store.branchSession({ conversation, policy: QUIET, context: "context", ...more });
}

async function processEnds(scene: Scene, conversation: ConversationId) {
	return await scene.say("process 1 ended", ADA, { kind: "process", conversation });
}
