// The server's calls by name, typed by the server's schemas: `api.conversations({ limit: 50 })`.
import { calls } from "virtual:keryx-calls";
import type { Answer, CallInput, EndpointName } from "../../../src/http/endpoints.ts";
import { request } from "./request.ts";

type Api = {
	readonly [Name in EndpointName]: (
		...args: Record<never, never> extends CallInput<Name>
			? [input?: CallInput<Name>, signal?: AbortSignal]
			: [input: CallInput<Name>, signal?: AbortSignal]
	) => Promise<Answer<Name>>;
};

export const api = Object.fromEntries(
	Object.keys(calls).map((name) => [
		name,
		(input?: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
			call(name as EndpointName, input, signal),
	]),
) as unknown as Api;

export function call(
	name: EndpointName,
	input: Readonly<Record<string, unknown>> = {},
	signal?: AbortSignal,
): Promise<unknown> {
	const { method, path, query } = calls[name] as (typeof calls)[string];
	const placed = new Set(query);
	const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
		placed.add(field);
		return encodeURIComponent(String(input[field]));
	});
	const body = Object.fromEntries(Object.entries(input).filter(([field]) => !placed.has(field)));
	const asked = Object.fromEntries(query.map((field) => [field, input[field] as string | undefined]));
	return request(method, filled, { query: asked, signal, ...(method === "POST" && { body }) });
}
