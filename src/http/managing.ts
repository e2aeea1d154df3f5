// Actions on whole conversations: name, pin, archive, delete, restore; one or many.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../errors.ts";
import { type HandlersOf, running } from "./call.ts";
import { action, endpoint } from "./endpoint.ts";
import { conversationId, conversationState } from "./schemas.ts";

/** As many as a page of the list. */
const AT_ONCE = 200;

export const managingEndpoints = {
	renameConversation: action(
		"title",
		"name a conversation; null removes its title",
		{ title: z.string().trim().min(1).max(500).nullable() },
		z.object({ name: z.string(), title: z.string().nullable(), before: z.string().nullable() }),
	),
	pinConversation: action(
		"pin",
		"pin a conversation to the top of the list, or unpin it",
		{ pinned: z.boolean() },
		z.object({ pinned: z.boolean() }),
	),
	setConversationState: endpoint("post", "/api/conversations/state", {
		about:
			"archive, delete or restore conversations. A deleted one is hidden at once and can be restored until retention removes it",
		body: { conversations: z.array(conversationId).min(1).max(AT_ONCE), state: conversationState },
		answer: z.object({ changed: z.int() }),
	}),
} as const;

export const managingHandlers: HandlersOf<typeof managingEndpoints> = {
	renameConversation: async ({ conversation, title }, { host, scope }) => {
		const ref = { id: conversation };
		await host.store.conversation({ scope, ref });
		const named = await running(host).actions.renameConversation({ conversation, title });
		return { ...named, name: (await host.store.conversation({ scope, ref })).name };
	},
	pinConversation: async ({ conversation, pinned }, { host, scope }) => {
		await host.store.conversation({ scope, ref: { id: conversation } });
		return running(host).actions.pinConversation({ conversation, pinned });
	},
	setConversationState: async ({ conversations, state }, { host, scope }) => {
		const { actions } = running(host);
		// Only an owner could restore it.
		if (state === "deleted" && scope.kind !== "operator")
			throw new KeryxError("argument.invalid", "only an owner can delete a conversation", {
				field: "state",
				hint: "archive it instead",
			});
		// All of them exist, or none is changed.
		for (const id of conversations) await host.store.conversation({ scope, ref: { id } });
		let changed = 0;
		for (const conversation of conversations)
			if ((await actions.setConversationState({ conversation, state })).before !== state) changed++;
		return { changed };
	},
};
