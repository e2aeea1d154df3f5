// A Telegram channel on the peer, with a faulty network between them if wanted.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { createTelegramChannel, type TelegramOptions } from "../../src/channels/telegram/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, PAUSE_MS, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { clean } from "../peers/telegram/text.ts";
import { until } from "../support/until.ts";
import { type Received, receiving } from "./receiving.ts";

export function channelOn(
	peer: TelegramPeer,
	options: Partial<TelegramOptions> = {},
	logged: string[] = [],
): Channel {
	return createTelegramChannel({
		name: "telegram",
		token: () => Promise.resolve(peer.bot.token),
		apiRoot: peer.apiRoot,
		clock: systemClock,
		log: (message) => logged.push(message),
		firstPauseMs: 5,
		longestPauseMs: 20,
		...options,
	});
}

export interface TelegramScene {
	readonly peer: TelegramPeer;
	readonly proxy: FaultProxy;
	readonly channel: Channel;
	readonly host: TakingHost;
	readonly logged: readonly string[];
	/** Resolves when the condition holds. */
	until(condition: () => boolean): Promise<void>;
	start(): Promise<void>;
	close(): Promise<void>;
}

export async function telegramScene(options: Partial<TelegramOptions> = {}): Promise<TelegramScene> {
	const peer = await createTelegramPeer();
	const proxy = await createFaultProxy(peer.apiRoot);
	const logged: string[] = [];
	const channel = channelOn(peer, { apiRoot: proxy.url, ...options }, logged);
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

export interface Heard {
	/** The id of whoever writes. */
	readonly person: string;
	/** Everything that the platform was sent so far, as far as it has words in it. */
	received(): string;
}

const SHOWING = /^(?:send(?!ChatAction)|edit)/;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function telegramPeer(): Promise<ChannelPeer & Heard> {
	return peerOf(await telegramScene({ account: "bot2" }));
}

/** The same with a webhook, whose requests go through the faulty network, too. */
export async function telegramPeerByWebhook(): Promise<ChannelPeer & Heard> {
	const { received, ...scene } = await webhookScene({ account: "bot2" });
	return peerOf(scene, received);
}

/** A channel that Telegram posts to. */
export async function webhookScene(
	options: Partial<TelegramOptions> = {},
): Promise<TelegramScene & { readonly received: Received }> {
	let channel: Channel | undefined;
	const received = await receiving({
		receive: (request) => channel?.receive?.(request) ?? Promise.resolve({ kind: "later" }),
	});
	const scene = await telegramScene({ webhookUrl: received.url, ...options });
	channel = scene.channel;
	return {
		...scene,
		received,
		close: async () => {
			await scene.close();
			await received.close();
		},
	};
}

function peerOf({ peer, proxy, channel }: TelegramScene, received?: Received): ChannelPeer & Heard {
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	dm.closed = null;
	const nameOf = (id: number) => `${peer.bot.user.id}/${id}`;
	const idOf = (name: string) => Number(name.split("/")[1]);
	const fileOf = (name: string, bytes: Uint8Array) => ({ kind: "document" as const, name, bytes });
	return {
		channel,
		destination: { platform: "telegram", account: "bot2", chatId: String(ada.id) },
		say: (text) => nameOf(peer.say(ada, dm, text)),
		edit: (id, text) => peer.edit(dm, idOf(id), text),
		sendFile: (text, name, bytes) => nameOf(peer.say(ada, dm, text, { file: fileOf(name, bytes) })),
		sendAlbum: (files) =>
			peer
				.album(
					ada,
					dm,
					"",
					files.map(({ name, bytes }) => fileOf(name, bytes)),
				)
				.map(nameOf),
		press: (receipt, button) => peer.press(ada, dm, Number(receipt), button),
		redeliver: (id) => peer.redeliver(dm, idOf(id)),
		disconnect: () => {
			proxy.cut();
			received?.proxy.cut();
		},
		refuseConnections: async () => {
			await Promise.all([proxy.set("cut"), received?.proxy.set("cut")]);
			return async () => void (await Promise.all([proxy.set("open"), received?.proxy.set("open")]));
		},
		acknowledged: () => peer.confirmed().map((name) => nameOf(idOf(name))),
		visible: () =>
			peer.answers(dm).map(({ id, text, file, buttons }) => ({
				receipt: String(id),
				text,
				buttons: buttons.flat().map((button) => button.id),
				...(file && { file }),
			})),
		requests: () => peer.calls.filter(({ method }) => SHOWING.test(method)).length,
		next: (behaviour) => peer.next(FAULTS[behaviour], "sendMessage"),
		revoke: () => peer.revokeToken(),
		shownAs: (text) => clean(text).trim(),
		pass: () => turnOfTheLoop(),
		person: String(ada.id),
		received: () => JSON.stringify([peer.calls, peer.answers(dm)]),
		close: async () => {
			await received?.close();
			await proxy.close();
			await peer.close();
		},
	};
}

const FAULTS = {
	refuse: { status: 400, description: "Bad Request: not enough rights to send text messages to the chat" },
	pause: { retryAfter: PAUSE_MS / 1000 },
	markup_refused: { status: 400, description: "Bad Request: can't parse entities: Unsupported start tag" },
	lose_ack: "lose_ack",
	lost: "lost",
} as const;
