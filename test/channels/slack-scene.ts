// A Slack channel on the peer, with a faulty network between them if wanted.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { createSlackChannel, type SlackOptions } from "../../src/channels/slack/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, PAUSE_MS, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createSlackPeer, readable, type SlackPeer, type SlackPeerOptions } from "../peers/slack/index.ts";
import { until } from "../support/until.ts";
import { type Received, receiving } from "./receiving.ts";
import type { Heard } from "./telegram-scene.ts";

/** Slack's pauses are minutes; nobody waits for them here. */
export const QUICK: SlackPeerOptions = { ackMs: 3000, retryMs: Array.from({ length: 1000 }, () => 20) };

const FAST = { burst: 1000, everyMs: 1 };

export function channelOn(
	peer: SlackPeer,
	options: Partial<SlackOptions> = {},
	logged: string[] = [],
): Channel {
	return createSlackChannel({
		name: "slack",
		token: () => Promise.resolve(peer.botToken),
		events: { appToken: () => Promise.resolve(peer.appToken) },
		apiRoot: peer.apiRoot,
		clock: systemClock,
		log: (message) => logged.push(message),
		firstPauseMs: 5,
		longestPauseMs: 20,
		settleMs: 0,
		allowed: { message: FAST, channel: FAST, change: FAST, read: FAST },
		...options,
	});
}

export interface SlackScene {
	readonly peer: SlackPeer;
	readonly proxy: FaultProxy;
	readonly channel: Channel;
	readonly host: TakingHost;
	readonly logged: readonly string[];
	/** Resolves when the condition holds. */
	until(condition: () => boolean): Promise<void>;
	start(): Promise<void>;
	close(): Promise<void>;
}

export async function slackScene(
	options: Partial<SlackOptions> = {},
	peerOptions: SlackPeerOptions = QUICK,
): Promise<SlackScene> {
	const peer = await createSlackPeer(peerOptions);
	const proxy = await createFaultProxy(peer.url);
	peer.viaProxy(proxy.url);
	const logged: string[] = [];
	const channel = channelOn(peer, { apiRoot: `${proxy.url}/api/`, ...options }, logged);
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

const SHOWING = /^(?:chat\.(?:postMessage|update)|files\.completeUploadExternal)$/;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function slackPeer(): Promise<ChannelPeer & Heard> {
	return peerOf(await slackScene({ account: "app2" }));
}

/** The same with events over HTTP, which go through the faulty network, too. */
export async function slackPeerOverHttp(): Promise<ChannelPeer & Heard> {
	const { received, ...scene } = await slackHttpScene({ account: "app2" });
	return peerOf(scene, received);
}

/** A channel that Slack posts to. */
export async function slackHttpScene(
	options: Partial<SlackOptions> = {},
	peerOptions: SlackPeerOptions = QUICK,
): Promise<SlackScene & { readonly received: Received }> {
	const secret = { current: "" };
	const scene = await slackScene(
		{ events: { signingSecret: () => Promise.resolve(secret.current) }, orderMs: 250, ...options },
		peerOptions,
	);
	const received = await receiving(scene.channel);
	secret.current = scene.peer.signingSecret;
	scene.peer.sockets.requestUrl = { url: received.url, signingSecret: scene.peer.signingSecret };
	return {
		...scene,
		received,
		close: async () => {
			await scene.close();
			await received.close();
		},
	};
}

function peerOf({ peer, proxy, channel }: SlackScene, received?: Received): ChannelPeer & Heard {
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	const said: string[] = [];
	const say = (text: string, saying?: Parameters<SlackPeer["say"]>[3]) => {
		const ts = peer.say(ada, dm, text, saying);
		said.push(ts);
		return ts;
	};
	return {
		channel,
		destination: { platform: "slack", account: "app2", chatId: dm.id },
		say: (text) => say(text),
		edit: (ts, text) => peer.edit(dm, ts, text),
		sendFile: (text, name, bytes) => say(text, { files: [{ name, bytes: Buffer.from(bytes) }] }),
		press: (receipt, button) => peer.press(ada, dm, receipt, button),
		redeliver: (ts) => peer.redeliver(dm, ts),
		disconnect: () => {
			proxy.cut();
			received?.proxy.cut();
		},
		refuseConnections: async () => {
			await Promise.all([proxy.set("cut"), received?.proxy.set("cut")]);
			return async () => void (await Promise.all([proxy.set("open"), received?.proxy.set("open")]));
		},
		acknowledged: () => {
			const missing = said.findIndex((ts) => !peer.isTaken(dm, ts));
			return missing < 0 ? said : said.slice(0, missing);
		},
		visible: () =>
			peer.answers(dm).flatMap(({ ts, text, files, buttons }) => {
				const shown = { receipt: ts, text, buttons: buttons.map((button) => button.id) };
				if (files.length === 0) return [shown];
				return files.map((file, n) => ({ ...shown, text: n === 0 ? text : "", file }));
			}),
		requests: () => peer.calls.filter(({ method }) => SHOWING.test(method)).length,
		next: (behaviour) => peer.next(FAULTS[behaviour], "chat.postMessage"),
		revoke: () => peer.revokeToken(),
		// Of Slack's control sequences, those that call somebody are shown as they were written.
		shownAs: (text) => readable(text.replace(/<(?=[@#!])/g, "&lt;")),
		texts: ["<!channel> <@U1> &lt;!here&gt;"],
		person: ada.id,
		received: () => peer.calls.map(({ fields }) => JSON.stringify(fields)).join("\n"),
		pass: () => turnOfTheLoop(),
		close: async () => {
			await received?.close();
			await proxy.close();
			await peer.close();
		},
	};
}

const FAULTS = {
	refuse: { error: "restricted_action" },
	pause: { retryAfter: PAUSE_MS / 1000 },
	markup_refused: { error: "invalid_blocks" },
	lose_ack: "lose_ack",
	lost: "lost",
} as const;
