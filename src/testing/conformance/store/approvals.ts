// Approved calls and the turns that make them (I14): used or taken back, with a result or an unknown outcome.
import { expect } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import type { ConfirmationRequest } from "../../../store/index.ts";
import { type Begun, OPERATOR, type Scene, type Tell } from "./scene.ts";

const HOUR = 3_600_000;

export function approvalConformance(tell: Tell): void {
	tell(
		"an approval that is not used yet is taken back with its turn, and starts no other (I14)",
		async (scene) => {
			const { store } = scene;
			const takeBack = {
				stop: (conversation: ConversationId) => store.stopTurn({ conversation }),
				undo: (conversation: ConversationId) => store.undo({ conversation, turns: 1 }),
				retry: (conversation: ConversationId) =>
					store.retry({ conversation, deadlineAt: scene.clock.now() + HOUR }),
			};
			for (const [n, [because, back]] of Object.entries(takeBack).entries()) {
				const id = String(n).repeat(12);
				const turn = await scene.turn(`do harm ${n}`);
				const { conversation } = turn;
				const outcome = await approved(scene, id, turn);
				const done = await back(conversation);
				if (because === "undo") expect(done).toMatchObject({ cancelled: 1 });
				if (because === "stop") expect(done).toMatchObject({ cancelled: [id] });
				expect(await store.confirmation({ scope: OPERATOR, id, now: scene.clock.now() })).toMatchObject({
					status: "expired",
					resolvedBy: "ada",
					useExpiredAt: scene.clock.now(),
				});
				await store.stopTurn({ conversation });
				expect(await store.inboxItem({ scope: OPERATOR, id: outcome })).toMatchObject({
					disposition: { kind: "dropped_by_user" },
				});
				const next = await scene.turn("and now");
				expect(await store.useConfirmation({ ...heldBy(next), id })).toMatchObject({ kind: "lapsed" });
				await scene.end(next);
			}
		},
	);

	tell(
		"a call that was approved and started has an unknown outcome if its turn is cut short, said once",
		async (scene) => {
			const { store } = scene;
			for (const [n, cut] of CUTS.entries()) {
				const id = String(n).repeat(12);
				const turn = await acting(scene, id);
				expect(await store.useConfirmation({ ...heldBy(turn), id })).toMatchObject({ kind: "run" });
				for (let times = 0; times < 2; times++) await cut(scene, turn);
				expect(await results(scene, turn)).toEqual([
					expect.stringMatching(/^The call harm .* approved by ada.*the outcome of this call is unknown$/s),
				]);
			}
		},
	);

	tell(
		"an approval whose turn is cut short before it uses it is taken back, and the transcript says so",
		async (scene) => {
			const { store, clock } = scene;
			for (const [n, cut] of CUTS.entries()) {
				const id = String(n).repeat(12);
				const turn = await acting(scene, id);
				await cut(scene, turn);
				expect(await store.confirmation({ scope: OPERATOR, id, now: clock.now() })).toMatchObject({
					status: "expired",
					resolvedBy: "ada",
					useExpiredAt: clock.now(),
				});
				const notes = (await scene.rows(turn.session)).filter((row) => row.turn === turn.turn);
				expect(
					notes.filter(({ content }) => String(content).includes(`${id} (harm: harm) was cancelled`)),
				).toHaveLength(1);
			}
		},
	);

	tell("who stops or undoes a turn is told of the approval that is taken back with it", async (scene) => {
		const { store } = scene;
		const first = await acting(scene, "aaaaaaaaaaaa");
		await scene.end(first, { outcome: { kind: "stopped" } });
		const { conversation, turn } = first;
		expect(await store.stopTurn({ conversation, turn })).toMatchObject({ cancelled: ["aaaaaaaaaaaa"] });
		await acting(scene, "bbbbbbbbbbbb");
		expect(await store.undo({ conversation, turns: 1 })).toMatchObject({ cancelled: 1 });
	});

	tell("stopping one turn alone cancels what it asked, and nothing that another asked", async (scene) => {
		const { store } = scene;
		const ask = (id: string, turn: Begun) =>
			store.askForCall({ ...heldBy(turn), request: callQuestion(id, turn), waiting: waitingFor(id) });
		const earlier = await scene.turn("do harm");
		await ask("aaaaaaaaaaaa", earlier);
		await scene.end(earlier);
		const turn = await scene.turn("do more");
		await ask("bbbbbbbbbbbb", turn);
		const stop = (of: Begun) => store.stopTurn({ conversation: of.conversation, turn: of.turn, alone: true });
		expect(await stop(earlier)).toMatchObject({ stopped: null, cancelled: [] });
		expect(await stop(turn)).toMatchObject({ stopped: turn.turn, cancelled: ["bbbbbbbbbbbb"] });
		expect(await store.stopTurn(earlier)).toMatchObject({ cancelled: ["aaaaaaaaaaaa"] });
	});

	tell("the result of an approved call is not doubted if its turn is stopped later", async (scene) => {
		const id = "aaaaaaaaaaaa";
		const turn = await acting(scene, id);
		await scene.store.useConfirmation({ ...heldBy(turn), id });
		const result = {
			role: "meta",
			kind: "note",
			content: "done",
			confirmation: { id, as: "result" },
		} as const;
		await scene.append(turn, [{ ...result, index: turn.nextIndex }]);
		await scene.store.stopTurn(turn);
		expect(await results(scene, turn)).toEqual(["done"]);
	});
}

/** Ways in which a turn is cut short. Each may be repeated. */
const CUTS: readonly ((scene: Scene, turn: Begun) => Promise<unknown>)[] = [
	({ store }, { conversation }) => store.stopTurn({ conversation }),
	(scene, turn) => scene.end(turn, { outcome: { kind: "stopped" } }),
	(scene, turn) => scene.end(turn, { outcome: { kind: "failed", reason: "deadline" } }),
	({ store, clock }, { conversation, destination }) =>
		store.compress({ conversation, destination, deadlineAt: clock.now() + HOUR }),
];

/** Asked, approved, and told to the turn that begins. */
async function acting(scene: Scene, id: string): Promise<Begun> {
	const asking = await scene.turn(`do harm ${id}`);
	return await scene.begin(asking.conversation, [await approved(scene, id, asking)]);
}

/** A call of the turn is asked about, and approved after its end; answers the item of the outcome. */
async function approved(scene: Scene, id: string, turn: Begun): Promise<number> {
	const request = callQuestion(id, turn);
	await scene.store.askForCall({ ...heldBy(turn), request, waiting: waitingFor(id) });
	await scene.end(turn);
	const resolved = await scene.store.resolveConfirmation({
		...{ id, decision: "approved", by: "ada", via: "cli", useWithinMs: HOUR },
	});
	return (resolved.kind === "resolved" && resolved.woken?.inbox) || 0;
}

function waitingFor(id: string) {
	return { role: "tool", toolCallId: "c1", content: `waiting for ${id}`, index: 1 } as const;
}

async function results(scene: Scene, { session, turn }: Begun): Promise<unknown[]> {
	const rows = (await scene.rows(session)).filter((row) => row.turn === turn && !row.hidden);
	return rows.flatMap(({ confirmation, content }) => (confirmation?.as === "result" ? [content] : []));
}

function heldBy({ turn, token }: Begun): { readonly turn: string; readonly token: number } {
	return { turn, token };
}

/** Of a call of the turn. */
export function callQuestion(id: string, { turn, conversation, destination }: Begun) {
	return {
		id,
		action: "harm",
		description: "do harm",
		details: {},
		digest: "d".repeat(64),
		requester: "agent",
		sessionKey: "",
		timeoutSeconds: 300,
		askedBy: "agent:default",
		via: "agent",
		limits: { perAction: 10, inAll: 1000, windowMs: HOUR },
		once: false,
		grantable: true,
		useWithinMs: HOUR,
		notices: { deliveries: [], webhooks: [] },
		from: { waiter: "turn", standing: "owner", conversation, turn, call: "c1", tool: "harm", destination },
	} as const satisfies ConfirmationRequest;
}
