// What is written while its answer is lost: nobody is told of it, and it is taken up all the same, once.
import { afterEach, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import { type FaultPoint, faultingEngine } from "../../src/testing/index.ts";
import { ScriptedPlace } from "./net/place.ts";
import { MINUTE, OPERATOR, puppet, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

/** A scene in which one operation of this name is made, and its answer lost. */
async function start(
	name: string,
	options: SceneOptions = {},
	point: Partial<FaultPoint> = {},
	of = (one: string) => one === name,
): Promise<void> {
	scene = await Scene.start({
		...options,
		engine: (engine, clock) => faultingEngine(engine, { clock, at: 1, fault: "after", ...point, of }),
	});
}

const waiting = () => scene.store.waitingItems({ scope: OPERATOR, after: 0, limit: 10 });
async function onlyConversation(): Promise<ConversationId> {
	const [conversation] = await scene.store.conversations({ scope: OPERATOR, limit: 1 });
	return conversation?.id as ConversationId;
}

test("I4: a message whose acceptance was not heard of is delivered again, accepted once and answered once", async () => {
	await start("accept");
	const id = await scene.say("hello");
	expect(scene.world.acknowledged).toBe(0);
	await scene.clock.advance(5 * SECOND);
	expect(scene.world.acknowledged).toBe(1);
	expect(await scene.disposition(id)).toBe("answered");
	expect(scene.texts()).toEqual(["you said hello"]);
});

test("a message from a way in of our own is answered, though who sent it was told that it failed", async () => {
	await start("accept");
	const source = { platform: "telegram", chat_id: "ada", chat_type: "dm", user_id: "ada" };
	const sent = scene.gateway.accept({ source, platformMessage: "1", content: "hello" });
	await expect(sent).rejects.toMatchObject({ code: "store.io" });
	await scene.clock.advance(5 * SECOND);
	expect(scene.texts()).toEqual(["you said hello"]);
});

test("a message that interrupts does so though its acceptance was not heard of", async () => {
	await start(
		"accept",
		{
			config: { gateway: { busy: "interrupt" } },
			script: {
				rules: [{ when: "one", steps: [{ hang: true }] }],
				otherwise: [{ text: "you said {{input}}" }],
			},
		},
		{ at: 2 },
	);
	const first = await scene.say("one");
	await scene.say("two");
	await scene.clock.advance(5 * SECOND);
	expect(await scene.disposition(first)).toBe("stopped");
	expect(scene.texts()).toEqual(["you said two"]);
});

test("a command whose acceptance was not heard of is carried out once", async () => {
	await start("accept");
	const id = await scene.say("/new garden");
	await scene.clock.advance(5 * SECOND);
	expect((await scene.item(id)).disposition).toEqual({ kind: "command", name: "new" });
	expect(scene.texts()).toEqual(["Started a new session."]);
});

test("a command whose effect was not heard of is answered with what it did", async () => {
	await start("performCommand");
	const id = await scene.say("/new garden");
	await scene.clock.advance(5 * SECOND);
	expect(scene.texts()).toEqual(["Started a new session."]);
	expect(await scene.sessions(id)).toHaveLength(1);
});

test("a turn that the API began and was not heard of runs", async () => {
	await start("retry");
	await scene.say("hello");
	const conversation = await onlyConversation();
	await expect(scene.gateway.actions.retry({ conversation, by: null })).rejects.toMatchObject({
		code: "store.io",
	});
	await scene.clock.advance(5 * SECOND);
	expect(await scene.store.runningTurns({ scope: OPERATOR, node: scene.store.epoch })).toEqual([]);
	expect(scene.texts()).toEqual(["you said hello", "you said hello"]);
});

test("the end of a program that was not heard of is told to its conversation", async () => {
	await start("endProcess", {
		agent: () => puppet(),
		programs: { path: "/tmp", place: new ScriptedPlace() },
	});
	await scene.say('call terminal {"command":"sleep 5","background":true}');
	await scene.clock.advance(10 * SECOND);
	expect(await waiting()).toEqual([]);
	expect(JSON.stringify(scene.shown.at(-1)?.history)).toContain("The background process");
	expect(scene.texts()).toEqual(["done", "done"]);
});

for (const name of ["beginProcess", "process"])
	test(`a call of the terminal that meets a fault (${name}) has its result a little later, and starts one program`, async () => {
		const place = new ScriptedPlace();
		await start(name, { agent: () => puppet(), programs: { path: "/tmp", place } });
		const id = await scene.say('call terminal {"command":"sleep 5","background":true}');
		await scene.clock.advance(20 * SECOND);
		expect(place.starts).toHaveLength(1);
		expect(await scene.store.processes({ scope: OPERATOR, limit: 9 })).toMatchObject([{ status: "exited" }]);
		const [result] = (await scene.rows(id)).filter(({ role }) => role === "tool");
		expect(result).toMatchObject({ content: expect.stringContaining("process_id") });
	});

test("a confirmation that expired and was not heard of is told to its turn", async () => {
	await start(
		"expireConfirmations",
		{ agent: () => puppet(), config: { confirmations: { default_timeout: 60 } } },
		{ at: 2 },
	);
	await scene.say('call danger {"what":"harm"}');
	await scene.clock.advance(2 * MINUTE);
	expect(await waiting()).toEqual([]);
	expect(scene.texts()).toHaveLength(2);
	expect(scene.dangers).toEqual([]);
});

test("a human is asked once about a call, though the question was not heard of, and its approval is used once", async () => {
	await start("askForCall", { agent: () => puppet() });
	await scene.say('call danger {"what":"harm"}');
	await scene.clock.advance(5 * SECOND);
	const conversation = await onlyConversation();
	const now = scene.clock.now();
	expect(await scene.store.openConfirmations({ scope: OPERATOR, conversation, now })).toHaveLength(1);
	await scene.say("/approve");
	expect(scene.dangers).toEqual(["harm"]);
});

test("I14: an approval whose use was not heard of is used once, and its call runs", async () => {
	await start("useConfirmation", { agent: () => puppet() });
	await scene.say('call danger {"what":"harm"}');
	await scene.say("/approve");
	expect(scene.dangers).toEqual([]);
	await scene.clock.advance(5 * SECOND);
	expect(scene.dangers).toEqual(["harm"]);
});

test("I7: what was claimed and not heard of is sent, once", async () => {
	await start("claimDeliveries", {}, { at: 3, times: 3 });
	await scene.say("hello");
	await scene.clock.advance(10 * SECOND);
	expect(scene.texts()).toEqual(["you said hello"]);
	expect(await scene.store.deliveries({ scope: OPERATOR, which: "waiting", limit: 9 })).toEqual([]);
});

test("the end of a turn that was not heard of is sent, and stays as it was written", async () => {
	await start("endTurn");
	const id = await scene.say("hello");
	await scene.clock.advance(5 * SECOND);
	expect(scene.texts()).toEqual(["you said hello"]);
	expect((await scene.rows(id)).map(({ content }) => content)).toEqual(["hello", "you said hello"]);
});

test("a message that joined and was not heard of is read by the model in that turn", async () => {
	await start("joinTurn", {
		config: { gateway: { busy: "steer" } },
		script: {
			otherwise: [{ tools: [{ name: "slow", input: { ms: 3000 } }] }, { text: "answer to {{input}}" }],
		},
	});
	await scene.say("one");
	const joined = await scene.say("two");
	await scene.clock.advance(MINUTE);
	expect(await scene.disposition(joined)).toBe("merged");
	expect(scene.shown.some(({ history }) => history.some(({ content }) => content === "two"))).toBe(true);
});

test("without a fault nothing of this is read", async () => {
	const names: string[] = [];
	await start("accept", {}, { at: 0, onOperation: (_, name) => names.push(name) }, () => true);
	await scene.say("hello");
	await scene.clock.advance(MINUTE);
	expect(names).not.toContain("runningTurns");
	// At the start.
	expect(names.filter((name) => name === "waitingItems")).toHaveLength(1);
});

test("a full disk, from which can still be read, is asked with pauses", async () => {
	let isFull = false;
	let asked = 0;
	scene = await Scene.start({
		engine: (engine) => ({
			...engine,
			write: (name, args, drawn) => {
				// What is asked in a loop without a pause is not answered any more: the test fails, and ends.
				if (isFull && ++asked > 1000) return new Promise(() => {});
				if (isFull) return Promise.reject(new KeryxError("store.full", "the disk is full"));
				return engine.write(name, args, drawn);
			},
		}),
	});
	isFull = true;
	await scene.say("hello");
	await scene.clock.advance(MINUTE);
	expect(asked).toBeLessThan(200);
	isFull = false;
	await scene.clock.advance(MINUTE);
	expect(scene.texts()).toEqual(["you said hello"]);
});

test("a program that is waited for and whose end was not heard of ends its call", async () => {
	await start("endProcess", {
		agent: () => puppet(),
		programs: { path: "/tmp", place: new ScriptedPlace() },
	});
	await scene.say('call terminal {"command":"sleep 5"}');
	await scene.clock.advance(10 * SECOND);
	expect(scene.texts()).toEqual(["done"]);
});

for (const fault of ["before", "after"] as const)
	test(`a program whose start could not be written (${fault} its commit) runs on in the record, too`, async () => {
		const place = new ScriptedPlace();
		await start("processStarted", { agent: () => puppet(), programs: { path: "/tmp", place } }, { fault });
		await scene.say('call terminal {"command":"sleep 5","background":true}');
		await scene.clock.advance(3 * SECOND);
		expect(place.starts).toHaveLength(1);
		const ofAll = () => scene.store.processes({ scope: OPERATOR, limit: 9 });
		expect(await ofAll()).toMatchObject([{ status: "running" }]);
		await scene.clock.advance(10 * SECOND);
		expect(await ofAll()).toMatchObject([{ status: "exited", exitCode: 0 }]);
	});
