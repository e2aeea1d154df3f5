// The outbox: order within a conversation, claims, settlements, and what nobody knows.
import { expect } from "vitest";
import { HOUR, MINUTE } from "../../support/clock.ts";
import { ADA, type Begun, BOB, delivery, OPERATOR, refusal, type Scene, type Tell } from "./scene.ts";

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

	tell("of each conversation only the first that waits is claimed", async (scene) => {
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
			const held = { turn: turn.turn, token: turn.token };
			const opened = await scene.store.openDelivery({ ...held, delivery: delivery("d", "") });
			expect(opened).toMatchObject({ state: "open", dueAt: null });
			expect(await scene.store.openDelivery({ ...held, delivery: delivery("d", "x") })).toEqual(opened);
			const half = { kind: "sent", receipt: "r1", body: { text: "half", plain: "half" } } as const;
			await scene.store.recordPreview({ ...held, id: "d", outcome: half });
			expect(await claim(scene)).toEqual([]);
			await scene.reply(turn, "whole", { deliveries: [delivery("d", "whole"), delivery("d2", "rest")] });
			const [first] = await claim(scene);
			expect(first).toMatchObject({ n: opened.n, receipt: "r1", body: { text: "whole" } });
			await settle(scene, first, { kind: "sent", receipt: "r1" });
			expect(await scene.deliverAll()).toEqual(["rest"]);
		},
	);

	tell(
		"a turn that ends without a final text leaves a visible preview, and drops an unsent one",
		async (scene) => {
			const turn = await scene.turn("one");
			const held = { turn: turn.turn, token: turn.token };
			for (const id of ["seen", "unseen"])
				await scene.store.openDelivery({ ...held, delivery: delivery(id, "…") });
			const sent = { kind: "sent", receipt: "r1", body: { text: "half", plain: "half" } } as const;
			await scene.store.recordPreview({ ...held, id: "seen", outcome: sent });
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
		const held = { turn: turn.turn, token: turn.token };
		await scene.store.openDelivery({ ...held, delivery: delivery("d", "…") });
		const outcome = { kind: "unknown", reason: "timeout after sending" } as const;
		await scene.store.recordPreview({ ...held, id: "d", outcome });
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
			const held = { turn: turn.turn, token: turn.token };
			const unknown = { kind: "unknown", reason: "timeout after sending" } as const;
			const arrived = { kind: "sent", receipt: "r1", body: { text: "half", plain: "half" } } as const;
			for (const [id, outcome] of [
				["arrived", arrived],
				["absent", { kind: "absent" }],
			] as const) {
				await scene.store.openDelivery({ ...held, delivery: delivery(id, "…") });
				await scene.store.recordPreview({ ...held, id, outcome: unknown });
				await scene.store.recordPreview({ ...held, id, outcome });
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

	tell("I7: a preview of unknown outcome is its turn's own until that has ended", async (scene) => {
		const turn = await scene.turn("one");
		await unknownPreview(scene, turn, "d");
		const since = scene.clock.now();
		expect(await scene.store.unknownDeliveries({ scope: OPERATOR, since })).toEqual([]);
		await scene.store.recordLookup({ id: "d", found: { kind: "absent" } });
		const again = { kind: "retry", at: since, reason: "by hand" } as const;
		expect(await refusal(scene.store.resolveDelivery({ id: "d", settlement: again }))).toBe("delivery.stale");
		expect(await claim(scene)).toEqual([]);
	});

	tell(
		"I7: after its turn a preview that is found shown is edited into the final text, one that is not is sent",
		async (scene) => {
			for (const [place, id, found, receipt] of [
				[ADA, "shown", { kind: "sent", receipt: "r1" }, "r1"],
				[BOB, "absent", { kind: "absent" }, null],
			] as const) {
				const turn = await scene.turn("one", place);
				await unknownPreview(scene, turn, id);
				await scene.reply(turn, "whole", { deliveries: [delivery(id, "whole")] });
				await scene.store.recordLookup({ id, found });
				expect(await claim(scene)).toMatchObject([{ id, receipt, body: { text: "whole" } }]);
			}
		},
	);

	tell(
		"I7: the preview of a turn that ended without a final text stays as it is, or is dropped where it never arrived",
		async (scene) => {
			for (const [place, id, found, state] of [
				[ADA, "shown", { kind: "sent", receipt: "r1" }, "sent"],
				[BOB, "absent", { kind: "absent" }, "dead"],
			] as const) {
				const turn = await scene.turn("one", place);
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

async function unknownPreview(scene: Scene, { turn, token }: Begun, id: string): Promise<void> {
	await scene.store.openDelivery({ turn, token, delivery: delivery(id, "half") });
	await scene.store.recordPreview({ turn, token, id, outcome: UNKNOWN });
}

/** A turn that ends with these deliveries, each its own text. */
async function replies(scene: Scene, place: typeof ADA, texts: readonly string[]) {
	const turn = await scene.turn("hello", place);
	await scene.reply(turn, "reply", { deliveries: texts.map((text) => delivery(text, text)) });
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
