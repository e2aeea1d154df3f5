import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { systemClock } from "../src/gateway/index.ts";
import {
	type Behaviour,
	connectScriptedChannel,
	createPlatformServer,
	createScriptedChannel,
	createVirtualClock,
	ScriptedPlatform,
} from "../src/testing/index.ts";
import { type ChannelUnderTest, channelConformance, PAUSE_MS } from "./conformance/channel.ts";

const CHAT = "chat 1";

function underTest(
	world: ScriptedPlatform,
	rest: Pick<ChannelUnderTest, "channel" | "disconnect" | "pass" | "close">,
): ChannelUnderTest {
	let nexts: Behaviour[] = [];
	world.behave = () => nexts.shift() ?? "ok";
	return {
		...rest,
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

for (const abilities of [{ lookup: true }, { window: 8 }, { edit: false }, { readFrom: "cursor" }] as const) {
	const named = JSON.stringify(abilities).replace(/[{}"]/g, "");
	channelConformance(`scripted, ${named}`, () => {
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
	});
}

channelConformance("scripted, over a socket", async () => {
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
});
