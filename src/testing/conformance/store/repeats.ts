// Requests repeated because the answer was lost: done once, and answered as the first time.
import { expect } from "vitest";
import type { BeginProcessArgs } from "../../../store/index.ts";
import { callQuestion } from "./approvals.ts";
import { type Begun, OPERATOR, QUIET, type Scene, type Tell } from "./scene.ts";

const HOUR = 3_600_000;
const CALL = {
	provider: "p",
	model: "m",
	inputTokens: 7,
	outputTokens: 3,
	costMicros: 1,
	currency: "USD",
	status: "ok",
} as const;

export function repeatConformance(tell: Tell): void {
	tell("messages that joined a turn are answered again to who did not hear of it", async (scene) => {
		const turn = await scene.turn("hello");
		const more = await scene.say("and this");
		const join = { ...heldBy(turn), inbox: [more.id], nextIndex: 1, policy: QUIET };
		const first = await scene.store.joinTurn(join);
		expect(await scene.store.joinTurn(join)).toMatchObject({
			rows: [{ id: first.rows[0]?.id, content: "and this" }],
			nextIndex: 2,
		});
		// Content before the requested position is known already.
		expect(await scene.store.joinTurn({ ...join, nextIndex: 2 })).toEqual({
			rows: [],
			joined: [more.id],
			nextIndex: 2,
		});
	});

	tell("a failing call whose result is written again is counted once", async (scene) => {
		const turn = await scene.turn("hello");
		const write = () =>
			scene.store.appendMessages({
				...heldBy(turn),
				messages: [{ role: "tool", toolCallId: "c", content: "no", isError: true, index: 1 }],
				outcomes: [{ digest: "d", failed: true }],
			});
		for (let n = 0; n < 3; n++) expect((await write()).failingCount).toBe(1);
	});

	tell("a turn sums up the same rows with the same words once", async (scene) => {
		await scene.exchange("one", "1");
		const turn = await scene.turn("two");
		const { session } = turn;
		const ranges = [{ session, fromSeq: 1, toSeq: 2 }];
		const cover = (summary: string) =>
			scene.store.cover({ session, ranges, summary, turn: { id: turn.turn, token: turn.token } });
		const first = await cover("they said one");
		expect((await cover("they said one")).id).toBe(first.id);
		expect((await cover("in other words")).id).not.toBe(first.id);
	});

	tell("the end of a turn brings along the model calls that were not recorded, each once", async (scene) => {
		const turn = await scene.turn("hello");
		await scene.store.recordModelCall({ ...heldBy(turn), ...CALL, n: 1 });
		const calls = [1, 2].map((n) => ({ ...CALL, n }));
		for (let n = 0; n < 2; n++) await scene.end(turn, { calls });
		expect(await scene.session(turn.session)).toMatchObject({ inputTokens: 14, outputTokens: 6 });
	});

	tell(
		"about one call a human is asked once, and an approval is used by one holder of the turn",
		async (scene) => {
			const { store } = scene;
			const turn = await scene.turn("do harm");
			const ask = (id: string) =>
				store.askForCall({
					...heldBy(turn),
					request: callQuestion(id, turn),
					waiting: { role: "tool", toolCallId: "c1", content: `waiting for ${id}`, index: 1 },
				});
			expect(await ask("aaaaaaaaaaaa")).toMatchObject({ kind: "waiting", messages: 2 });
			expect(await ask("bbbbbbbbbbbb")).toMatchObject({
				kind: "waiting",
				confirmation: { id: "aaaaaaaaaaaa" },
				rows: [{ content: "waiting for aaaaaaaaaaaa" }],
				messages: 2,
			});
			const id = "aaaaaaaaaaaa";
			await store.resolveConfirmation({ id, decision: "approved", by: "ada", via: "cli", useWithinMs: HOUR });
			const use = (more: { readonly again?: true } = {}) =>
				store.useConfirmation({ ...heldBy(turn), id, ...more });
			expect((await use()).kind).toBe("run");
			expect((await use()).kind).toBe("used");
			expect((await use({ again: true })).kind).toBe("run");
			const resumed = await resume(scene, turn);
			const later = { turn: turn.turn, token: resumed.kind === "resumed" ? resumed.token : 0 };
			expect((await store.useConfirmation({ ...later, id, again: true })).kind).toBe("used");
		},
	);

	tell("a process is begun once, also where it is asked for again", async (scene) => {
		const turn = await scene.turn("hello");
		for (let n = 0; n < 2; n++)
			expect(await scene.store.beginProcess(begin("proc_aaaa", turn))).toMatchObject({ kind: "begun" });
		expect(await scene.store.beginProcess(begin("proc_bbbb", turn))).toMatchObject({ kind: "limit" });
		expect(await scene.store.unfinishedProcesses({ scope: OPERATOR })).toHaveLength(1);
	});

	tell(
		"a turn that runs and that nobody runs is taken up under the next token, if it is asked for",
		async (scene) => {
			const turn = await scene.turn("hello");
			expect(await scene.store.runningTurns({ scope: OPERATOR, node: scene.store.epoch })).toEqual([
				{ id: turn.turn, conversation: turn.conversation },
			]);
			expect(await resume(scene, turn, false)).toEqual({ kind: "gone" });
			const resumed = await resume(scene, turn);
			expect(resumed).toMatchObject({
				kind: "resumed",
				turn: turn.turn,
				reason: "a fault of the store",
				attempts: 2,
				nextIndex: 1,
				interruptedAt: scene.clock.now(),
			});
			await expect(scene.end(turn)).rejects.toMatchObject({ code: "turn.stale" });
			await scene.end({ turn: turn.turn, token: resumed.kind === "resumed" ? resumed.token : 0 });
			expect(await resume(scene, turn)).toEqual({ kind: "gone" });
			expect(await scene.store.runningTurns({ scope: OPERATOR, node: scene.store.epoch })).toEqual([]);
		},
	);
}

function begin(id: string, { turn, conversation, destination }: Begun): BeginProcessArgs {
	return {
		...{ id, turn, conversation, destination },
		principal: null,
		role: null,
		backend: "here",
		command: "sleep 1",
		cwd: "/",
		background: true,
		pty: false,
		notify: "result",
		limits: { inAll: 1, perConversation: 1 },
	};
}

function heldBy({ turn, token }: Begun): { readonly turn: string; readonly token: number } {
	return { turn, token };
}

function resume(scene: Scene, { turn }: Begun, evenRunning = true) {
	return scene.store.resumeTurn({
		turn,
		autoContinueFreshness: 3600,
		deadlineAt: scene.clock.now() + HOUR,
		policy: QUIET,
		evenRunning,
	});
}
