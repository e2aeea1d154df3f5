// The outbox: order within a destination, claims, settlements, previews, and unknown outcomes.
import { expect } from "vitest";
import type { NewDelivery } from "../../../store/index.ts";
import { HOUR, MINUTE } from "../clock.ts";
import {
	ADA,
	type Begun,
	BOB,
	delivery,
	OPERATOR,
	refusal,
	type Scene,
	type SourceFields,
	type Tell,
} from "./scene.ts";

export function deliveryConformance(tell: Tell): void {
	tell("I7: a reply's parts are committed with the end of their turn, in order", async (scene) => {
		const turn = await scene.turn("one");
		const parts = [1, 2, 3].map((n) => delivery(`part ${n}`, `text ${n}`));
		await scene.reply(turn, "text", { deliveries: parts });
		const { deliveries } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
		expect(deliveries).toMatchObject(
			parts.map((part) => ({ ...part, state: "pending", turn: turn.turn, attempts: 0, receipt: null })),
		);
		expect(await scene.deliverAll()).toEqual(["text 1", "text 2", "text 3"]);
		expect(await scene.store.delivery({ scope: OPERATOR, id: "part 2" })).toMatchObject({
			state: "sent",
			receipt: "r-part 2",
			attempts: 1,
			settledAt: scene.clock.now(),
			dueAt: null,
		});
	});

	tell("of each destination only the first that waits is claimed", async (scene) => {
		await replies(scene, ADA, ["a1", "a2"]);
		await replies(scene, BOB, ["b1"]);
		const first = await claim(scene);
		expect(first.map(({ id }) => id)).toEqual(["a1", "b1"]);
		expect(first.every(({ state, attempts }) => state === "sending" && attempts === 1)).toBe(true);
		expect(await claim(scene)).toEqual([]);
		await settle(scene, first[1], { kind: "sent", receipt: "r" });
		expect(await claim(scene)).toEqual([]);
		await settle(scene, first[0], { kind: "sent", receipt: "r" });
		expect((await claim(scene)).map(({ id }) => id)).toEqual(["a2"]);
	});

	tell("I19: several conversations that lead to one destination keep one order", async (scene) => {
		const here = { chatId: "-7" };
		const end = async (
			from: SourceFields,
			ids: readonly string[],
			to: Partial<NewDelivery["destination"]>,
		) => {
			const turn = await scene.turn("hello", from);
			await scene.reply(turn, "reply", { deliveries: ids.map((id) => delivery(id, id, "reply", to)) });
			return turn.conversation;
		};
		const conversation = await end(ADA, ["a1", "a2"], here);
		await end(BOB, ["b1"], here);
		await scene.store.notify({ conversation, deliveries: [delivery("a3", "a3", "notice", here)] });
		await end(BOB, ["thread"], { ...here, threadId: "1" });
		await end(BOB, ["account"], { ...here, account: "second" });
		const claimed = await claim(scene);
		expect(claimed.map(({ id }) => id)).toEqual(["a1", "thread", "account"]);
		for (const one of claimed) await settle(scene, one, { kind: "sent", receipt: "r" });
		expect(await scene.deliverAll()).toEqual(["a2", "b1", "a3"]);
	});

	tell("I19: one that comes back goes before those that have only waited", async (scene) => {
		await replies(scene, ADA, ["a1", "a2", "a3"]);
		const [first] = await claim(scene);
		await settle(scene, first, { kind: "dead", reason: "chat not found" });
		const [second] = await claim(scene);
		const again = { kind: "retry", at: scene.clock.now(), reason: "by hand" } as const;
		await scene.store.resolveDelivery({ id: "a1", settlement: again });
		// Not while another one is being sent.
		expect(await claim(scene)).toEqual([]);
		const at = scene.clock.now() + MINUTE;
		await settle(scene, second, { kind: "retry", at, reason: "429" });
		const [back] = await claim(scene);
		expect(back).toMatchObject({ id: "a1" });
		scene.clock.set(at);
		expect(await claim(scene)).toEqual([]);
		await settle(scene, back, { kind: "sent", receipt: "r" });
		expect(await scene.deliverAll()).toEqual(["a2", "a3"]);
	});

	tell("what was claimed by a call whose answer never came is taken back", async (scene) => {
		await replies(scene, ADA, ["a1", "a2"]);
		await replies(scene, BOB, ["b1"]);
		const [first] = await claim(scene);
		await scene.store.releaseClaims({ holding: [first?.id ?? ""] });
		expect(await claim(scene)).toMatchObject([{ id: "b1", attempts: 1 }]);
		await settle(scene, first, { kind: "sent", receipt: "r" });
	});

	tell("a delivery that is to be tried later keeps those behind it waiting", async (scene) => {
		await replies(scene, ADA, ["a1", "a2"]);
		const [first] = await claim(scene);
		const at = scene.clock.now() + 30_000;
		await settle(scene, first, { kind: "retry", at, reason: "429" });
		const asked = await scene.store.claimDeliveries({ limit: 10, timeoutMs: MINUTE });
		expect(asked.deliveries).toEqual([]);
		expect(await scene.store.delivery({ scope: OPERATOR, id: "a1" })).toMatchObject({
			state: "pending",
			reason: "429",
			dueAt: at,
			settledAt: null,
		});
		scene.clock.set(at);
		const [again] = await claim(scene);
		expect(again).toMatchObject({ id: "a1", attempts: 2 });
		await settle(scene, again, { kind: "dead", reason: "chat not found" });
		expect(await scene.deliverAll()).toEqual(["a2"]);
	});

	tell(
		"after a clock was set what waits is due at its new time, and the rest at once where it is too far away",
		async (scene) => {
			await replies(scene, ADA, ["a1"]);
			await replies(scene, BOB, ["b1"]);
			for (const one of await claim(scene))
				await settle(scene, one, { kind: "retry", at: scene.clock.now() + MINUTE, reason: "429" });
			scene.clock.advance(-HOUR);
			const at = scene.clock.now() + MINUTE;
			await scene.store.retimeDeliveries({ due: [{ id: "a1", at }], latest: at });
			expect((await claim(scene)).map(({ id }) => id)).toEqual(["b1"]);
			scene.clock.set(at);
			await scene.store.retimeDeliveries({ due: [{ id: "b1", at: 0 }] });
			expect((await claim(scene)).map(({ id }) => id)).toEqual(["a1"]);
			expect((await scene.store.delivery({ scope: OPERATOR, id: "b1" })).state).toBe("sending");
		},
	);

	tell("a pause that the platform asked for uses up no attempt", async (scene) => {
		await replies(scene, ADA, ["a1"]);
		for (const [n, pause] of [true, true, false, true].entries()) {
			const [claimed] = await claim(scene);
			expect(claimed?.attempts).toBe(n < 3 ? 1 : 2);
			await settle(scene, claimed, { kind: "retry", at: scene.clock.now(), reason: "later", pause });
		}
		expect(await scene.store.delivery({ scope: OPERATOR, id: "a1" })).toMatchObject({ attempts: 1 });
	});

	tell(
		"of a channel that can send only so many now, no more are claimed; others do not wait",
		async (scene) => {
			await replies(scene, ADA, ["a1"]);
			await replies(scene, BOB, ["b1"]);
			const { platform, account } = (await scene.store.delivery({ scope: OPERATOR, id: "a1" })).destination;
			const ids = async (...rooms: readonly { platform: string; account: string; free: number }[]) =>
				(await scene.store.claimDeliveries({ limit: 10, timeoutMs: MINUTE, rooms })).deliveries.map(
					({ id }) => id,
				);
			expect(await ids({ platform, account, free: 0 })).toEqual([]);
			expect(await ids({ platform, account, free: 1 }, { platform, account: "another", free: 0 })).toEqual([
				"a1",
			]);
			expect(await ids({ platform: "another", account, free: 0 })).toEqual(["b1"]);
		},
	);

	tell("the time of the next delivery is named", async (scene) => {
		await replies(scene, ADA, ["a1"]);
		const [first] = await claim(scene);
		const at = scene.clock.now() + 30_000;
		await settle(scene, first, { kind: "retry", at, reason: "429" });
		expect(await scene.store.claimDeliveries({ limit: 10, timeoutMs: MINUTE })).toMatchObject({
			nextDueAt: at,
		});
	});

	tell("a claim is settled once, and only by who holds it", async (scene) => {
		await replies(scene, ADA, ["a1"]);
		const [first] = await claim(scene);
		const sent = { kind: "sent", receipt: "r" } as const;
		const stranger = scene.store.settleDelivery({ id: "a1", claim: "1:other", settlement: sent });
		expect(await refusal(stranger)).toBe("delivery.stale");
		await settle(scene, first, sent);
		expect(await refusal(settle(scene, first, { kind: "dead", reason: "late" }))).toBe("delivery.stale");
		expect(await refusal(settle(scene, { id: "nothing", claim: "c" }, sent))).toBe("store.not_found");
		expect(await scene.store.delivery({ scope: OPERATOR, id: "a1" })).toMatchObject({
			state: "sent",
			receipt: "r",
		});
	});

	tell("I7: an unknown outcome is never sent again by itself, and lets others pass", async (scene) => {
		await replies(scene, ADA, ["a1", "a2"]);
		const [first] = await claim(scene);
		await settle(scene, first, { kind: "unknown", reason: "timeout after sending" });
		scene.clock.advance(60 * MINUTE);
		expect(await scene.deliverAll()).toEqual(["a2"]);
		const unsettled = await scene.store.deliveries({
			scope: { kind: "operator" },
			which: "unsettled",
			limit: 10,
		});
		expect(unsettled).toMatchObject([{ id: "a1", state: "unknown", reason: "timeout after sending" }]);
	});

	tell("a person resolves what is unknown or dead, and nothing else", async (scene) => {
		await replies(scene, ADA, ["a1"]);
		await replies(scene, BOB, ["b1"]);
		const [a, b] = await claim(scene);
		await settle(scene, a, { kind: "unknown", reason: "timeout" });
		await settle(scene, b, { kind: "dead", reason: "chat not found" });
		const again = { kind: "retry", at: scene.clock.now(), reason: "by hand" } as const;
		await scene.store.resolveDelivery({ id: "a1", settlement: { kind: "sent", receipt: "found" } });
		await scene.store.resolveDelivery({ id: "b1", settlement: again });
		expect(await scene.store.delivery({ scope: OPERATOR, id: "a1" })).toMatchObject({
			state: "sent",
			receipt: "found",
		});
		expect(await scene.deliverAll()).toEqual(["b1"]);
		for (const id of ["a1", "b1"])
			expect(await refusal(scene.store.resolveDelivery({ id, settlement: again }))).toBe("delivery.stale");
		expect(await refusal(scene.store.resolveDelivery({ id: "x", settlement: again }))).toBe(
			"store.not_found",
		);
	});

	tell(
		"a previewed reply keeps its row and its receipt, and gets its final text at the end",
		async (scene) => {
			const turn = await scene.turn("one");
			const { held, row } = await shownPreview(scene, turn, "d");
			expect(row).toMatchObject({ state: "open", receipt: "r1", dueAt: null });
			expect(await claim(scene)).toEqual([]);
			const again = await scene.store.openDelivery({ ...held, delivery: delivery("d", "x") });
			expect(again).toEqual({ kind: "shown", receipt: "r1" });
			await scene.reply(turn, "whole", { deliveries: [delivery("d", "whole"), delivery("d2", "rest")] });
			const [first] = await claim(scene);
			expect(first).toMatchObject({ n: row.n, receipt: "r1", body: { text: "whole" } });
			await settle(scene, first, { kind: "sent", receipt: "r1" });
			expect(await scene.deliverAll()).toEqual(["rest"]);
		},
	);

	tell("I19: a preview is opened when nothing is on its way to its destination any more", async (scene) => {
		await replies(scene, ADA, ["a1", "a2"]);
		const { turn, token } = await scene.turn("next", ADA);
		const open = () =>
			scene.store.openDelivery({ turn, token, delivery: delivery("d", "half", "reply", ADAS) });
		expect(await open()).toEqual({ kind: "wait" });
		const [first] = await claim(scene);
		await settle(scene, first, { kind: "retry", at: scene.clock.now() + MINUTE, reason: "429" });
		expect(await open()).toEqual({ kind: "wait" });
		expect(await refusal(scene.store.delivery({ scope: OPERATOR, id: "d" }))).toBe("store.not_found");
		scene.clock.advance(MINUTE);
		expect(await scene.deliverAll()).toEqual(["a1", "a2"]);
		expect(await open()).toEqual({ kind: "send" });
		expect(await open()).toEqual({ kind: "wait" });
	});

	tell("I19: what is committed while a preview is on its way waits for its outcome", async (scene) => {
		const turn = await scene.turn("one");
		const held = { turn: turn.turn, token: turn.token };
		await scene.store.openDelivery({ ...held, delivery: delivery("d", "half") });
		const notice = delivery("n1", "notice", "notice");
		await scene.store.notify({ conversation: turn.conversation, deliveries: [notice] });
		expect(await claim(scene)).toEqual([]);
		await scene.store.recordPreview({ ...held, id: "d", outcome: { kind: "sent", receipt: "r1" } });
		expect(await scene.deliverAll()).toEqual(["notice"]);
		await scene.reply(turn, "whole", { deliveries: [delivery("d", "whole")] });
		expect(await scene.deliverAll()).toEqual(["whole"]);
	});

	tell("I19: a reply whose preview was not taken has its place from the end of its turn", async (scene) => {
		const turn = await scene.turn("one");
		const held = { turn: turn.turn, token: turn.token };
		await scene.store.openDelivery({ ...held, delivery: delivery("d", "half") });
		const absent = { kind: "absent", reason: "429" } as const;
		await scene.store.recordPreview({ ...held, id: "d", outcome: absent });
		expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({
			state: "open",
			receipt: null,
			dueAt: null,
		});
		const notice = delivery("n1", "notice", "notice");
		await scene.store.notify({ conversation: turn.conversation, deliveries: [notice] });
		expect(await scene.store.openDelivery({ ...held, delivery: delivery("d", "more") })).toEqual({
			kind: "wait",
		});
		await scene.reply(turn, "whole", { deliveries: [delivery("d", "whole")] });
		expect(await scene.deliverAll()).toEqual(["notice", "whole"]);
	});

	tell("a preview that is not answered when its turn ends is settled by who sent it", async (scene) => {
		for (const [from, to, outcome, then] of [
			[ADA, ADAS, { kind: "sent", receipt: "r1" }, { receipt: "r1", body: { text: "whole" } }],
			[BOB, BOBS, { kind: "absent", reason: "refused" }, { receipt: null, body: { text: "whole" } }],
		] as const) {
			const turn = await scene.turn("one", from);
			const held = { turn: turn.turn, token: turn.token };
			const id = `${to.chatId}:1`;
			await scene.store.openDelivery({ ...held, delivery: delivery(id, "half", "reply", to) });
			const parts = [delivery(id, "whole", "reply", to), delivery(`${id}+`, "rest", "reply", to)];
			await scene.reply(turn, "whole", { deliveries: parts });
			expect(await claim(scene)).toEqual([]);
			await scene.store.recordPreview({ ...held, id, outcome });
			expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({
				...then,
				state: "pending",
			});
			expect(await scene.deliverAll()).toEqual(["whole", "rest"]);
			expect(await refusal(scene.store.recordPreview({ ...held, id, outcome }))).toBe("delivery.stale");
		}
	});

	tell("the same where the turn ended without a final text: it stays as it is", async (scene) => {
		for (const [from, to, outcome, state] of [
			[ADA, ADAS, { kind: "sent", receipt: "r1" }, "sent"],
			[BOB, BOBS, { kind: "absent", reason: "refused" }, "dead"],
		] as const) {
			const turn = await scene.turn("one", from);
			const held = { turn: turn.turn, token: turn.token };
			const id = `${to.chatId}:1`;
			await scene.store.openDelivery({ ...held, delivery: delivery(id, "half", "reply", to) });
			await scene.store.stopTurn({ conversation: turn.conversation });
			expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({ state: "sending" });
			await scene.store.recordPreview({ ...held, id, outcome });
			expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({ state, dueAt: null });
		}
	});

	tell(
		"a turn that ends without a final text leaves a visible preview, and drops an unsent one",
		async (scene) => {
			const turn = await scene.turn("one");
			const { held } = await shownPreview(scene, turn, "seen");
			await scene.store.openDelivery({ ...held, delivery: delivery("unseen", "…") });
			const absent = { kind: "absent", reason: "429" } as const;
			await scene.store.recordPreview({ ...held, id: "unseen", outcome: absent });
			await scene.store.stopTurn({ conversation: turn.conversation });
			const { deliveries } = await scene.store.turn({ scope: OPERATOR, id: turn.turn });
			expect(deliveries).toMatchObject([
				{ id: "seen", state: "sent", receipt: "r1", body: { text: "half" } },
				{ id: "unseen", state: "dead" },
			]);
			expect(await scene.deliverAll()).toEqual([]);
		},
	);

	tell("a preview whose outcome is unknown is not sent again, but keeps the final text", async (scene) => {
		const turn = await scene.turn("one");
		await unknownPreview(scene, turn, "d");
		await scene.reply(turn, "whole", { deliveries: [delivery("d", "whole")] });
		expect(await scene.deliverAll()).toEqual([]);
		expect(await scene.store.delivery({ scope: OPERATOR, id: "d" })).toMatchObject({
			state: "unknown",
			body: { text: "whole" },
		});
	});

	tell(
		"a preview of unknown outcome that is looked up goes on: edited where it arrived, sent where not",
		async (scene) => {
			const turn = await scene.turn("one");
			for (const [id, found] of [
				["arrived", { kind: "sent", receipt: "r1" }],
				["absent", { kind: "absent" }],
			] as const) {
				await unknownPreview(scene, turn, id);
				await scene.store.recordLookup({ id, found });
				expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({
					state: "open",
					reason: null,
					settledAt: null,
				});
			}
			await scene.reply(turn, "whole", {
				deliveries: [delivery("arrived", "whole"), delivery("absent", "rest")],
			});
			const [first] = await claim(scene);
			expect(first).toMatchObject({ id: "arrived", receipt: "r1", body: { text: "whole" } });
			await settle(scene, first, { kind: "sent", receipt: "r1" });
			const [second] = await claim(scene);
			expect(second).toMatchObject({ id: "absent", receipt: null, body: { text: "rest" } });
		},
	);

	tell(
		"what a look-up says of a delivery of unknown outcome settles it; of any other it changes nothing",
		async (scene) => {
			await replies(scene, ADA, ["a1"]);
			await replies(scene, BOB, ["b1"]);
			for (const claimed of await claim(scene)) await settle(scene, claimed, UNKNOWN);
			const found = await scene.store.unknownDeliveries({ scope: OPERATOR, since: scene.clock.now() });
			expect(found.map(({ id }) => id)).toEqual(["b1", "a1"]);
			const later = { scope: OPERATOR, since: scene.clock.now() + 1 };
			expect(await scene.store.unknownDeliveries(later)).toEqual([]);
			await scene.store.recordLookup({ id: "a1", found: { kind: "sent", receipt: "r1" } });
			await scene.store.recordLookup({ id: "b1", found: { kind: "absent" } });
			for (const id of ["a1", "b1", "x"])
				await scene.store.recordLookup({ id, found: { kind: "sent", receipt: "late" } });
			expect(await scene.store.delivery({ scope: OPERATOR, id: "a1" })).toMatchObject({
				state: "sent",
				receipt: "r1",
			});
			expect(await scene.deliverAll()).toEqual(["b1"]);
			const since = scene.clock.now();
			expect(await scene.store.unknownDeliveries({ scope: OPERATOR, since })).toEqual([]);
		},
	);

	tell("I7: nobody sends a preview of unknown outcome while its turn goes on", async (scene) => {
		const turn = await scene.turn("one");
		await unknownPreview(scene, turn, "d");
		const again = { kind: "retry", at: scene.clock.now(), reason: "by hand" } as const;
		expect(await refusal(scene.store.resolveDelivery({ id: "d", settlement: again }))).toBe("delivery.stale");
		await scene.store.recordLookup({ id: "d", found: { kind: "absent" } });
		expect(await claim(scene)).toEqual([]);
	});

	tell(
		"I7: after its turn a preview that is found shown is edited into the final text, one that is not is sent",
		async (scene) => {
			for (const [from, to, id, found, receipt] of [
				[ADA, ADAS, "shown", { kind: "sent", receipt: "r1" }, "r1"],
				[BOB, BOBS, "absent", { kind: "absent" }, null],
			] as const) {
				const turn = await scene.turn("one", from);
				await unknownPreview(scene, turn, id, to);
				await scene.reply(turn, "whole", { deliveries: [delivery(id, "whole", "reply", to)] });
				await scene.store.recordLookup({ id, found });
				expect(await claim(scene)).toMatchObject([{ id, receipt, body: { text: "whole" } }]);
			}
		},
	);

	tell(
		"I7: the preview of a turn that ended without a final text stays as it is, or is dropped where it never arrived",
		async (scene) => {
			for (const [from, id, found, state] of [
				[ADA, "shown", { kind: "sent", receipt: "r1" }, "sent"],
				[BOB, "absent", { kind: "absent" }, "dead"],
			] as const) {
				const turn = await scene.turn("one", from);
				await unknownPreview(scene, turn, id);
				await scene.store.stopTurn({ conversation: turn.conversation });
				await scene.store.recordLookup({ id, found });
				expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({ state });
			}
			expect(await scene.deliverAll()).toEqual([]);
		},
	);

	tell("a notice about a turn is part of its story", async (scene) => {
		const { turn, conversation } = await scene.turn("one");
		await scene.store.notify({ conversation, turn, deliveries: [delivery("n1", "notice", "notice")] });
		expect(await scene.store.turn({ scope: OPERATOR, id: turn })).toMatchObject({
			deliveries: [{ id: "n1", turn }],
		});
	});

	tell("a notice is added once by its id, behind what waits", async (scene) => {
		const turn = await replies(scene, ADA, ["a1"]);
		const notice = { conversation: turn.conversation, deliveries: [delivery("n1", "notice", "notice")] };
		await scene.store.notify(notice);
		await scene.store.notify(notice);
		const waiting = await scene.store.deliveries({
			scope: { kind: "operator" },
			which: "waiting",
			limit: 10,
		});
		expect(waiting.map(({ id, kind, turn: of }) => [id, kind, of])).toEqual([
			["a1", "reply", turn.turn],
			["n1", "notice", null],
		]);
		const [first] = waiting;
		const rest = await scene.store.deliveries({
			scope: { kind: "operator" },
			which: "waiting",
			limit: 10,
			after: first?.n,
		});
		expect(rest.map(({ id }) => id)).toEqual(["n1"]);
		expect(await scene.deliverAll()).toEqual(["a1", "notice"]);
		const lost = { ...notice, conversation: "x" as typeof turn.conversation };
		expect(await refusal(scene.store.notify(lost))).toBe("store.not_found");
	});
}

type Settlement = Parameters<Scene["store"]["settleDelivery"]>[0]["settlement"];

const UNKNOWN = { kind: "unknown", reason: "timeout after sending" } as const;

const ADAS = { chatId: "100" };
const BOBS = { chatId: "200" };

async function shownPreview(scene: Scene, { turn, token }: Begun, id: string) {
	const held = { turn, token };
	const opened = await scene.store.openDelivery({ ...held, delivery: delivery(id, "half") });
	expect(opened).toEqual({ kind: "send" });
	await scene.store.recordPreview({ ...held, id, outcome: { kind: "sent", receipt: "r1" } });
	return { held, row: await scene.store.delivery({ scope: OPERATOR, id }) };
}

async function unknownPreview(
	scene: Scene,
	{ turn, token }: Begun,
	id: string,
	to: Partial<NewDelivery["destination"]> = ADAS,
): Promise<void> {
	await scene.store.openDelivery({ turn, token, delivery: delivery(id, "half", "reply", to) });
	await scene.store.recordPreview({ turn, token, id, outcome: UNKNOWN });
}

/** A turn that ends with these deliveries, each with its own text. */
async function replies(scene: Scene, from: typeof ADA, texts: readonly string[]) {
	const turn = await scene.turn("hello", from);
	const to = { chatId: String(from.chat_id) };
	await scene.reply(turn, "reply", { deliveries: texts.map((text) => delivery(text, text, "reply", to)) });
	return turn;
}

async function claim(scene: Scene) {
	return (await scene.store.claimDeliveries({ limit: 10, timeoutMs: MINUTE })).deliveries;
}

async function settle(
	scene: Scene,
	claimed: { readonly id: string; readonly claim: string } | undefined,
	settlement: Settlement,
): Promise<void> {
	const { id, claim } = claimed ?? expect.fail("nothing was claimed");
	await scene.store.settleDelivery({ id, claim, settlement });
}
