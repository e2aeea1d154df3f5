// The platforms that `npm run bench -- channels` measures, a row each: the stand-in for the platform, and the channel on it. Both are
// loaded where they run, the platform in the bench, the channel in the gateway's own process.
import { performance } from "node:perf_hooks";
import type { Channel, Clock } from "../src/gateway/index.ts";

/** A platform with people on it, each in a chat of their own. */
export interface BenchPeer {
	/** How the channel of each account gets there; one for each that was asked for. */
	readonly accounts: readonly Access[];
	/** Somebody writes to the first account. */
	say(person: number, text: string): void;
	/** What that person sees of the last answer. */
	shown(person: number): string;
	/** Called with every request that counts against the platform's limit, as it arrives. */
	onCall(listener: () => void): void;
	/** How often the first account was told to slow down. */
	turnedAway(): number;
	/** Called when something that people see may have changed. */
	onChange(listener: () => void): void;
	close(): Promise<void>;
}

/** Passed on to the gateway's process as JSON. */
export interface Access {
	readonly url: string;
	readonly token: string;
	/** Of the app, where the platform has one. */
	readonly appToken?: string;
}

interface ChannelRequest {
	readonly account: string;
	readonly access: Access;
	readonly clock: Clock;
	readonly log: (message: string) => void;
}

interface BenchPlatform {
	/** What one account may call in so much time. */
	readonly limit: { readonly calls: number; readonly ms: number };
	start(accounts: number): Promise<BenchPeer>;
	createChannel(request: ChannelRequest): Promise<Channel>;
}

export const PLATFORMS: Readonly<Record<string, BenchPlatform>> = {
	telegram: {
		limit: { calls: 30, ms: 1000 },
		start: startTelegram,
		createChannel: async ({ account, access, clock, log }) => {
			const { createTelegramChannel } = await import("../src/channels/telegram/index.ts");
			return createTelegramChannel({
				name: `telegram${account}`,
				account,
				apiRoot: access.url,
				token: () => Promise.resolve(access.token),
				clock,
				log,
			});
		},
	},
	discord: {
		limit: { calls: 50, ms: 1000 },
		start: startDiscord,
		createChannel: async ({ account, access, clock, log }) => {
			const { createDiscordChannel } = await import("../src/channels/discord/index.ts");
			return createDiscordChannel({
				name: `discord${account}`,
				account,
				apiRoot: access.url,
				token: () => Promise.resolve(access.token),
				clock,
				log,
			});
		},
	},
	slack: {
		limit: { calls: 50, ms: 60_000 },
		start: startSlack,
		createChannel: async ({ account, access, clock, log }) => {
			const { createSlackChannel } = await import("../src/channels/slack/index.ts");
			return createSlackChannel({
				name: `slack${account}`,
				account,
				apiRoot: access.url,
				token: () => Promise.resolve(access.token),
				events: { appToken: () => Promise.resolve(access.appToken ?? "") },
				clock,
				log,
			});
		},
	},
};

async function startTelegram(accounts: number): Promise<BenchPeer> {
	const { createTelegramPeer } = await import("../test/peers/telegram/index.ts");
	const peer = await createTelegramPeer();
	const others = Array.from({ length: accounts - 1 }, (_, n) => peer.addBot(`Bench${n}`));
	const personOf = remembered((n) => peer.user(`Person${n}`));
	let onCall = () => {};
	const times: number[] = [];
	peer.faults = ({ method }) => {
		if (!/^(?:send|edit|answer|delete|set)/.test(method)) return undefined;
		onCall();
		const at = performance.now();
		times.push(at);
		while ((times[0] ?? at) <= at - 1000) times.shift();
		return times.length > 30 ? { retryAfter: 1 } : undefined;
	};
	return {
		accounts: [peer.bot, ...others].map(({ token }) => ({ url: peer.apiRoot, token })),
		say: (n, text) => void peer.say(personOf(n), peer.dm(personOf(n)), text),
		shown: (n) => peer.answers(peer.dm(personOf(n))).at(-1)?.text ?? "",
		onCall: (listener) => {
			onCall = listener;
		},
		turnedAway: () => turnedAwayIn(peer.calls),
		onChange: (listener) => void peer.onChange(listener),
		close: () => peer.close(),
	};
}

async function startDiscord(accounts: number): Promise<BenchPeer> {
	const { createDiscordPeer, USUAL_LIMITS } = await import("../test/peers/discord/index.ts");
	const peer = await createDiscordPeer({ limits: USUAL_LIMITS });
	const others = Array.from({ length: accounts - 1 }, (_, n) => peer.addBot(`Bench${n}`));
	const seatOf = remembered((n) => {
		const by = peer.user(`Person${n}`);
		return { by, dm: peer.dm(by) };
	});
	let onCall = () => {};
	peer.faults = ({ method, path }) => {
		if (method !== "GET" && path.startsWith("/channels/")) onCall();
		return undefined;
	};
	return {
		accounts: [peer.bot, ...others].map(({ token }) => ({ url: peer.apiRoot, token })),
		say: (n, text) => void peer.say(seatOf(n).by, seatOf(n).dm, text),
		shown: (n) => peer.answers(seatOf(n).dm).at(-1)?.text ?? "",
		onCall: (listener) => {
			onCall = listener;
		},
		turnedAway: () => turnedAwayIn(peer.calls),
		onChange: (listener) => void peer.onChange(listener),
		close: () => peer.close(),
	};
}

/** Each account is an app of a workspace of its own. What counts are changes of messages, of which Slack allows the fewest. */
async function startSlack(accounts: number): Promise<BenchPeer> {
	const { createSlackPeer } = await import("../test/peers/slack/index.ts");
	const peers = await Promise.all(Array.from({ length: accounts }, () => createSlackPeer()));
	const [peer] = peers;
	if (!peer) throw new Error("one account at least");
	for (const [method, calls] of Object.entries(SLACK_TIERS)) peer.limits.set(method, { calls, ms: 60_000 });
	const seatOf = remembered((n) => {
		const by = peer.user(`Person${n}`);
		return { by, dm: peer.dm(by) };
	});
	let onCall = () => {};
	peer.faults = ({ method }) => {
		if (method === "chat.update") onCall();
		return undefined;
	};
	return {
		accounts: peers.map(({ apiRoot, botToken, appToken }) => ({ url: apiRoot, token: botToken, appToken })),
		say: (n, text) => void peer.say(seatOf(n).by, seatOf(n).dm, text),
		shown: (n) => peer.answers(seatOf(n).dm).at(-1)?.text ?? "",
		onCall: (listener) => {
			onCall = listener;
		},
		turnedAway: () => turnedAwayIn(peer.calls),
		onChange: (listener) => void peer.onChange(listener),
		close: async () => {
			await Promise.all(peers.map((one) => one.close()));
		},
	};
}

/** What Slack allows in a minute, at the least. */
const SLACK_TIERS: Readonly<Record<string, number>> = {
	"chat.update": 50,
	"conversations.history": 50,
	"conversations.replies": 50,
	"conversations.info": 50,
	"users.conversations": 20,
	"users.info": 100,
};

function turnedAwayIn(calls: readonly { readonly status: number | null }[]): number {
	return calls.filter(({ status }) => status === 429).length;
}

/** Made when it is first asked for. */
function remembered<Value>(make: (n: number) => Value): (n: number) => Value {
	const made = new Map<number, Value>();
	return (n) => {
		const value = made.get(n) ?? make(n);
		made.set(n, value);
		return value;
	};
}
