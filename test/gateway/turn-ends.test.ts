// Every turn comes to a written end, whatever the store does meanwhile: what cannot be written now is written a little later, and what
// nobody knows to run is taken up again. Nothing is asked in a loop without a pause.
import { afterEach, describe, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import type { Engine } from "../../src/store/index.ts";
import { type FaultingEngine, type FaultPoint, faultingEngine } from "../../src/testing/index.ts";
import { MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
let engine: FaultingEngine;
afterEach(async () => {
	await scene.end();
	// Not even reached: nobody asked without a pause.
	expect(engine.operations).toBeLessThan(MOST);
});

/** Far more than any of these needs, and soon reached by a loop. */
const MOST = 600;

/** A scene whose store has a fault at operations of one name. */
async function start(
	name: string,
	point: Partial<FaultPoint>,
	{
		refuses = () => false,
		...options
	}: SceneOptions & { refuses?: (name: string, args: unknown) => boolean } = {},
): Promise<Scene> {
	scene = await Scene.start({
		...options,
		engine: (under, clock) => {
			const of = (one: string) => one === name;
			const refusing: Engine = {
				...under,
				write: (one, args, drawn) =>
					refuses(one, args)
						? Promise.reject(new KeryxError("store.conflict", "as the test says"))
						: under.write(one, args, drawn),
			};
			engine = faultingEngine(refusing, { clock, at: 1, fault: "before", most: MOST, ...point, of });
			return engine;
		},
	});
	return scene;
}

/** Looked at beside what makes the store misbehave. */
async function endOf(id: string) {
	const item = await scene.beside.inboxItem({ scope: OPERATOR, id: scene.inbox(id) });
	const conversation = item.conversation as ConversationId;
	const open = await scene.beside.openTurnOf({ scope: OPERATOR, conversation });
	return { disposition: item.disposition, turn: open?.state ?? "none" };
}

async function expectAnswered(...ids: readonly string[]): Promise<void> {
	for (const id of ids)
		expect(await endOf(id)).toMatchObject({ disposition: { kind: "answered" }, turn: "none" });
}

describe("a turn that cannot be ended at once", () => {
	test("is ended when what its end needs can be read again, and the next message is answered", async () => {
		await start("processes", { times: 3 }, { config: { session_reset: { max_messages: 2 } } });
		const first = await scene.say("one");
		const second = await scene.say("two");
		await scene.clock.advance(10 * SECOND);
		await expectAnswered(first, second);
		expect(scene.texts().filter((text) => text.startsWith("you said"))).toEqual([
			"you said one",
			"you said two",
		]);
	});

	test("is ended when what became of its preview can be written again", async () => {
		await start(
			"recordPreview",
			{ times: 3 },
			{
				script: {
					rules: [{ when: "one", steps: [{ chunks: ["so ", "far"], chunk_delay_ms: MINUTE }] }],
					otherwise: [{ text: "you said {{input}}" }],
				},
				config: { display: { streaming: true }, gateway: { busy: "interrupt" } },
				platform: { behave: ({ n }) => (n === 1 ? { delayMs: 10 * MINUTE } : "ok") },
			},
		);
		const first = await scene.say("one");
		const second = await scene.say("two");
		await scene.clock.advance(30 * SECOND);
		expect(await endOf(first)).toMatchObject({ disposition: { kind: "stopped" } });
		await expectAnswered(second);
	});

	test("is ended in plain words where the store refuses its own end for good", async () => {
		await start(
			"endTurn",
			{ at: 0 },
			{
				refuses: (name, args) =>
					name === "endTurn" && (args as { outcome: { kind: string } }).outcome.kind === "completed",
			},
		);
		const first = await scene.say("one");
		await scene.clock.advance(SECOND);
		expect(await endOf(first)).toEqual({ disposition: { kind: "failed", reason: "internal" }, turn: "none" });
		expect(scene.texts()).toEqual([expect.stringContaining("Something went wrong inside Keryx")]);
	});
});

describe("a turn that has begun in the store, and nobody here knows", () => {
	for (const [name, point] of [
		["beginTurn", { fault: "after" }],
		["beginTurn", { fault: "before", times: 3 }],
		["conversation", { fault: "before", times: 3 }],
	] as const)
		test(`${name} fails ${point.fault} its commit: the message is answered once, and so is the next`, async () => {
			await start(name, point);
			const first = await scene.say("one");
			const second = await scene.say("two");
			await scene.clock.advance(30 * SECOND);
			await expectAnswered(first, second);
			expect(scene.texts()).toEqual(["you said one", "you said two"]);
		});
});
