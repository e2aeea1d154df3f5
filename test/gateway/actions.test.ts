// What the API, the page and the CLI call in place of commands: the same effects on store and memory, with a gateway that runs and
// with one that was only created.
import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "../../src/agents/index.ts";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import { type Actions, createGateway } from "../../src/gateway/index.ts";
import { NO_SECRETS, type Store } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, MINUTE, OPERATOR, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
let asleep: Store | null = null;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(async () => {
	await asleep?.close();
	asleep = null;
	await scene.end();
});

const slow = {
	rules: [{ when: "slow", steps: [{ text: "half of it", delay_ms: MINUTE }], repeat: true }],
	otherwise: [{ text: "you said {{input}}" }],
};

/** Acts, and everything that follows without time passing has happened. */
async function act<Result>(action: Promise<Result>): Promise<Result> {
	const settled = action.then(
		(value) => ({ value }),
		(error: unknown) => ({ error }),
	);
	await scene.clock.advance(0);
	const outcome = await settled;
	if ("error" in outcome) throw outcome.error;
	return outcome.value;
}

const visible = async (id: string) =>
	(await scene.rows(id)).filter(({ hidden }) => !hidden).map(({ content }) => content);

async function refusal(action: Promise<unknown>): Promise<string> {
	try {
		await act(action);
	} catch (error) {
		if (error instanceof KeryxError) return error.code;
		throw error;
	}
	return "nothing";
}

/** The gateway of a store that nobody serves, as the CLI has it. */
async function sleeping(): Promise<Actions> {
	await scene.die();
	const engine = await openSqlite({ path: scene.path, startedAt: scene.clock.now(), access: "own" });
	asleep = storeOn(engine, { clock: scene.clock, ids: scene.ids, secrets: NO_SECRETS });
	scene.store = asleep;
	const agent: Agent = {
		kind: "step",
		name: "none",
		// biome-ignore lint/correctness/useYield: it is never to be asked
		async *step() {
			throw new Error("nobody runs turns here");
		},
	};
	return createGateway({
		store: asleep,
		agent,
		tools: createTools([]),
		channels: [],
		config: configOf(scene.options.config),
		clock: scene.clock,
		pseudonymKey: new Uint8Array(32),
	}).actions;
}

describe("with a gateway that runs", () => {
	test("each change of the transcript ends the running turn, in the store and in memory, and what waits goes on", async () => {
		const changes: Record<
			string,
			(conversation: ConversationId, target: SessionId) => Promise<{ stopped: string | null }>
		> = {
			newSession: (conversation) => scene.gateway.actions.newSession({ conversation, title: "fresh" }),
			continueSession: (conversation) => scene.gateway.actions.continueSession({ conversation }),
			switchSession: (conversation, target) => scene.gateway.actions.switchSession({ conversation, target }),
			branchSession: (conversation) => scene.gateway.actions.branchSession({ conversation }),
			undo: (conversation) => scene.gateway.actions.undo({ conversation, turns: 1 }),
			stop: (conversation) => scene.gateway.actions.stop({ conversation }),
		};
		for (const [name, change] of Object.entries(changes)) {
			await start({ script: slow });
			const first = await scene.say("first");
			const [earlier] = await scene.sessions(first);
			await scene.say("/new");
			await scene.say("second");
			const running = await scene.say("slow");
			const waiting = await scene.say("next");
			const conversation = await scene.conversation(first);
			const { stopped } = await act(change(conversation, earlier?.id as SessionId));
			expect(stopped, name).toBe((await scene.item(running)).turn);
			const answered = scene.texts().at(-1);
			expect(answered, name).toBe("you said next");
			await scene.clock.advance(5 * MINUTE);
			expect([await scene.disposition(running), await scene.disposition(waiting)], name).toEqual([
				"stopped",
				"answered",
			]);
			expect(scene.texts().at(-1), name).toBe("you said next");
			expect(scene.log, name).toEqual([]);
			await scene.end();
		}
		await start();
	});

	test("an action and the command leave the same behind", async () => {
		const stories: string[] = [];
		for (const by of ["action", "command"] as const) {
			await start({ config: { session_reset: { mode: "none", max_messages: 20 } } });
			const id = await scene.say("one");
			const conversation = await scene.conversation(id);
			const { actions } = scene.gateway;
			const [first] = await scene.sessions(id);
			const steps: [string, () => Promise<unknown>][] = [
				["/extend 5", () => actions.extendSession({ conversation, by: 5 })],
				["/retry", () => actions.retry({ conversation, by: null })],
				["/undo 1", () => actions.undo({ conversation, turns: 1 })],
				["/redo", () => actions.redo({ conversation })],
				["/branch side", () => actions.branchSession({ conversation, title: "side" })],
				["/new fresh", () => actions.newSession({ conversation, title: "fresh" })],
				["/continue", () => actions.continueSession({ conversation })],
				[
					`/resume ${first?.id}`,
					() => actions.switchSession({ conversation, target: first?.id as SessionId }),
				],
				["/title named", () => actions.setTitle({ session: first?.id as SessionId, title: "named" })],
				[
					"/model p:m",
					() => actions.setModelOverride({ conversation, override: { provider: "p", model: "m" } }),
				],
				["/busy steer", () => actions.setBusyMode({ conversation, busy: "steer" })],
				["/stop", () => actions.stop({ conversation })],
			];
			for (const [command, action] of steps)
				if (by === "command") await scene.say(command);
				else await act(action());
			const events = await scene.store.events({ scope: OPERATOR, conversation, after: "", limit: 1000 });
			const told = events.kind === "events" ? events.events : [];
			const { modelOverride, busy, messageCount } = await scene.store.conversation({
				scope: OPERATOR,
				ref: { id: conversation },
			});
			stories.push(
				JSON.stringify({
					events: told.map(({ type }) => type).filter((type) => !/^(inbound|delivery)\./.test(type)),
					sessions: (await scene.sessions(id)).map(({ title, cap, messages, endReason, base }) => [
						title,
						cap,
						messages,
						endReason,
						base?.kind,
					]),
					rows: await visible(id),
					conversation: { modelOverride, busy, messageCount },
				}),
			);
			await scene.end();
		}
		expect(stories[0]).toBe(stories[1]);
		expect(stories[0]).toContain("transcript.retried");
		await start();
	});

	test("retry runs the turn, and its answer is delivered", async () => {
		await start();
		const id = await scene.say("one");
		const conversation = await scene.conversation(id);
		const retried = await act(scene.gateway.actions.retry({ conversation, by: null }));
		expect(retried).toMatchObject({ hidden: 1, stopped: null });
		const turn = await scene.store.turn({ scope: OPERATOR, id: retried.turn as string });
		expect(turn).toMatchObject({ state: "completed", deliveries: [{ state: "sent" }] });
		expect(scene.texts()).toEqual(["you said one", "you said one"]);
		await scene.say("/undo");
		expect(await act(scene.gateway.actions.retry({ conversation, by: null }))).toEqual({
			turn: null,
			hidden: 0,
			stopped: null,
		});
	});

	test("stop with all drops what waits, and answers how much", async () => {
		await start({ script: slow });
		const running = await scene.say("slow");
		const waiting = await scene.say("one");
		const conversation = await scene.conversation(running);
		expect(await act(scene.gateway.actions.stop({ conversation, all: true }))).toEqual({
			stopped: (await scene.item(running)).turn,
			dropped: 1,
			killed: 0,
		});
		await scene.clock.advance(5 * MINUTE);
		expect(await scene.disposition(waiting)).toBe("dropped_by_user");
		expect(scene.texts()).toEqual([]);
		expect(await act(scene.gateway.actions.stop({ conversation }))).toEqual({
			stopped: null,
			dropped: 0,
			killed: 0,
		});
	});

	test("a refused action changes nothing, leaves the running turn alone, and keeps nothing from going on", async () => {
		await start({ script: slow });
		const other = await scene.say("mine", { chat: "bob" });
		const [theirs] = await scene.sessions(other);
		const id = await scene.say("slow");
		const conversation = await scene.conversation(id);
		const { actions } = scene.gateway;
		const unknown = "00000000000000000000000000000000" as ConversationId;
		for (const target of [theirs?.id, "20200101_000000_00000000"] as SessionId[])
			expect(await refusal(actions.switchSession({ conversation, target }))).toBe("store.not_found");
		expect(await refusal(actions.newSession({ conversation, title: "\u200b" }))).toBe("argument.invalid");
		expect(await refusal(actions.extendSession({ conversation, by: 0 }))).toBe("argument.invalid");
		expect(await refusal(actions.undo({ conversation: unknown, turns: 1 }))).toBe("store.not_found");
		expect(await refusal(actions.stop({ conversation: unknown, all: true }))).toBe("store.not_found");
		const next = await scene.say("next");
		await scene.clock.advance(5 * MINUTE);
		expect([await scene.disposition(id), await scene.disposition(next)]).toEqual(["answered", "answered"]);
	});
});

describe("with a gateway that was only created", () => {
	test("everything but retry works, and the next start knows of it", async () => {
		await start({ durable: true, script: slow });
		const id = await scene.say("one");
		await scene.say("two");
		const conversation = await scene.conversation(id);
		const [first] = await scene.sessions(id);
		const actions = await sleeping();
		expect(await refusal(actions.retry({ conversation, by: null }))).toBe("gateway.stopped");
		expect(await actions.undo({ conversation, turns: 1 })).toMatchObject({ rows: 2, text: "two" });
		expect(await actions.redo({ conversation })).toMatchObject({ rows: 2 });
		expect(await actions.newSession({ conversation, title: "fresh" })).toMatchObject({ ended: first?.id });
		expect(await actions.continueSession({ conversation })).toMatchObject({ continued: first?.id });
		expect(await actions.branchSession({ conversation })).toMatchObject({ stopped: null });
		expect(await actions.switchSession({ conversation, target: first?.id as SessionId })).toMatchObject({
			session: first?.id,
		});
		expect(await actions.setTitle({ session: first?.id as SessionId, title: "fresh" })).toEqual({
			title: "fresh #2",
			before: null,
		});
		expect(await actions.extendSession({ conversation, by: 5 })).toMatchObject({ cap: 0, messages: 4 });
		expect(await actions.setModelOverride({ conversation, override: { model: "m" } })).toEqual({
			override: { model: "m" },
			before: null,
		});
		expect(await actions.setBusyMode({ conversation, busy: "steer" })).toEqual({ before: null });
		expect(await actions.stop({ conversation })).toEqual({ stopped: null, dropped: 0, killed: 0 });
		await asleep?.close();
		asleep = null;
		await scene.open(scene.clock.now());
		await scene.say("three");
		expect(await visible(id)).toEqual([
			"one",
			"you said one",
			"two",
			"you said two",
			"three",
			"you said three",
		]);
	});

	test("stop ends a turn that waits to be resumed, and with all what waits behind it; commands are left to be answered", async () => {
		await start({ durable: true, script: slow });
		const running = await scene.say("slow");
		const waiting = await scene.say("one");
		const conversation = await scene.conversation(running);
		Object.assign(scene.store, { performCommand: () => new Promise(() => {}) });
		const command = await scene.say("/status");
		const actions = await sleeping();
		const { stopped, dropped } = await actions.stop({ conversation, all: true });
		expect([stopped, dropped]).toEqual([(await scene.item(running)).turn, 1]);
		await asleep?.close();
		asleep = null;
		await scene.open(scene.clock.now());
		await scene.clock.advance(5 * MINUTE);
		const ends = await Promise.all([running, waiting, command].map((id) => scene.disposition(id)));
		expect(ends).toEqual(["stopped", "dropped_by_user", "command"]);
		expect(scene.texts()).toEqual([expect.stringContaining("Keryx is idle.")]);
	});
});
