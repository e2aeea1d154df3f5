// Messages outside a conversation's transcript.
import { z } from "@hono/zod-openapi";
import type { HandlersOf } from "./call.ts";
import { endpoint, ofConversation, pageSize } from "./endpoint.ts";
import { delivery } from "./schemas.ts";
import { toWireDelivery } from "./wire.ts";

const KINDS = {
	notice: ["notice"],
	command: ["command"],
	failure: ["failure"],
	all: ["notice", "command", "failure"],
} as const;

export const sideMessageEndpoints = {
	conversationDeliveries: endpoint("get", "/api/conversations/{conversation}/deliveries", {
		about: "messages outside the transcript: notices and answers to commands, the last ones, in order",
		params: ofConversation,
		query: {
			kind: z.enum(["notice", "command", "failure", "all"]).optional().openapi({
				description:
					"left out: notices and answers to commands; failure: the replies of failed turns, which are not in the transcript",
			}),
			before: z.coerce.number().int().min(0).optional().openapi({
				description: "n of the first one on the next page",
			}),
			limit: pageSize,
		},
		answer: z.object({
			deliveries: z.array(delivery),
			more: z.boolean().openapi({ description: "there are more before the first one" }),
		}),
	}),
} as const;

export const sideMessageHandlers: HandlersOf<typeof sideMessageEndpoints> = {
	conversationDeliveries: async ({ conversation, kind, before, limit }, { host, scope }) => {
		const found = await host.store.sideDeliveries({
			scope,
			conversation,
			kinds: kind === undefined ? ["notice", "command"] : KINDS[kind],
			limit: limit + 1,
			...(before !== undefined && { before }),
		});
		return { deliveries: found.slice(-limit).map(toWireDelivery), more: found.length > limit };
	},
};
