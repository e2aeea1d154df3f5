// How channels are: judged by their silence, written as events, and told to the operator once.
import { afterEach, expect, test } from "vitest";
import type { Channel, ChannelHealth } from "../../src/gateway/index.ts";
import { TRAITS } from "./full-channel.ts";
import { OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

/** The channel says of itself what the test wants; left out: that it is alive. */
let says: Partial<ChannelHealth> = {};

async function start(options: SceneOptions = {}): Promise<void> {
	says = {};
	scene = await Scene.start({
		config: { home_channels: { telegram: { chat_id: "ada", name: "Home" } } },
		durable: true,
		wrap: (channel, clock): Channel => ({
			...channel,
			traits: TRAITS,
			health: () => ({ state: "connected", aliveAt: clock.now(), provenBy: "poll answered", ...says }),
		}),
		...options,
	});
}

async function changes(): Promise<unknown[]> {
	const read = await scene.store.events({ scope: OPERATOR, after: "", limit: 1000 });
	if (read.kind !== "events") throw new Error("the events were pruned");
	return read.events
		.filter((event) => event.type === "channel.changed")
		.map(({ type, subject, facts }) => [type, subject, facts.before, facts.state]);
}

test("a channel that says it is connected and is silent past its time is down: in health, as an event, told when it is back", async () => {
	await start();
	const aliveAt = scene.clock.now();
	says = { aliveAt };
	await scene.clock.advance(60 * SECOND);
	expect(scene.gateway.health()).toMatchObject([{ name: "telegram", state: "connected" }]);
	expect(await changes()).toEqual([]);
	await scene.clock.advance(10 * SECOND);
	expect(scene.gateway.health()).toMatchObject([
		{ state: "down", aliveAt, provenBy: "poll answered", detail: "no sign of life for 70 seconds" },
	]);
	expect(await changes()).toEqual([["channel.changed", "telegram", "connected", "down"]]);
	// Its own chat is the only home: that it is down is not told there when it is over.
	expect(scene.texts()).toEqual([]);
	says = {};
	await scene.clock.advance(10 * SECOND);
	expect(await changes()).toHaveLength(2);
	expect(scene.texts()).toEqual(["The channel <code>telegram</code> is back."]);
});

test("that it is down is told once, on another channel, and that it is back once, also across a restart", async () => {
	const local = (clock: { now(): number }): Channel => ({
		name: "local",
		platform: "local",
		account: "",
		start: () => Promise.resolve(),
		stop: () => Promise.resolve(),
		send: ({ id, body }) => {
			told.push(body.plain);
			return Promise.resolve({ kind: "sent", receipt: id });
		},
		health: () => ({ state: "connected", aliveAt: clock.now() }),
	});
	const told: string[] = [];
	await start({
		config: { home_channels: { local: { chat_id: "cli", name: "Home" } } },
		channels: (clock) => [local(clock)],
	});
	says = { state: "needs_attention", detail: "make a new token" };
	await scene.clock.advance(30 * SECOND);
	await scene.crash(SECOND);
	await scene.clock.advance(30 * SECOND);
	says = { state: "degraded" };
	await scene.clock.advance(10 * SECOND);
	expect(told).toEqual([
		"The channel telegram needs your attention: make a new token. Messages to it are waiting.",
	]);
	says = {};
	await scene.clock.advance(30 * SECOND);
	expect(told.slice(1)).toEqual(["The channel telegram is back."]);
});
