import { describe, expect, test } from "vitest";
import { noBlobs, quietHost } from "../../test/support/quiet-host.ts";
import type { ChannelHost, Inbound, Outgoing } from "../gateway/index.ts";
import { type Behaviour, ScriptedPlatform } from "./platform.ts";
import { createScriptedChannel } from "./scripted-channel.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const to = { platform: "telegram", account: "", chatId: "1" };
const outgoing = (id: string, text = id): Outgoing => ({
	id,
	destination: to,
	body: { text, plain: text },
	plain: false,
	openBlob: noBlobs,
});

function host(taken: Inbound[] = []): ChannelHost {
	return quietHost({
		accept: (inbound) => {
			taken.push(inbound);
			return Promise.resolve({ id: taken.length, conversation: null, duplicate: false, refused: null });
		},
	});
}

async function connected(
	options: { behave?: () => Behaviour; idempotent?: boolean; maxLength?: number } = {},
) {
	const clock = createVirtualClock(0);
	const channel = createScriptedChannel({ platform: "telegram", clock, lookup: true, ...options });
	await channel.start(host());
	return { clock, channel, world: channel.world };
}

describe("a scripted platform", () => {
	test("takes its time where it is told to, and its users see the message only then", async () => {
		const { clock, channel, world } = await connected({ behave: () => ({ delayMs: 500 }) });
		const sent = channel.send(outgoing("d1"));
		await clock.advance(499);
		expect(world.visible()).toEqual([]);
		expect(await channel.lookup?.("d1", to)).toEqual({ kind: "unknown" });
		await clock.advance(1);
		expect(await sent).toMatchObject({ kind: "sent" });
		expect(world.visible()).toMatchObject([{ id: "d1", at: 500 }]);
	});

	test("does what reached it, though the connection is gone by then and the outcome unknown", async () => {
		const { clock, channel, world } = await connected({ behave: () => ({ delayMs: 500 }) });
		const sent = channel.send(outgoing("d1"));
		await clock.advance(100);
		channel.disconnect();
		expect(await sent).toMatchObject({ kind: "unknown" });
		await clock.advance(1000);
		expect(world.visible()).toMatchObject([{ id: "d1" }]);
		expect(await channel.lookup?.("d1", to)).toMatchObject({ kind: "sent" });
	});

	test("delays and then refuses, pauses or loses the answer", async () => {
		const { clock, channel, world } = await connected({
			behave: () => ({ delayMs: 10, andThen: { retryAfterMs: 30 } }),
		});
		const paused = channel.send(outgoing("d1"));
		await clock.advance(10);
		expect(await paused).toMatchObject({ kind: "retry", afterMs: 30 });
		expect(world.attempts).toMatchObject([{ n: 1, nth: 1, kind: "send", id: "d1", at: 0, outcome: "retry" }]);
	});

	test("shows a delivery that is sent twice twice, unless it knows deliveries by their id", async () => {
		for (const [idempotent, copies] of [
			[false, 2],
			[true, 1],
		] as const) {
			const { channel, world } = await connected({ idempotent });
			const first = await channel.send(outgoing("d1"));
			const second = await channel.send(outgoing("d1"));
			expect(world.visible("1")).toHaveLength(copies);
			expect(first.kind === "sent" && second.kind === "sent" && first.receipt === second.receipt).toBe(
				idempotent,
			);
			expect(world.attempts.map(({ nth }) => nth)).toEqual([1, 2]);
		}
	});

	test("refuses what is too long, to send and to edit", async () => {
		const { channel, world } = await connected({ maxLength: 4 });
		expect(await channel.send(outgoing("d1", "12345"))).toMatchObject({ kind: "refused" });
		const sent = await channel.send(outgoing("d2", "1234"));
		const receipt = sent.kind === "sent" ? sent.receipt : "";
		expect(await channel.edit?.(receipt, outgoing("d2", "12345"))).toMatchObject({ kind: "refused" });
		expect(world.visible()).toMatchObject([{ text: "1234", edits: 0 }]);
	});

	test("delivers what is said in one breath in the order it is given, again, or not at all", async () => {
		const clock = createVirtualClock(0);
		const channel = createScriptedChannel({ platform: "telegram", clock });
		const taken: Inbound[] = [];
		await channel.start(host(taken));
		const { world } = channel;
		const ids = ["a", "b", "c", "d"].map((text) => world.say({ chat: "1", text }));
		world.redeliver(ids[0] as string);
		world.reorder((waiting) => waiting.toReversed().filter(({ content }) => content !== "c"));
		await clock.advance(0);
		expect(taken.map(({ content }) => content)).toEqual(["a", "d", "b", "a"]);
		world.reorder(() => []);
		expect(world.acknowledged).toBe(4);
		expect(world.say({ chat: "1", text: "e" })).not.toBe(ids.at(-1));
	});

	test("outlives its channel: what was not acknowledged reaches the next one, what was does not", async () => {
		const clock = createVirtualClock(0);
		const world = new ScriptedPlatform({ platform: "telegram", account: "b" });
		world.say({ chat: "1", text: "one" });
		const first = createScriptedChannel({ on: world, clock });
		const taken: Inbound[] = [];
		await first.start({ ...host(), accept: () => new Promise(() => {}) });
		await clock.advance(0);
		const second = createScriptedChannel({ on: world, clock });
		await second.start(host(taken));
		await world.until(() => world.acknowledged === 1);
		world.say({ chat: "1", text: "two" });
		await world.until(() => world.acknowledged === 2);
		expect(taken.map(({ content }) => content)).toEqual(["one", "two"]);
		expect(second.account).toBe("b");
	});

	test("says who wrote where, as a source on the wire", async () => {
		const clock = createVirtualClock(0);
		const channel = createScriptedChannel({ platform: "discord", account: "b", clock });
		const taken: Inbound[] = [];
		await channel.start(host(taken));
		channel.world.say({
			chat: "g",
			chatType: "group",
			user: "u",
			thread: "t",
			source: { chat_name: "Team" },
			addressed: false,
		});
		await channel.world.until(() => channel.world.acknowledged === 1);
		expect(taken).toMatchObject([
			{
				source: {
					platform: "discord",
					account: "b",
					chat_id: "g",
					chat_type: "group",
					user_id: "u",
					thread_id: "t",
					chat_name: "Team",
				},
				addressed: false,
			},
		]);
	});

	test("hands in as many messages as its window allows, and acknowledges none past a commit that is missing", async () => {
		const clock = createVirtualClock(0);
		const channel = createScriptedChannel({ platform: "telegram", clock, window: 3 });
		const commits: (() => void)[] = [];
		const admission = { id: 1, conversation: null, duplicate: false, refused: null };
		await channel.start({
			...host(),
			accept: () => new Promise((resolve) => commits.push(() => resolve(admission))),
		});
		for (let n = 0; n < 5; n++) channel.world.say({ chat: "1", text: String(n) });
		await clock.advance(0);
		expect(commits).toHaveLength(3);
		commits[1]?.();
		await clock.advance(0);
		expect([channel.world.acknowledged, commits.length]).toEqual([0, 3]);
		commits[0]?.();
		await clock.advance(0);
		expect([channel.world.acknowledged, commits.length]).toEqual([2, 5]);
	});
});
