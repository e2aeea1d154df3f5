// The chat channels: their state, and what waits to be sent through them.
import { z } from "@hono/zod-openapi";
import { OPERATOR, type Store } from "../store/index.ts";
import { type HandlersOf, operator } from "./call.ts";
import { endpoint } from "./endpoint.ts";
import { variablesFor } from "./entry/secret-names.ts";
import { channel, time } from "./schemas.ts";
import { iso, toWireChannel } from "./wire.ts";

const AT_ONCE = 500;
const MOST = 10_000;

export const channelEndpoints = {
	channels: endpoint("get", "/api/channels", {
		about: "each connection to a platform, its last sign of life, and what is waiting to be sent through it",
		answer: z.object({
			channels: z.array(
				channel.extend({
					age_seconds: z
						.number()
						.nullable()
						.openapi({ description: "since its last sign of life; null: none yet" }),
					pending: z.int().openapi({ description: "deliveries waiting to be sent" }),
				}),
			),
			counted: z.boolean().openapi({
				description: `false if more than ${MOST} deliveries are waiting: pending is then a minimum`,
			}),
		}),
	}),
	nodes: endpoint("get", "/api/nodes", {
		about: "the gateways that use this store; more than one only where they share a store on a server",
		answer: z.object({
			nodes: z.array(
				z.object({
					epoch: z.int().openapi({ description: "its number: each start has a new one" }),
					name: z.string(),
					started_at: time,
					expires_at: time.nullable().openapi({ description: "of its lease; null: it needs none" }),
					turns: z.int().openapi({ description: "turns that it runs now" }),
					duties: z
						.array(z.string())
						.openapi({ description: "what it does for all of them: connections to platforms, hooks" }),
				}),
			),
		}),
	}),
	homeChannels: endpoint("get", "/api/home-channels", {
		about: "the home channels set in a chat with /sethome; each overrides the configuration",
		answer: z.object({
			home_channels: z.array(
				z.object({
					platform: z.string(),
					account: z.string(),
					chat_id: z.string(),
					thread_id: z.string().nullable(),
					name: z.string(),
					set_at: time,
				}),
			),
		}),
	}),
} as const;

export const channelHandlers: HandlersOf<typeof channelEndpoints> = {
	channels: async (_input, { host, visitor }) => {
		const { store, gateway, now } = host;
		const shown = variablesFor(visitor, host);
		const { pending, counted } = await pendingByChannel(store);
		const channels = (gateway?.health() ?? []).map((one) => ({
			...toWireChannel(one, shown),
			age_seconds: one.aliveAt === null ? null : Math.max(0, (now() - one.aliveAt) / 1000),
			pending: pending.get(`${one.platform} ${one.account}`) ?? 0,
		}));
		return { channels, counted };
	},
	nodes: async (_input, { host: { store }, scope }) => ({
		nodes: (await store.nodes({ scope: operator(scope) })).map((node) => ({
			epoch: node.epoch,
			name: node.name,
			started_at: iso(node.startedAt),
			expires_at: node.expiresAt === null ? null : iso(node.expiresAt),
			turns: node.turns,
			duties: [...node.duties],
		})),
	}),
	homeChannels: async (_input, { host: { store }, scope }) => ({
		home_channels: (await store.homeChannels({ scope: operator(scope) })).map((home) => ({
			platform: home.platform,
			account: home.account,
			chat_id: home.chatId,
			thread_id: home.threadId ?? null,
			name: home.name,
			set_at: iso(home.setAt),
		})),
	}),
};

async function pendingByChannel(store: Store) {
	const pending = new Map<string, number>();
	for (let [seen, after] = [0, 0]; ; ) {
		const page = await store.deliveries({ scope: OPERATOR, which: "waiting", after, limit: AT_ONCE });
		for (const { destination } of page) {
			const name = `${destination.platform} ${destination.account}`;
			pending.set(name, (pending.get(name) ?? 0) + 1);
		}
		const last = page.at(-1);
		seen += page.length;
		if (!last || page.length < AT_ONCE) return { pending, counted: true };
		if (seen >= MOST) return { pending, counted: false };
		after = last.n;
	}
}
