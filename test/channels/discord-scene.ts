// A Discord channel on the peer, with a faulty network between them if wanted.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { createDiscordChannel, type DiscordOptions } from "../../src/channels/discord/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, PAUSE_MS, type SeenMessage, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createDiscordPeer, type DiscordPeer, type DiscordPeerOptions } from "../peers/discord/index.ts";
import { until } from "../support/until.ts";
import type { Heard } from "./telegram-scene.ts";

export function discordChannelOn(
	peer: DiscordPeer,
	options: Partial<DiscordOptions> = {},
	logged: string[] = [],
): Channel {
	return createDiscordChannel({
		name: "discord",
		token: () => Promise.resolve(peer.bot.token),
		apiRoot: peer.apiRoot,
		clock: systemClock,
		log: (message) => logged.push(message),
		firstPauseMs: 5,
		longestPauseMs: 20,
		voidPauseMs: 1,
		...options,
	});
}

export interface DiscordScene {
	readonly peer: DiscordPeer;
	readonly proxy: FaultProxy;
	readonly channel: Channel;
	readonly host: TakingHost;
	readonly logged: readonly string[];
	/** Resolves when the condition holds. */
	until(condition: () => boolean): Promise<void>;
	start(): Promise<void>;
	close(): Promise<void>;
}

export async function discordScene(
	options: Partial<DiscordOptions> = {},
	peerOptions: DiscordPeerOptions = {},
): Promise<DiscordScene> {
	const peer = await createDiscordPeer({ heartbeatMs: 20, ...peerOptions });
	const proxy = await createFaultProxy(peer.root);
	peer.address = proxy.url;
	const logged: string[] = [];
	const channel = discordChannelOn(peer, { apiRoot: `${proxy.url}/api`, ...options }, logged);
	const host = new TakingHost();
	return {
		peer,
		proxy,
		channel,
		host,
		logged,
		until,
		start: async () => {
			await channel.start(host);
			await until(() => channel.health().state === "connected");
		},
		close: async () => {
			host.release();
			await channel.stop();
			await proxy.close();
			await peer.close();
		},
	};
}

const SHOWING = /^(?:POST|PATCH) \/channels\/\d+\/messages/;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function discordPeer(): Promise<ChannelPeer & Heard> {
	const { peer, proxy, channel } = await discordScene({ account: "bot2" });
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	return {
		channel,
		destination: { platform: "discord", account: "bot2", chatId: dm.id },
		say: (text) => peer.say(ada, dm, text),
		edit: (id, text) => peer.edit(dm, id, text),
		sendFile: (text, name, bytes) => peer.say(ada, dm, text, { files: [{ name, bytes }] }),
		press: (receipt, button) => peer.press(ada, dm, receipt, button),
		redeliver: (id) => peer.redeliver(dm, id),
		disconnect: () => proxy.cut(),
		refuseConnections: async () => {
			await proxy.set("cut");
			return () => proxy.set("open");
		},
		acknowledged: () => peer.confirmed(),
		visible: () =>
			peer.answers(dm).flatMap(({ id, text, files, buttons }): SeenMessage[] => {
				const seen = { receipt: id, text, buttons: buttons.flat().map((button) => button.id) };
				const [first, ...others] = files;
				if (!first) return [seen];
				return [{ ...seen, file: first }, ...others.map((file) => ({ ...seen, text: "", file }))];
			}),
		requests: () => peer.calls.filter(({ method, path }) => SHOWING.test(`${method} ${path}`)).length,
		next: (behaviour) => peer.next(FAULTS[behaviour], SHOWING),
		revoke: () => peer.revokeToken(),
		shownAs: (text) => text.trim(),
		pass: () => turnOfTheLoop(),
		person: ada.id,
		received: () => peer.calls.map(({ body }) => JSON.stringify(body)).join("\n"),
		close: async () => {
			await proxy.close();
			await peer.close();
		},
	};
}

const FAULTS = {
	refuse: { status: 403, code: 50013, message: "Missing Permissions" },
	pause: { retryAfter: PAUSE_MS / 1000 },
	markup_refused: { status: 400, code: 50035, message: "Invalid Form Body", errors: { content: {} } },
	lose_ack: "lose_ack",
	lost: "lost",
} as const;
