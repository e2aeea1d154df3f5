// Follows events from a stored cursor: a client that returns with it, after a restart of Keryx or itself, has missed nothing.
import { z } from "zod";
import type { Client } from "../http/client/index.ts";
import { type AnyTool, given, namedConversation, pageSize, tool, whichConversation } from "./tool.ts";

const LONGEST_WAIT_MS = 300_000;
const USUAL_WAIT_MS = 30_000;

const follows = {
	after_cursor: z
		.string()
		.max(32)
		.optional()
		.describe("the cursor of the answer before; left out: only what comes from now on"),
	...whichConversation,
	limit: pageSize,
};

export const eventTools: readonly AnyTool[] = [
	tool(
		"events_poll",
		"reads",
		"What has happened since a cursor: messages, answers, questions, programs. Go on with the cursor of the answer.",
		follows,
		async ({ after_cursor = "now", limit, ...named }, caller) =>
			caller.client.eventsAfter(
				given({ after: after_cursor, limit, conversation: await namedConversation(caller, named) }),
			),
	),
	tool(
		"events_wait",
		"reads",
		"The same, but waits until something happens or the time is over.",
		{
			...follows,
			timeout_ms: z
				.int()
				.min(0)
				.max(LONGEST_WAIT_MS)
				.optional()
				.describe(`how long to wait, ${USUAL_WAIT_MS} unless said`),
		},
		async ({ after_cursor = "now", limit, timeout_ms = USUAL_WAIT_MS, ...named }, caller, signal) => {
			const conversation = await namedConversation(caller, named);
			const page = (after: string) => caller.client.eventsAfter(given({ after, limit, conversation }));
			const first = await page(after_cursor);
			if (first.events.length > 0 || first.resync) return first;
			const time = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]);
			await untilAnEvent(caller.client, given({ after: first.cursor, conversation }), time);
			return page(first.cursor);
		},
	),
];

async function untilAnEvent(
	client: Client,
	from: { readonly after: string; readonly conversation?: string },
	signal: AbortSignal,
): Promise<void> {
	for await (const { kind } of client.follow({ ...from, signal }))
		if (kind === "event" || kind === "resync") return;
}
