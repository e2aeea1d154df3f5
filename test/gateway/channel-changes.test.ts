// Channels that come and go while Keryx runs: what was on its way is known, what waited leaves, and two never read one account.
import { afterEach, expect, test } from "vitest";
import type { SendResult } from "../../src/gateway/index.ts";
import { OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const SLOW: SceneOptions = { script: { otherwise: [{ text: "you said {{input}}", delay_ms: 2 * SECOND }] } };

test("what waited while its channel was away leaves when it is back, however long that took", async () => {
	scene = await Scene.start(SLOW);
	await scene.say("hello");
	await scene.gateway.disconnect("telegram");
	await scene.clock.advance(50 * SECOND);
	expect(scene.texts()).toEqual([]);
	await scene.gateway.connect(scene.channel);
	await scene.clock.advance(SECOND);
	expect(scene.texts()).toEqual(["you said hello"]);
});

test("I7: a channel is stopped when what it was asked to send has ended, and asked for nothing new meanwhile", async () => {
	const answers: ((result: SendResult) => void)[] = [];
	let isStopped = false;
	scene = await Scene.start({
		wrap: (channel) => ({
			...channel,
			send: () => new Promise((resolve) => answers.push(resolve)),
			stop: () => {
				isStopped = true;
				return channel.stop();
			},
		}),
	});
	const id = await scene.say("one");
	expect(answers).toHaveLength(1);
	const gone = scene.gateway.disconnect("telegram");
	await scene.clock.advance(10 * SECOND);
	expect([isStopped, answers.length]).toEqual([false, 1]);
	answers[0]?.({ kind: "sent", receipt: "r1" });
	await gone;
	await scene.clock.advance(0);
	expect(isStopped).toBe(true);
	const { turn } = await scene.item(id);
	expect(await scene.store.delivery({ scope: OPERATOR, id: `${turn}:1` })).toMatchObject({ state: "sent" });
});

test("a second channel of the same account is refused, and the first goes on", async () => {
	scene = await Scene.start();
	await expect(scene.gateway.connect({ ...scene.channel, name: "other" })).rejects.toThrow(
		/other and telegram use the same telegram account/,
	);
	await scene.say("hello");
	expect(scene.texts()).toEqual(["you said hello"]);
});
