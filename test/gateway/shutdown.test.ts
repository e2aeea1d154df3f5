// A planned end: what runs may finish, who is cut off is told, and the next start goes on.
import { afterEach, expect, test } from "vitest";
import { MINUTE, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({
		durable: true,
		...options,
		config: { shutdown: { drain_seconds: 30 }, ...options.config },
	});
	return scene;
};
afterEach(() => scene.end());

const slow = {
	rules: [{ when: "quick", steps: [{ delay_ms: 10 * SECOND, text: "done with {{input}}" }] }],
	otherwise: [{ delay_ms: 2 * MINUTE, text: "done with {{input}}" }],
};
const TOLD =
	"Keryx has to stop before it can answer. Your message is saved; Keryx continues with it when it is back within 60 min.";

async function stop(ms: number): Promise<void> {
	const stopped = scene.gateway.stop();
	await scene.clock.advance(ms);
	await stopped;
}

test("who is cut off when the drain ends is told once, and is answered after the restart", async () => {
	await start({ script: slow });
	const id = await scene.say("slow");
	await stop(30 * SECOND);
	expect(scene.texts()).toEqual([TOLD]);
	await scene.crash(SECOND);
	await scene.clock.advance(3 * MINUTE);
	expect(scene.texts()).toEqual([TOLD, "done with slow"]);
	expect(await scene.disposition(id)).toBe("answered");
});

test("a turn that ends in time is not told of anything", async () => {
	await start({ script: slow });
	await scene.say("quick one");
	await scene.say("slow", { chat: "bob" });
	await stop(30 * SECOND);
	expect(scene.texts()).toEqual(["done with quick one"]);
	expect(scene.texts("bob")).toEqual([TOLD]);
});

test("a message that still waits is not told of anything: it is answered when Keryx is back", async () => {
	await start({ script: slow, config: { gateway: { max_turns: 1 } } });
	await scene.say("slow");
	const waiting = await scene.say("quick one", { chat: "bob" });
	await stop(30 * SECOND);
	expect(scene.texts("bob")).toEqual([]);
	await scene.crash(SECOND);
	await scene.clock.advance(5 * MINUTE);
	expect(await scene.disposition(waiting)).toBe("answered");
});

test("cut off again and again, its user is told once", async () => {
	await start({ script: slow });
	await scene.say("slow");
	for (let n = 0; n < 4; n++) {
		await stop(30 * SECOND);
		await scene.crash(SECOND);
	}
	expect(scene.texts()).toEqual([TOLD]);
	await scene.clock.advance(3 * MINUTE);
	expect(scene.texts()).toEqual([TOLD, "done with slow"]);
});

test("nobody is told where shutdown.notify is off, or on a platform that is not told of boundaries either", async () => {
	for (const config of [
		{ shutdown: { drain_seconds: 30, notify: false } },
		{ session_reset: { notify_exclude_platforms: ["telegram"] } },
	]) {
		await start({ script: slow, config });
		const id = await scene.say("slow");
		await stop(30 * SECOND);
		expect(scene.texts()).toEqual([]);
		await scene.crash(SECOND);
		await scene.clock.advance(3 * MINUTE);
		expect(scene.texts()).toEqual(["done with slow"]);
		expect(await scene.disposition(id)).toBe("answered");
		await scene.end();
	}
	await start();
});

test("where an interrupted turn is always taken up again, no time is named", async () => {
	await start({ script: slow, config: { auto_continue_freshness: 0 } });
	await scene.say("slow");
	await stop(30 * SECOND);
	expect(scene.texts()[0]).toMatch(/Keryx continues with it when it is back\.$/);
});

test("a platform that has not answered a preview does not hold up the end", async () => {
	await start({
		script: { otherwise: [{ chunks: ["one ", "two"], chunk_delay_ms: 10 * MINUTE }] },
		config: { display: { streaming: true } },
	});
	scene.world.behave = ({ n }) => (n === 1 ? { delayMs: 10 * MINUTE } : "ok");
	await scene.say("go");
	await stop(31 * SECOND);
	expect(scene.texts()).toEqual([TOLD]);
});
