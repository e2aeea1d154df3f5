// A Matrix channel on the peer, with a faulty network between them.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { createMatrixChannel, type MatrixOptions } from "../../src/channels/matrix/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, PAUSE_MS, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createMatrixPeer, type MatrixPeer } from "../peers/matrix/index.ts";
import { until } from "../support/until.ts";
import type { Heard } from "./telegram-scene.ts";

export function matrixChannelOn(
	peer: { readonly url: string; readonly session: () => { readonly token: string } },
	options: Partial<MatrixOptions> = {},
	logged: string[] = [],
): Channel {
	return createMatrixChannel({
		name: "matrix",
		token: () => Promise.resolve(peer.session().token),
		homeserver: peer.url,
		clock: systemClock,
		log: (message) => logged.push(message),
		firstPauseMs: 5,
		longestPauseMs: 20,
		...options,
	});
}

export interface MatrixScene {
	readonly peer: MatrixPeer;
	readonly proxy: FaultProxy;
	readonly channel: Channel;
	readonly host: TakingHost;
	readonly logged: readonly string[];
	/** Resolves when the condition holds. */
	until(condition: () => boolean): Promise<void>;
	start(): Promise<void>;
	close(): Promise<void>;
}

export async function matrixScene(options: Partial<MatrixOptions> = {}): Promise<MatrixScene> {
	const peer = await createMatrixPeer();
	const proxy = await createFaultProxy(peer.url);
	const logged: string[] = [];
	const channel = matrixChannelOn(peer, { homeserver: proxy.url, ...options }, logged);
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

const FAULTS = {
	refuse: { status: 403, errcode: "M_FORBIDDEN", error: "You don't have permission to post to the room" },
	pause: { status: 429, errcode: "M_LIMIT_EXCEEDED", error: "Too Many Requests", retryAfterMs: PAUSE_MS },
	markup_refused: { status: 413, errcode: "M_TOO_LARGE", error: "event too large" },
	lose_ack: "lose_ack",
	lost: "lost",
} as const;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function matrixPeer(): Promise<ChannelPeer & Heard> {
	const { peer, proxy, channel } = await matrixScene({ account: "bot2" });
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	const isSend = (path: string) => /^rooms\/[^/]+\/send\//.test(path);
	/** The server is told by the place of the next sync; a stopped channel has only its own record. */
	let stoppedAt: number | undefined;
	let committed: () => Promise<string | null> = () => Promise.resolve(null);
	return {
		channel: {
			...channel,
			start: (host) => {
				stoppedAt = undefined;
				committed = () => host.cursor();
				return channel.start(host);
			},
			stop: async () => {
				await channel.stop();
				stoppedAt = Number((await committed())?.split(" s")[1] ?? 0);
			},
		},
		destination: { platform: "matrix", account: "bot2", chatId: dm.id },
		say: (text) => peer.say(ada, dm, text),
		edit: (id, text) => void peer.edit(ada, dm, id, text),
		sendFile: (text, name, bytes) => peer.say(ada, dm, text, { file: { name, bytes } }),
		disconnect: () => proxy.cut(),
		refuseConnections: async () => {
			await proxy.set("cut");
			return () => proxy.set("open");
		},
		acknowledged: () => peer.acknowledged(stoppedAt),
		visible: () =>
			peer.answers(dm).map(({ id, text, file }) => ({ receipt: id, text, ...(file && { file }) })),
		requests: () => peer.calls.filter(({ path }) => isSend(path)).length,
		next: (behaviour) => peer.next(FAULTS[behaviour]),
		revoke: () => peer.revokeToken(),
		pass: () => turnOfTheLoop(),
		person: ada.id,
		received: () => JSON.stringify([peer.calls, peer.answers(dm)]),
		close: async () => {
			await proxy.close();
			await peer.close();
		},
	};
}
