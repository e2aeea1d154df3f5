// Defines one API call: its path, input and output.
import { z } from "@hono/zod-openapi";
import { conversationId } from "./schemas.ts";

export const pageSize = z.coerce.number().int().min(1).max(200).default(50);
export const flag = z.enum(["true", "false"]).transform((value) => value === "true");
export const ofConversation = { conversation: conversationId };

export type Shape = Readonly<Record<string, z.ZodType>>;

export interface Endpoint<
	Params extends Shape = Shape,
	Query extends Shape = Shape,
	Body extends Shape = Shape,
	Result extends z.ZodType = z.ZodType,
> {
	readonly method: "get" | "post";
	readonly path: string;
	readonly about: string;
	readonly status: 200 | 202;
	readonly params: z.ZodObject<Params>;
	readonly query: z.ZodObject<Query>;
	readonly body: z.ZodObject<Body> | null;
	readonly input: z.ZodObject<Params & Query & Body>;
	readonly answer: Result;
}

export function endpoint<
	Result extends z.ZodType,
	Params extends Shape = Record<never, never>,
	Query extends Shape = Record<never, never>,
	Body extends Shape = Record<never, never>,
>(
	method: "get" | "post",
	path: string,
	spec: {
		readonly about: string;
		readonly params?: Params;
		readonly query?: Query;
		readonly body?: Body;
		readonly status?: 202;
		readonly answer: Result;
	},
): Endpoint<Params, Query, Body, Result> {
	const params = (spec.params ?? {}) as Params;
	const query = (spec.query ?? {}) as Query;
	const body = (spec.body ?? {}) as Body;
	return {
		method,
		path,
		about: spec.about,
		status: spec.status ?? 200,
		params: z.object(params),
		query: z.object(query),
		body: method === "post" ? z.strictObject(body) : null,
		input: z.object({ ...params, ...query, ...body }),
		answer: spec.answer,
	};
}

/** Same as a chat command. */
export function action<Body extends Shape, Result extends z.ZodType>(
	name: string,
	about: string,
	body: Body,
	answer: Result,
) {
	return endpoint("post", `/api/conversations/{conversation}/${name}`, {
		about,
		params: ofConversation,
		body,
		answer,
	});
}
