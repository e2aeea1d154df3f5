// Configuration that changes while Keryx runs: in force for what begins from then on, told as an event.
import { afterEach, expect, test } from "vitest";
import { type ConfigInput, configOf, HOUR, MINUTE, OPERATOR, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const change = (config: ConfigInput) => scene.gateway.reconfigure(configOf(config));

async function told(): Promise<unknown[]> {
	const page = await scene.store.events({ scope: OPERATOR, after: "", limit: 1000 });
	if (page.kind !== "events") throw new Error("events are missing");
	return page.events
		.filter(({ type }) => type.startsWith("config."))
		.map(({ type, facts, conversation }) => ({ type, ...facts, conversation }));
}

test("who may speak, how long sessions last and how often is tried change at once, and the event names the keys only", async () => {
	await start();
	expect(await scene.disposition(await scene.say("hello", { chat: "dora" }))).toBe("refused");
	const answer = await change({
		auth: { telegram: { allow: [{ id: "dora", role: "owner" }] } },
		session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 },
		outbox: { max_attempts: 1 },
	});
	const keys = [
		"session_reset.mode",
		"session_reset.idle_minutes",
		"outbox.max_attempts",
		"auth.telegram.allow",
	];
	expect(answer).toEqual({ keys, restart: [] });
	expect(await told()).toEqual([{ type: "config.changed", keys, restart: [], conversation: null }]);
	const id = await scene.say("hello", { chat: "dora" });
	expect(await scene.disposition(await scene.say("hello"))).toBe("refused");
	await scene.clock.advance(2 * HOUR);
	await scene.say("again", { chat: "dora" });
	expect((await scene.sessions(id)).length).toBe(2);
});

test("a changed number of attempts holds for deliveries that are tried from then on", async () => {
	let attempts = 0;
	await start({
		config: { outbox: { max_attempts: 8 } },
		wrap: (channel) => ({
			...channel,
			send: () => {
				attempts++;
				return Promise.resolve({ kind: "retry", reason: "no route" });
			},
		}),
	});
	await change({ outbox: { max_attempts: 2 } });
	await scene.say("go");
	await scene.clock.advance(HOUR);
	expect(attempts).toBe(2);
});

test("a turn that runs ends by what it began with, the next one goes by the new values", async () => {
	await start({
		script: { otherwise: [{ tools: [{ name: "slow", input: { ms: 5 * MINUTE } }] }, { text: "done" }] },
		config: { turn: { tool_seconds: 600 } },
	});
	await scene.say("one");
	await change({ turn: { tool_seconds: 60 } });
	await scene.clock.advance(5 * MINUTE);
	const id = await scene.say("two");
	await scene.clock.advance(MINUTE);
	const results = (await scene.rows(id)).filter(({ role }) => role === "tool");
	expect(results.map(({ content }) => content)).toEqual([
		"slowly done",
		"slow took longer than allowed, so Keryx stopped waiting. It may or may not have been done.",
	]);
});

test("more turns run at once as soon as more are allowed", async () => {
	await start({
		script: { otherwise: [{ delay_ms: MINUTE, text: "done" }] },
		config: { gateway: { max_turns: 1 } },
	});
	await scene.say("one");
	await scene.say("two", { chat: "bob" });
	expect(scene.shown.length).toBe(1);
	await change({ gateway: { max_turns: 3 } });
	await scene.say("three", { chat: "carol" });
	expect(scene.shown.length).toBe(3);
});

test("what is read once keeps its value, and is told as waiting for a restart until it is as before", async () => {
	await start();
	const http = { port: 4712 };
	expect(await change({ http, agent: { max_steps: 3 } })).toEqual({
		keys: ["agent.max_steps", "http.port"],
		restart: ["http.port"],
	});
	expect(await change({ http, agent: { max_steps: 4 } })).toEqual({
		keys: ["agent.max_steps"],
		restart: ["http.port"],
	});
	expect(await change({ agent: { max_steps: 4 } })).toEqual({ keys: ["http.port"], restart: [] });
});

test("a configuration that is the same is not told", async () => {
	await start();
	expect(await change({})).toEqual({ keys: [], restart: [] });
	expect(await told()).toEqual([]);
});

test("a configuration that is wrong is told by its first problem's key and line", async () => {
	await start();
	await scene.gateway.refuseConfig({ key: "session_reset.mode", line: 3 });
	await scene.gateway.refuseConfig({});
	expect(await told()).toEqual([
		{ type: "config.refused", key: "session_reset.mode", line: 3, conversation: null },
		{ type: "config.refused", key: null, line: null, conversation: null },
	]);
});
