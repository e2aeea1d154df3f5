// Load for the gateway and, beside it, for the store alone: the same messages in the same conversations, so many at once, each
// of which says its next thing when the last was answered.

import { performance } from "node:perf_hooks";
import { resolvePolicy } from "../src/config/index.ts";
import { configSchema } from "../src/config/schema.ts";
import type { ConversationId } from "../src/domain/index.ts";
import {
	type Channel,
	type ChannelHost,
	createGateway,
	type Gateway,
	type Inbound,
	systemClock,
} from "../src/gateway/index.ts";
import type { Store } from "../src/store/index.ts";
import { createScriptedAgent } from "../src/testing/index.ts";
import { createTools } from "../src/tools/index.ts";
import { REPLY, TEXT } from "./store-data.ts";

export const AT_ONCE = 64;
const PLATFORM = "telegram";
const USAGE = {
	provider: "scripted",
	model: "scripted",
	inputTokens: 0,
	outputTokens: 0,
	costMicros: 0,
	currency: "USD",
};

/** Which chat speaks next in a lane. */
export type Chats = (lane: number, turn: number) => string;

export interface Load {
	/** Says one thing in a chat, and resolves when its answer was sent. */
	round(chat: string): Promise<void>;
	stop(): Promise<void>;
}

const config = configSchema.parse({
	session_reset: { mode: "none", timezone: "UTC" },
	gateway: { max_turns: AT_ONCE, batch_ms: 0 },
	auth: { [PLATFORM]: { allow_all: true } },
});
const policy = resolvePolicy(config.session_reset, { platform: PLATFORM, chatType: "dm" });

let said = 0;

export function inboundOf(chat: string): Inbound {
	return {
		source: { platform: PLATFORM, chat_id: chat, chat_type: "dm", user_id: chat, user_name: "Alice" },
		platformMessage: `${process.pid} ${++said}`,
		content: TEXT,
	};
}

/** Who waits for an answer in which chat: each is for the one that has waited longest. */
class Answers {
	readonly #waiting = new Map<string, (() => void)[]>();

	next(chat: string): Promise<void> {
		return new Promise((resolve) => {
			const waiting = this.#waiting.get(chat);
			if (waiting) waiting.push(resolve);
			else this.#waiting.set(chat, [resolve]);
		});
	}

	arrived(chat: string): void {
		const waiting = this.#waiting.get(chat);
		waiting?.shift()?.();
		if (waiting?.length === 0) this.#waiting.delete(chat);
	}
}

/** A channel that takes everything at once and remembers nothing. */
export async function gatewayLoad(store: Store): Promise<Load & { readonly gateway: Gateway }> {
	const answers = new Answers();
	let host: ChannelHost | undefined;
	const channel: Channel = {
		name: PLATFORM,
		platform: PLATFORM,
		account: "",
		start: (given) => {
			host = given;
			return Promise.resolve();
		},
		stop: () => Promise.resolve(),
		send: ({ id, destination }) => {
			// Notices go before and after an answer; only the answer ends the round.
			if (!/:(opened|rotated):\d+$/.test(id)) answers.arrived(destination.chatId);
			return Promise.resolve({ kind: "sent", receipt: id });
		},
		health: () => ({ state: "connected", aliveAt: null }),
	};
	const gateway = createGateway({
		store,
		agent: createScriptedAgent({ script: { otherwise: [{ text: REPLY }] }, clock: systemClock }),
		tools: createTools([]),
		channels: [channel],
		config,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
		log: (message, error) => {
			throw new Error(message, { cause: error });
		},
	});
	await gateway.start();
	return {
		gateway,
		round: async (chat) => {
			const answered = answers.next(chat);
			await (host as ChannelHost).accept(inboundOf(chat));
			await answered;
		},
		stop: () => gateway.stop(),
	};
}

/** The rows of a message without a gateway: what is due is claimed together, as an outbox does. */
export function storeLoad(store: Store): Load {
	const answers = new Answers();
	let isClaiming = false;
	let again = false;
	const underWay = new Set<Promise<unknown>>();
	const track = (work: Promise<unknown>): void => {
		underWay.add(work);
		void work.then(() => underWay.delete(work));
	};
	const claim = async (): Promise<void> => {
		again = true;
		if (isClaiming) return;
		isClaiming = true;
		while (again) {
			again = false;
			const { deliveries } = await store.claimDeliveries({ limit: 128, timeoutMs: 60_000 });
			if (deliveries.length > 0) again = true;
			for (const { id, claim, kind, destination } of deliveries) {
				if (kind === "reply") answers.arrived(destination.chatId);
				track(store.settleDelivery({ id, claim, settlement: { kind: "sent", receipt: id } }));
			}
		}
		isClaiming = false;
	};
	store.onCommit(() => track(claim()));
	return {
		round: async (chat) => {
			const answered = answers.next(chat);
			await writeRound(store, chat);
			await answered;
		},
		stop: async () => {
			while (underWay.size > 0) await Promise.all(underWay);
		},
	};
}

async function writeRound(store: Store, chat: string): Promise<void> {
	const { source, platformMessage, content } = inboundOf(chat);
	const { conversation, id } = await store.accept({
		kind: "person",
		source,
		platformMessage,
		content,
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
	const begun = await store.beginTurn({
		conversation: conversation as ConversationId,
		inbox: [id],
		policy,
		context: "You are Keryx.",
		autoContinueFreshness: 3600,
		deadlineAt: systemClock.now() + 600_000,
	});
	if (begun.kind !== "begun") throw new Error(`the turn did not begin: ${begun.kind}`);
	const { turn, token, destination, nextIndex } = begun;
	const delivery = { kind: "reply", destination, body: { text: REPLY, plain: REPLY } } as const;
	await Promise.all([
		store.recordModelCall({ turn, token, n: 1, ...USAGE, status: "ok" }),
		store.endTurn({
			turn,
			token,
			outcome: { kind: "completed" },
			messages: [{ role: "assistant", content: REPLY, finishReason: "stop", index: nextIndex }],
			deliveries: [{ ...delivery, id: `${turn}:1` }],
			policy,
			ifRotated: {
				context: "You are Keryx.",
				material: { processes: [], confirmations: [], checkpoint: { kind: "none" } },
				notice: [],
			},
		}),
	]);
}

/** Rounds a second, over so many milliseconds, with every lane busy all the time. */
export async function roundsPerSecond(load: Load, chats: Chats, ms: number): Promise<number> {
	const until = performance.now() + ms;
	const { rounds, elapsed } = await run(load, chats, () => performance.now() < until);
	return (rounds / elapsed) * 1000;
}

/** Exactly so many rounds. */
export async function roundsInAll(load: Load, chats: Chats, count: number): Promise<void> {
	let left = count;
	await run(load, chats, () => left-- > 0);
}

async function run(
	load: Load,
	chats: Chats,
	goesOn: () => boolean,
): Promise<{ readonly rounds: number; readonly elapsed: number }> {
	const began = performance.now();
	let rounds = 0;
	const lane = async (n: number): Promise<void> => {
		for (let turn = 0; goesOn(); turn++) {
			await load.round(chats(n, turn));
			rounds++;
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => lane(n)));
	return { rounds, elapsed: performance.now() - began };
}
