// The confirmations' own family in OpenAPI.
import { z } from "@hono/zod-openapi";
import type { App } from "../environment.ts";
import { type ConfirmCall, confirmCalls, flatError } from "./schemas.ts";

export function describeConfirm(app: App): void {
	const calls: Readonly<Record<string, ConfirmCall>> = confirmCalls;
	for (const [operationId, { method, path, about, query, body, status = 200, answer }] of Object.entries(
		calls,
	))
		app.openAPIRegistry.registerPath({
			operationId,
			method,
			path,
			summary: about,
			request: {
				...(path.includes("{id}") && { params: z.object({ id: z.string() }) }),
				...(query && { query }),
				...(body && { body: { content: { "application/json": { schema: body } } } }),
			},
			responses: {
				[status]: { description: about, content: { "application/json": { schema: answer } } },
				default: { description: "what is wrong", content: { "application/json": { schema: flatError } } },
			},
		});
}
