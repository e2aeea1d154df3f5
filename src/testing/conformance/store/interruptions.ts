// What the next owner finds: turns and deliveries of a dead owner. Needs a store that can be reopened.
import { expect } from "vitest";
import { HOUR, MINUTE } from "../clock.ts";
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

export function interruptionConformance(tell: Tell): void {
	tell("each owner has an epoch of its own, and finds what was committed", async (scene) => {
		const { epoch } = scene.store;
		const turn = await scene.exchange("one", "1");
		await scene.restart();
		expect(scene.store.epoch).toBe(epoch + 1);
		expect(await scene.texts(turn.conversation)).toEqual(["one", "1"]);
	});

	tell("I5: a turn of an earlier owner is refused before and after it is interrupted", async (scene) => {
		const turn = await scene.turn("one");
		await scene.restart();
		const late = () => scene.append(turn, [{ role: "assistant", content: "late", index: 1 }]);
		expect(await refusal(late())).toBe("turn.stale");
		await scene.interrupt();
		expect(await refusal(late())).toBe("turn.stale");
		expect(await scene.texts(turn.conversation)).toEqual(["one"]);
	});

	tell("an interrupted turn resumes as the same row, under the next token, where it stood", async (scene) => {
		const turn = await scene.turn("one");
		await scene.append(turn, [{ role: "assistant", content: "step", index: 1 }]);
		const held = { turn: turn.turn, token: turn.token };
		await scene.store.startCall({ ...held, call: "c1", tool: "mail", repeatable: false });
		await scene.store.startCall({ ...held, call: "c2", tool: "read", repeatable: true });
		await scene.restart();
		expect(await scene.interrupt()).toEqual([
			{ turn: turn.turn, conversation: turn.conversation, suspended: false },
		]);
		expect(await scene.interrupt()).toEqual([]);
		const waiting = await scene.say("two");
		expect(await scene.tryBegin(turn.conversation, [waiting.id])).toEqual({
			kind: "busy",
			turn: turn.turn,
			elsewhere: false,
		});
		expect(await scene.store.dueTurns({ scope: OPERATOR, now: scene.clock.now(), limit: 10 })).toEqual([
			{ id: turn.turn, conversation: turn.conversation },
		]);
		const resumed = await scene.resume(turn);
		expect(resumed).toMatchObject({
			kind: "resumed",
			turn: turn.turn,
			session: turn.session,
			destination: turn.destination,
			nextIndex: 2,
			attempts: 2,
			reason: "crash",
			messages: 2,
			context: "context",
			started: [
				{ call: "c1", tool: "mail", repeatable: false },
				{ call: "c2", tool: "read", repeatable: true },
			],
		});
		if (resumed.kind !== "resumed") return;
		expect(resumed.token).toBeGreaterThan(turn.token);
		expect(await refusal(scene.end(turn))).toBe("turn.stale");
		await scene.end(resumed, { messages: [{ role: "assistant", content: "done", index: 2 }] });
		expect(await scene.texts(turn.conversation)).toEqual(["one", "step", "done"]);
		const { inbox } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(inbox.map((item) => item.disposition?.kind)).toEqual(["answered"]);
		expect(await scene.resume(turn)).toEqual({ kind: "gone" });
	});

	tell("an interruption that is too old expires, and the next message meets that boundary", async (scene) => {
		const turn = await scene.turn("one");
		await scene.restart();
		await scene.interrupt();
		scene.clock.advance(HOUR);
		expect(await scene.resume(turn)).toEqual({ kind: "expired" });
		const [item] = (await scene.store.turn({ scope: OPERATOR, id: turn.turn })).inbox;
		expect(item?.disposition).toEqual({ kind: "expired", reason: "resume_expired" });
		expect((await scene.session(turn.session)).resumePendingSince).toBe(scene.clock.now() - HOUR);
		const next = await scene.turn("two");
		expect(next.session).not.toBe(turn.session);
		expect(next.boundary).toMatchObject({ cause: { reason: "resume_expired", interruptedMs: HOUR } });
		expect((await scene.session(turn.session)).endReason).toBe("resume_expired");
	});

	tell("an interrupted turn holds its session against the watcher", async (scene) => {
		const idle = policy({ mode: "idle", idle_minutes: 1 });
		const turn = await scene.turn("one", ADA, { policy: idle });
		await scene.restart();
		await scene.interrupt();
		scene.clock.advance(2 * MINUTE);
		expect(await scene.store.expireSession({ session: turn.session, policy: idle })).toEqual({ ended: null });
	});

	tell(
		"the third interruption in a row suspends the session, says so, and fails the message",
		async (scene) => {
			const turn = await scene.turn("one");
			for (let n = 1; n <= 3; n++) {
				await scene.restart();
				expect(await scene.interrupt()).toMatchObject([{ suspended: n === 3 }]);
				if (n < 3) expect(await scene.resume(turn)).toMatchObject({ kind: "resumed", attempts: n + 1 });
			}
			expect(await scene.session(turn.session)).toMatchObject({
				suspendedAt: scene.clock.now(),
				endReason: null,
			});
			const ended = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
			expect(ended).toMatchObject({ state: "failed", detail: "interrupted" });
			expect(ended.inbox[0]?.disposition).toEqual({ kind: "failed", reason: "interrupted" });
			expect(await scene.deliverAll()).toEqual(["suspended"]);
			expect(await scene.resume(turn)).toEqual({ kind: "gone" });
			const next = await scene.turn("two");
			expect(next.boundary).toMatchObject({ cause: { reason: "suspended", interruptions: 3 } });
		},
	);

	tell(
		"a suspended session ends at a person's next message; events wait for its successor",
		async (scene) => {
			const first = await scene.exchange("one", "1");
			const { conversation } = first;
			const running = await scene.turn("two");
			expect(running.session).toBe(first.session);
			await scene.suspend(running);
			expect((await scene.store.turn({ scope: OPERATOR, id: running.turn })).state).toBe("failed");
			expect((await scene.session(first.session)).suspendedAt).toBe(scene.clock.now());
			const event = await scene.say("process 5 ended", ADA, { kind: "process", conversation });
			expect(await scene.tryBegin(conversation, [event.id])).toEqual({ kind: "suspended" });
			const next = await scene.turn("three");
			expect(next.session).not.toBe(first.session);
			expect(next.boundary).toMatchObject({ cause: { reason: "suspended" } });
			await scene.end(next);
			expect(await scene.begin(conversation, [event.id])).toMatchObject({ session: next.session });
		},
	);

	tell("interruptions of several turns count together, planned ones do not", async (scene) => {
		const first = await scene.turn("one");
		for (let n = 0; n < 4; n++) {
			expect(await scene.store.planInterruptions()).toEqual({
				turns: [
					{
						turn: first.turn,
						conversation: first.conversation,
						platform: "telegram",
						chatType: "dm",
						destination: first.destination,
					},
				],
			});
			await scene.restart();
			expect(await scene.interrupt()).toMatchObject([{ suspended: false }]);
			expect(await scene.resume(first)).toMatchObject({ kind: "resumed", reason: "restart" });
		}
		await scene.restart();
		expect(await scene.interrupt()).toMatchObject([{ suspended: false }]);
		await scene.resume(first);
		await scene.restart();
		expect(await scene.interrupt()).toMatchObject([{ suspended: false }]);
		await scene.resume(first);
		await scene.restart();
		expect(await scene.interrupt()).toMatchObject([{ suspended: true }]);
	});

	tell("a turn that expires clears the count of interruptions", async (scene) => {
		for (const text of ["one", "two", "three"]) {
			const turn = await scene.turn(text);
			for (let n = 0; n < 2; n++) {
				await scene.restart();
				expect(await scene.interrupt(), text).toMatchObject([{ suspended: false }]);
				if (n === 1) scene.clock.advance(2 * HOUR);
				expect(await scene.resume(turn)).toMatchObject({ kind: n === 0 ? "resumed" : "expired" });
			}
		}
	});

	tell("a resumed turn says since when it stood still", async (scene) => {
		const turn = await scene.turn("one");
		scene.clock.advance(1000);
		const at = scene.clock.now();
		await scene.restart();
		scene.clock.advance(MINUTE);
		await scene.store.interruptTurns({ at, suspendedNotice: { text: "", plain: "" } });
		expect(await scene.resume(turn)).toMatchObject({ kind: "resumed", interruptedAt: at });
	});

	for (const [how, endIt] of [
		["ends", async (scene: Scene, turn: { turn: string; token: number }) => void (await scene.end(turn))],
		["is stopped", async (scene: Scene, turn: Begun) => void (await scene.store.stopTurn(turn))],
	] as const)
		tell(`a turn that ${how} clears the count of interruptions`, async (scene) => {
			const crashes = async (turn: Begun) => {
				for (let n = 0; n < 2; n++) {
					await scene.restart();
					expect(await scene.interrupt()).toMatchObject([{ suspended: false }]);
					const resumed = await scene.resume(turn);
					if (resumed.kind === "resumed" && n === 1) await endIt(scene, { ...turn, token: resumed.token });
				}
			};
			await crashes(await scene.turn("one"));
			await crashes(await scene.turn("two"));
		});

	tell("a stopped turn is never resumed", async (scene) => {
		const turn = await scene.turn("one");
		await scene.restart();
		await scene.interrupt();
		expect(await scene.store.stopTurn({ conversation: turn.conversation })).toMatchObject({
			stopped: turn.turn,
		});
		expect(await scene.store.dueTurns({ scope: OPERATOR, now: scene.clock.now() + HOUR, limit: 10 })).toEqual(
			[],
		);
		expect(await scene.resume(turn)).toEqual({ kind: "gone" });
		const { inbox } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(inbox[0]?.disposition).toEqual({ kind: "stopped", turn: turn.turn });
	});

	tell(
		"what an owner was sending when it died is unknown; an edit of a known receipt is tried again",
		async (scene) => {
			const turn = await scene.turn("one");
			const held = { turn: turn.turn, token: turn.token };
			const preview = delivery("edited", "…");
			await scene.store.openDelivery({ ...held, delivery: preview });
			const sent = { kind: "sent", receipt: "r1" } as const;
			await scene.store.recordPreview({ ...held, id: "edited", outcome: sent });
			await scene.reply(turn, "1", { deliveries: [delivery("edited", "final")] });
			const other = await scene.turn("one", { ...ADA, chat_id: "300", user_id: "300" });
			await scene.reply(other, "1", { deliveries: [delivery("sent", "final", "reply", { chatId: "300" })] });
			const { deliveries } = await scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
			expect(deliveries.map(({ id, receipt }) => [id, receipt])).toEqual([
				["edited", "r1"],
				["sent", null],
			]);
			await scene.restart();
			const { unknown } = await scene.store.recoverDeliveries({ canAsk: [] });
			expect(unknown).toMatchObject([{ id: "sent", state: "unknown" }]);
			expect((await scene.store.recoverDeliveries({ canAsk: [] })).unknown).toEqual([]);
			const state = async (id: string) => await scene.store.delivery({ scope: OPERATOR, id });
			expect(await state("sent")).toMatchObject({ state: "unknown", dueAt: null });
			expect(await state("edited")).toMatchObject({ state: "pending", receipt: "r1", attempts: 1 });
			const late = deliveries.map(({ id, claim }) =>
				scene.store.settleDelivery({ id, claim, settlement: { kind: "sent", receipt: "late" } }),
			);
			for (const settlement of late) expect(await refusal(settlement)).toBe("delivery.stale");
			expect(await scene.deliverAll()).toEqual(["final"]);
		},
	);

	tell("what an owner was asking about when it died is asked about at once by the next", async (scene) => {
		const turn = await scene.turn("one");
		await scene.reply(turn, "1", { deliveries: [delivery("d", "final")] });
		const claims = async () =>
			(await scene.store.claimDeliveries({ limit: 10, timeoutMs: 60_000 })).deliveries.map(
				({ id, state }) => [id, state],
			);
		const canAsk = [{ platform: "telegram", account: "" }];
		expect(await claims()).toEqual([["d", "sending"]]);
		await scene.restart();
		await scene.store.recoverDeliveries({ canAsk });
		expect(await claims()).toEqual([["d", "unknown"]]);
		await scene.store.recoverDeliveries({ canAsk });
		expect(await claims()).toEqual([]);
		await scene.restart();
		await scene.store.recoverDeliveries({ canAsk });
		expect(await claims()).toEqual([["d", "unknown"]]);
		await scene.store.recordLookup({ id: "d", found: { kind: "unreached", at: scene.clock.now() + 1000 } });
		await scene.restart();
		await scene.store.recoverDeliveries({ canAsk });
		expect(await claims()).toEqual([]);
		await scene.store.recordLookup({ id: "d", found: { kind: "sent", receipt: "r" } });
		expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({ state: "sent" });
	});

	tell("a claim of the present owner is not recovered", async (scene) => {
		const turn = await scene.turn("one");
		await scene.reply(turn, "1", { deliveries: [delivery("d", "final")] });
		const { deliveries } = await scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
		expect(await scene.store.recoverDeliveries({ canAsk: [] })).toEqual({ unknown: [] });
		const [claimed] = deliveries as [(typeof deliveries)[number]];
		await scene.store.settleDelivery({ ...claimed, settlement: { kind: "sent", receipt: "r" } });
		expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({ state: "sent" });
	});

	tell("a resumed turn goes on with the delivery whose preview is known", async (scene) => {
		const turn = await scene.turn("one");
		const held = { turn: turn.turn, token: turn.token };
		await scene.store.openDelivery({ ...held, delivery: delivery("d", "half") });
		const sent = { kind: "sent", receipt: "r1" } as const;
		await scene.store.recordPreview({ ...held, id: "d", outcome: sent });
		await scene.restart();
		await scene.interrupt();
		const resumed = await scene.resume(turn);
		if (resumed.kind !== "resumed") return expect.fail("the turn was not resumed");
		const again = await scene.store.openDelivery({
			turn: resumed.turn,
			token: resumed.token,
			delivery: delivery("d", "another beginning"),
		});
		expect(again).toEqual({ kind: "shown", receipt: "r1" });
		expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({
			state: "open",
			body: { text: "half" },
		});
		await scene.end(resumed, { deliveries: [delivery("d", "whole")] });
		const { deliveries } = await scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
		expect(deliveries).toMatchObject([{ id: "d", receipt: "r1", body: { text: "whole" } }]);
	});

	tell(
		"a preview that may or may not have been sent is not sent again when its turn resumes",
		async (scene) => {
			const turn = await scene.turn("one");
			await scene.store.openDelivery({ turn: turn.turn, token: turn.token, delivery: delivery("d", "…") });
			await scene.restart();
			await scene.interrupt();
			await scene.store.recoverDeliveries({ canAsk: [] });
			const resumed = await scene.resume(turn);
			if (resumed.kind !== "resumed") return expect.fail("the turn was not resumed");
			const held = { turn: resumed.turn, token: resumed.token };
			expect(await scene.store.openDelivery({ ...held, delivery: delivery("d", "again") })).toEqual({
				kind: "uncertain",
			});
			await scene.end(resumed, { deliveries: [delivery("d", "whole")] });
			expect(await scene.deliverAll()).toEqual([]);
			expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({
				state: "unknown",
				body: { text: "whole" },
			});
		},
	);

	tell(
		"I19: after the owner's death those behind what it was sending wait until the platform was asked, where it can be",
		async (scene) => {
			for (const chatId of ["asked", "mute"]) {
				const turn = await scene.turn("one", { ...ADA, chat_id: chatId, user_id: chatId });
				const to = { chatId, account: chatId };
				const parts = [1, 2].map((n) => delivery(`${chatId} ${n}`, `${chatId} ${n}`, "reply", to));
				await scene.reply(turn, "1", { deliveries: parts });
			}
			await scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
			await scene.restart();
			await scene.store.recoverDeliveries({ canAsk: [{ platform: "telegram", account: "asked" }] });
			const { deliveries } = await scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
			expect(deliveries.map(({ id, state }) => [id, state])).toEqual([
				["asked 1", "unknown"],
				["mute 2", "sending"],
			]);
			const list = async (which: "waiting" | "unsettled") =>
				(await scene.store.deliveries({ scope: OPERATOR, which, limit: 10 })).map(({ id }) => id);
			expect(await list("waiting")).toEqual(["asked 1", "asked 2", "mute 2"]);
			expect(await list("unsettled")).toEqual(["mute 1"]);
			// A delivery that is being looked up is handed out again only after its time.
			const again = () => scene.store.claimDeliveries({ limit: 10, timeoutMs: 1000 });
			expect(await again()).toMatchObject({ deliveries: [], nextDueAt: scene.clock.now() + 1000 });
			scene.clock.advance(1000);
			expect((await again()).deliveries).toMatchObject([{ id: "asked 1", state: "unknown" }]);
			const at = scene.clock.now() + 5000;
			await scene.store.recordLookup({ id: "asked 1", found: { kind: "unreached", at } });
			expect(await again()).toMatchObject({ deliveries: [], nextDueAt: at });
			await scene.store.recordLookup({ id: "asked 1", found: { kind: "absent" } });
			expect(await scene.deliverAll()).toEqual(["asked 1", "asked 2"]);
		},
	);

	tell("overrides, told-ness and cursors survive the owner", async (scene) => {
		const idle = policy({ mode: "idle", idle_minutes: 1 });
		const cursor = { platform: "telegram", account: "", value: "42" };
		await scene.accept("x", ADA, { cursor, as: { kind: "command", name: "status" } });
		const first = await scene.exchange("one", "1", ADA, { policy: idle });
		const override = { model: "m" };
		await scene.store.setModelOverride({ conversation: first.conversation, override });
		scene.clock.advance(HOUR);
		await scene.end(await scene.turn("two", ADA, { policy: idle }), {
			outcome: { kind: "failed", reason: "provider down" },
			policy: idle,
		});
		await scene.restart();
		const found = await scene.store.conversation({ scope: OPERATOR, ref: { id: first.conversation } });
		expect(found.modelOverride).toEqual(override);
		expect(await scene.store.channelCursor({ scope: OPERATOR, ...cursor })).toBe("42");
		expect((await scene.turn("three", ADA, { policy: QUIET })).boundary).toMatchObject({
			cause: { reason: "idle" },
		});
	});
}
