// The platforms that `npm run bench -- channels` measures, a row each: the stand-in for the platform, and the channel on it. Both are
// loaded where they run, the platform in the bench, the channel in the gateway's own process.
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
	/** Called when something that people see may have changed. */
	onChange(listener: () => void): void;
	close(): Promise<void>;
}

/** Passed on to the gateway's process as JSON. */
export interface Access {
	readonly url: string;
	readonly token: string;
}

interface ChannelRequest {
	readonly account: string;
	readonly access: Access;
	readonly clock: Clock;
	readonly log: (message: string) => void;
}

interface BenchPlatform {
	/** Requests a second, of one account. */
	readonly limit: number;
	start(accounts: number): Promise<BenchPeer>;
	createChannel(request: ChannelRequest): Promise<Channel>;
}

export const PLATFORMS: Readonly<Record<string, BenchPlatform>> = {
	telegram: {
		limit: 30,
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
};

async function startTelegram(accounts: number): Promise<BenchPeer> {
	const { createTelegramPeer } = await import("../test/peers/telegram/index.ts");
	const peer = await createTelegramPeer();
	const others = Array.from({ length: accounts - 1 }, (_, n) => peer.addBot(`Bench${n}`));
	const people = new Map<number, ReturnType<typeof peer.user>>();
	const personOf = (n: number) => {
		const person = people.get(n) ?? peer.user(`Person${n}`);
		people.set(n, person);
		return person;
	};
	let onCall = () => {};
	peer.faults = ({ method }) => {
		if (/^(?:send|edit|answer|delete|set)/.test(method)) onCall();
		return undefined;
	};
	return {
		accounts: [peer.bot, ...others].map(({ token }) => ({ url: peer.apiRoot, token })),
		say: (n, text) => void peer.say(personOf(n), peer.dm(personOf(n)), text),
		shown: (n) => peer.answers(peer.dm(personOf(n))).at(-1)?.text ?? "",
		onCall: (listener) => {
			onCall = listener;
		},
		onChange: (listener) => void peer.onChange(listener),
		close: () => peer.close(),
	};
}
