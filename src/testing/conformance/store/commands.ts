// What commands need from the store besides their changes: reachable sessions, usage, history, what to drop.
import { expect } from "vitest";
import { type ConversationId, conversationId } from "../../../domain/index.ts";
import { HOUR } from "../clock.ts";
import { BOB, GROUP, OPERATOR, principalScope, QUIET, refused, type Scene, type Tell } from "./scene.ts";

const OPENING = { policy: QUIET, context: "context" };
const WEB = { platform: "web", chat_id: "main", user_id: "100" };

export function commandConformance(tell: Tell): void {
	tell(
		"what is within reach is the newest first, without the live one and those with nothing in them",
		async (scene) => {
			const { conversation } = await scene.exchange("first words", "1");
			await scene.store.newSession({ conversation, ...OPENING });
			await scene.store.newSession({ conversation, ...OPENING, title: "Named" });
			scene.clock.advance(HOUR);
			await scene.exchange("second words", "2");
			await scene.store.newSession({ conversation, ...OPENING });
			await scene.exchange("third words", "3");
			const found = await reach(scene, conversation);
			expect(found.map(({ title, opening }) => [title, opening])).toEqual([
				["Named", "second words"],
				[null, "first words"],
			]);
			expect(found[0]).toMatchObject({ messages: 2, endReason: "user_new", elsewhere: null });
			expect(await reach(scene, conversation, { limit: 1 })).toHaveLength(1);
		},
	);

	tell("what was undone is no opening, and a session of which all is undone is left out", async (scene) => {
		const { conversation } = await scene.exchange("one", "1");
		await scene.store.undo({ conversation, turns: 1 });
		await scene.store.newSession({ conversation, ...OPENING });
		expect(await reach(scene, conversation)).toEqual([]);
	});

	tell("a session is found by id or title, in any capitals, the live one too", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1");
		await scene.store.setTitle({ session, title: "Garden", source: "user" });
		for (const named of [{ id: session }, { title: "gARDEN" }])
			expect(await reach(scene, conversation, { named })).toMatchObject([{ id: session }]);
		expect(await reach(scene, conversation, { named: { title: "gard" } })).toEqual([]);
	});

	tell("the person's other unshared conversations are within reach, and nothing else", async (scene) => {
		const ada = await scene.exchange("mine", "1");
		const web = await scene.exchange("mine too", "2", WEB);
		const bob = await scene.exchange("his", "3", BOB);
		const group = await scene.exchange("ours", "4", { ...GROUP, user_id: "100" });
		await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
		const ids = async (from: ConversationId, within: "conversation" | "principal" = "principal") =>
			(await reach(scene, from, { within })).map(({ id }) => id);
		expect(await ids(ada.conversation)).toEqual([web.session]);
		expect(await ids(web.conversation)).toEqual([ada.session]);
		expect(await reach(scene, ada.conversation)).toMatchObject([
			{ elsewhere: expect.any(String), endReason: null },
		]);
		// Someone else who speaks there, such as a token bound to it, reaches only this one.
		const asked = (principal: string | null, conversation: ConversationId) =>
			reach(scene, conversation, {
				scope: { kind: "principal", principal: principal ?? "", profile: "", conversation },
			});
		expect(await asked(ada.principal, ada.conversation)).toHaveLength(1);
		expect(await asked(bob.principal, ada.conversation)).toEqual([]);
		for (const asker of [bob.principal, null])
			expect(
				(
					await refused(
						scene.store.switchSession({
							conversation: ada.conversation,
							...OPENING,
							target: web.session,
							within: "principal",
							asker,
						}),
					)
				).code,
			).toBe("store.not_found");
		expect(await ids(ada.conversation, "conversation")).toEqual([]);
		expect(await ids(group.conversation)).toEqual([]);
		for (const target of [bob.session, group.session]) {
			expect(await reach(scene, ada.conversation, { named: { id: target } })).toEqual([]);
			const args = { conversation: ada.conversation, ...OPENING, target, within: "principal" } as const;
			expect((await refused(scene.store.switchSession(args))).code).toBe("store.not_found");
		}
	});

	tell("what was spent is added up for the live session and since a time", async (scene) => {
		const first = await scene.turn("one");
		const { conversation } = first;
		await spend(scene, first, 1, { costMicros: 500 });
		await spend(scene, first, 2, { costMicros: null });
		await scene.reply(first, "1");
		scene.clock.advance(HOUR);
		const noon = scene.clock.now();
		await scene.store.newSession({ conversation, ...OPENING });
		const second = await scene.turn("two");
		await spend(scene, second, 1, { costMicros: 7, currency: "EUR" });
		await spend(scene, second, 2, { costMicros: 100 });
		const spent = await scene.store.usage({ scope: OPERATOR, conversation, since: noon });
		const own = {
			calls: 2,
			inputTokens: 20,
			outputTokens: 6,
			cachedInputTokens: 8,
			unpriced: 0,
			costs: [
				{ currency: "EUR", micros: 7 },
				{ currency: "USD", micros: 100 },
			],
		};
		expect(spent).toEqual({ session: { id: second.session, ...own }, since: own });
		const { since } = await scene.store.usage({ scope: OPERATOR, conversation, since: 0 });
		expect(since).toMatchObject({ calls: 4, unpriced: 1, costs: [{ micros: 7 }, { micros: 600 }] });
	});

	tell("insights count what happened in a stretch of time, on one platform or on all", async (scene) => {
		const old = await scene.exchange("old", "0");
		scene.clock.advance(2 * HOUR);
		const from = scene.clock.now() - HOUR;
		const turn = await scene.turn("work");
		const call = { provider: "p", model: "m", inputTokens: 70, outputTokens: 7, status: "ok" as const };
		const priced = { ...call, turn: turn.turn, token: turn.token, currency: "USD" };
		await scene.store.recordModelCall({ ...priced, n: 1, costMicros: 40 });
		await scene.store.recordModelCall({ ...priced, n: 2, costMicros: null });
		await scene.append(turn, [
			{ role: "assistant", content: "", toolCalls: [{ id: "a", name: "t", input: {} }], index: 1 },
			{ role: "tool", content: "no", toolCallId: "a", toolName: "t", isError: true, index: 2 },
		]);
		scene.clock.advance(1234);
		await scene.end(turn);
		await scene.store.newSession({ conversation: turn.conversation, ...OPENING });
		const irc = { platform: "irc", chat_id: "bob", user_id: "bob" };
		const bob = await scene.turn("stop me", irc);
		await scene.store.stopTurn({ conversation: bob.conversation });
		expect(old.session).toBe(turn.session);
		const stretch = { scope: OPERATOR, from, to: scene.clock.now() + 1 };
		const nothing = {
			calls: 0,
			inputTokens: 0,
			outputTokens: 0,
			cachedInputTokens: 0,
			costs: [],
			unpriced: 0,
		};
		const spent = {
			calls: 2,
			inputTokens: 140,
			outputTokens: 14,
			cachedInputTokens: 0,
			costs: [{ currency: "USD", micros: 40 }],
			unpriced: 1,
		};
		const ada = {
			messages: { in: 1, out: 1, toolResults: 1 },
			positions: [{ position: 0, results: 1, errors: 1 }],
			turns: { completed: 1 },
			spent,
			spentBy: [{ principal: expect.any(String), profile: "", spent }],
			boundaries: { user_new: 1 },
			latencies: [{ ms: 1230, count: 1 }],
		};
		expect(await scene.store.insights({ ...stretch, platform: "telegram" })).toEqual(ada);
		expect(await scene.store.insights({ ...stretch, platform: "irc" })).toEqual({
			messages: { in: 1, out: 0, toolResults: 0 },
			positions: [],
			turns: { stopped: 1 },
			spent: nothing,
			spentBy: [],
			boundaries: {},
			latencies: [],
		});
		expect(await scene.store.insights(stretch)).toEqual({
			...ada,
			messages: { in: 2, out: 1, toolResults: 1 },
			turns: { completed: 1, stopped: 1 },
		});
		expect(await scene.store.insights({ ...stretch, from: 0, to: from })).toMatchObject({
			messages: { in: 1, out: 1, toolResults: 0 },
			turns: { completed: 1 },
			boundaries: {},
		});
		expect(await scene.store.activePlatforms({ scope: OPERATOR, since: from })).toEqual([
			{ platform: "irc", conversations: 1 },
			{ platform: "telegram", conversations: 1 },
		]);
		const later = scene.clock.now() + 1;
		expect(await scene.store.activePlatforms({ scope: OPERATOR, since: later })).toEqual([]);
	});

	tell("stop drops what waits with it, once, and never what a turn has taken", async (scene) => {
		const turn = await scene.turn("running");
		const { conversation } = turn;
		const waiting = await scene.say("waiting");
		const other = await scene.say("elsewhere", BOB);
		const [taken] = (await scene.store.turn({ scope: OPERATOR, id: turn.turn })).inbox;
		const drop = [taken?.id ?? 0, waiting.id, other.id];
		expect(await scene.store.stopTurn({ conversation, drop })).toEqual({
			stopped: turn.turn,
			dropped: [waiting.id],
			cancelled: [],
		});
		expect(await scene.store.stopTurn({ conversation, drop })).toEqual({
			stopped: null,
			dropped: [],
			cancelled: [],
		});
		const left = await scene.store.waitingItems({ scope: OPERATOR, conversation, after: 0, limit: 9 });
		expect(left).toEqual([]);
	});

	tell("a turn that is named is stopped, or was; another one is left alone", async (scene) => {
		const first = await scene.turn("one");
		const { conversation } = first;
		await scene.end(first, { outcome: { kind: "stopped" } });
		const second = await scene.turn("two");
		const bob = await scene.turn("his", BOB);
		const stop = async (turn: string) => (await scene.store.stopTurn({ conversation, turn })).stopped;
		expect(await stop(first.turn)).toBe(first.turn);
		expect(await stop(bob.turn)).toBeNull();
		await scene.reply(bob, "3");
		expect(await stop(second.turn)).toBe(second.turn);
		const third = await scene.exchange("three", "3");
		expect(await stop(third.turn)).toBeNull();
	});

	tell("messages are counted back, those that were given up too, from before a given one", async (scene) => {
		const { conversation } = await scene.exchange("one", "1");
		const dropped = await scene.say("two");
		await scene.store.stopTurn({ conversation, drop: [dropped.id] });
		const waiting = await scene.say("three");
		const back = (n: number, before?: number) =>
			scene.store.lastInbound({ scope: OPERATOR, conversation, back: n, ...(before && { before }) });
		expect(await back(1)).toBe(waiting.id);
		expect(await back(2)).toBe(dropped.id);
		expect(await back(1, waiting.id)).toBe(dropped.id);
		expect(await back(3)).toBeLessThan(dropped.id);
		expect(await back(4)).toBeNull();
	});

	tell(
		"what is shown of tools belongs to the conversation, and its setters answer what was before",
		async (scene) => {
			const { conversation } = await scene.exchange("one", "1");
			const set = (show: "all" | "off" | null) => scene.store.setToolProgress({ conversation, show });
			expect(await set("all")).toEqual({ show: "all", before: null });
			expect(await set("off")).toEqual({ show: "off", before: "all" });
			const read = async () =>
				(await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } })).toolProgress;
			expect(await read()).toBe("off");
			await set(null);
			expect(await read()).toBeNull();
			expect(await scene.store.setBusyMode({ conversation, busy: "steer" })).toEqual({ before: null });
			expect(await scene.store.setBusyMode({ conversation, busy: "queue" })).toEqual({ before: "steer" });
		},
	);

	tell("a command that only says something keeps that until it is answered", async (scene) => {
		const item = await scene.say("/status");
		const perform = () =>
			scene.store.performCommand({ inbox: item.id, command: "status", said: "all is well" });
		for (let n = 0; n < 2; n++) expect(await perform()).toEqual({ kind: "done", result: "all is well" });
		const { command } = await scene.store.inboxItem({ scope: OPERATOR, id: item.id });
		expect(command).toEqual({ name: "status", result: "all is well" });
	});

	tell("another principal learns nothing of what is within reach and what was spent", async (scene) => {
		const { conversation } = await scene.exchange("secret", "1");
		const bob = await scene.exchange("hello", "2", BOB);
		const scope = principalScope(bob.principal);
		for (const at of [conversation, conversationId("x")]) {
			const asked = [
				() => scene.store.usage({ scope, conversation: at, since: 0 }),
				() => scene.store.reachableSessions({ scope, conversation: at, within: "principal", limit: 5 }),
			];
			for (const ask of asked) expect((await refused(ask())).code).toBe("store.not_found");
		}
	});
}

function reach(
	scene: Scene,
	conversation: ConversationId,
	more: Partial<Parameters<Scene["store"]["reachableSessions"]>[0]> = {},
) {
	return scene.store.reachableSessions({
		scope: OPERATOR,
		conversation,
		within: "principal",
		limit: 10,
		...more,
	});
}

function spend(
	scene: Scene,
	{ turn, token }: { readonly turn: string; readonly token: number },
	n: number,
	cost: { readonly costMicros: number | null; readonly currency?: string },
): Promise<void> {
	return scene.store.recordModelCall({
		turn,
		token,
		n,
		provider: "p",
		model: "m",
		inputTokens: 10,
		outputTokens: 3,
		cachedInputTokens: 4,
		currency: "USD",
		status: "ok",
		...cost,
	});
}
