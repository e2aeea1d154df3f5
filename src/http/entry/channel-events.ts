// Requests from chat platforms, each to one channel's address. Only the channel decides whether its platform sent it: tokens, cookies and
// Host do not count, so this comes before their checks. Everything else is refused alike.
import { createRoute, z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import { type ApiHost, running } from "../call.ts";
import type { App } from "../environment.ts";
import { type Rates, readBody } from "./guards.ts";

export function addChannelEvents(
	app: App,
	host: ApiHost,
	{ limit, rates }: { readonly limit: number; readonly rates: Rates },
): void {
	app.openapi(eventsRoute, async (c) => {
		if (c.env.entrance.kind === "compat")
			throw new KeryxError("http.no_route", `there is no POST ${c.req.path}`);
		const { name } = c.req.valid("param");
		const reply = await running(host)
			.receive(name, {
				header: (of) => c.req.header(of),
				body: async () => (await readBody(c.req.raw, limit)) ?? new Uint8Array(),
			})
			.catch((error: unknown) => {
				// Senders of too much are counted as well.
				if (error instanceof KeryxError && error.code === "http.too_large") rates.assertStranger(c);
				throw error;
			});
		switch (reply.kind) {
			case "taken":
				return c.text(reply.text ?? "", 200);
			case "later":
				return c.text("", 503);
			case "refused":
				rates.assertStranger(c);
				throw new KeryxError("webhook.refused", "no channel's platform sent this", {
					hint: "check the channel's name in the address, and its secret",
				});
		}
	});
}

const eventsRoute = createRoute({
	operationId: "channelEvents",
	method: "post",
	path: "/channels/{name}/events",
	summary:
		"what a chat platform sends to one of its channels; proven in the platform's own way, without a token",
	security: [],
	request: { params: z.object({ name: z.string().max(64) }) },
	responses: {
		200: { description: "it is stored", content: { "text/plain": { schema: z.string() } } },
		503: {
			description: "it is not stored: send it again",
			content: { "text/plain": { schema: z.string() } },
		},
	},
});
