// Turns: one run of the agent each.
import { z } from "@hono/zod-openapi";
import { type HandlersOf, running } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { turn } from "../schemas.ts";
import { toWireTurn } from "../wire.ts";

const ofTurn = { turn: z.string().min(1).max(64) };

export const turnEndpoints = {
	turn: endpoint("get", "/api/turns/{turn}", {
		about: "one turn with its messages and deliveries",
		params: ofTurn,
		answer: turn,
	}),
	stopTurn: endpoint("post", "/api/turns/{turn}/stop", {
		about: "stop this turn and no other; one that has ended stays as it is",
		params: ofTurn,
		answer: turn,
	}),
} as const;

export const turnHandlers: HandlersOf<typeof turnEndpoints> = {
	turn: async ({ turn }, { host, scope }) => toWireTurn(await host.store.turn({ scope, id: turn })),
	stopTurn: async ({ turn }, { host, scope }) => {
		const { conversation, endedAt } = await host.store.turn({ scope, id: turn });
		if (endedAt === null) await running(host).actions.stop({ conversation, turn });
		return toWireTurn(await host.store.turn({ scope, id: turn }));
	},
};
