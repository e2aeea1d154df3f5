import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import fc from "fast-check";
import { describe, test } from "vitest";
import { systemClock } from "../src/gateway/index.ts";
import {
	type Behaviour,
	type ChannelPeer,
	connectScriptedChannel,
	createPlatformServer,
	createScriptedChannel,
	createVirtualClock,
	PAUSE_MS,
	ScriptedPlatform,
	testChannel,
} from "../src/testing/index.ts";

const CHAT = "chat 1";

function underTest(
	world: ScriptedPlatform,
	rest: Pick<ChannelPeer, "channel" | "disconnect" | "pass" | "close">,
): ChannelPeer {
	let nexts: Behaviour[] = [];
	world.behave = () => nexts.shift() ?? "ok";
	return {
		...rest,
		texts: ["a\nb\r\n\u2028\u2029\u0000", ...fc.sample(fc.string({ unit: "binary", minLength: 1 }), 30)],
		destination: { platform: world.platform, account: world.account, chatId: CHAT },
		say: (text) => world.say({ chat: CHAT, text }),
		redeliver: (id) => world.redeliver(id),
		acknowledged: () =>
			world.updates.slice(0, world.acknowledged).map(({ inbound }) => inbound.platformMessage),
		visible: () => world.visible(CHAT),
		requests: () => world.attempts.length,
		next: (behaviour) => {
			nexts = [behaviour === "pause" ? { retryAfterMs: PAUSE_MS } : behaviour];
		},
	};
}

const RUNNER = { describe, test };

for (const abilities of [{ lookup: true }, { window: 8 }, { edit: false }, { readFrom: "cursor" }] as const) {
	const named = JSON.stringify(abilities).replace(/[{}"]/g, "");
	const scripted = () => {
		const clock = createVirtualClock(0);
		const channel = createScriptedChannel({ platform: "telegram", account: "bot2", clock, ...abilities });
		return Promise.resolve(
			underTest(channel.world, {
				channel,
				disconnect: channel.disconnect,
				pass: () => clock.advance(100),
				close: () => Promise.resolve(),
			}),
		);
	};
	testChannel(`scripted, ${named}`, scripted, RUNNER);
}

async function overSocket(): Promise<ChannelPeer> {
	const platform = new ScriptedPlatform({ platform: "telegram" });
	const server = await createPlatformServer({ platform });
	const { address } = server;
	const channel = connectScriptedChannel({
		address,
		platform: "telegram",
		clock: systemClock,
		reconnectMs: 0,
		lookup: true,
	});
	return underTest(platform, {
		channel,
		disconnect: server.disconnect,
		pass: turnOfTheLoop,
		close: server.close,
	});
}

testChannel("scripted, over a socket", overSocket, RUNNER);
