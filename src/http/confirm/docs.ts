// The confirmations' own family in OpenAPI.
import { z } from "@hono/zod-openapi";
import type { App } from "../environment.ts";
import { type ConfirmCall, confirmCalls, flatError } from "./schemas.ts";

export function describeConfirm(app: App): void {
	const calls: Readonly<Record<string, ConfirmCall>> = confirmCalls;
	for (const [operationId, { method, path, about, query, body, answers, refusals = {} }] of Object.entries(
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
				...mapped(answers, (status, schema) =>
					described(ANSWERED[`${operationId} ${status}`] ?? about, schema),
				),
				// The port's own limit answers with a flat error.
				...mapped(refusals, (status, schema) =>
					described(REFUSED[status] ?? "", status === "429" ? z.union([schema, flatError]) : schema),
				),
				default: described("what is wrong", flatError),
			},
		});
}

/** Of a call with more than one answer. */
const ANSWERED: Readonly<Record<string, string>> = {
	"confirmRequest 200": "a grant covers it, or it was requested before and is decided",
	"confirmRequest 202": "a person is asked",
};
const REFUSED: Readonly<Record<string, string>> = {
	409: "its state does not allow it",
	429: "too many; try again after so many seconds",
};

function mapped<Value>(
	schemas: Readonly<Record<string, z.ZodType>>,
	to: (status: string, schema: z.ZodType) => Value,
): Readonly<Record<string, Value>> {
	return Object.fromEntries(Object.entries(schemas).map(([status, schema]) => [status, to(status, schema)]));
}

function described(description: string, schema: z.ZodType) {
	return { description, content: { "application/json": { schema } } };
}
