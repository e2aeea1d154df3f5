// The server's calls by name, typed by the server's schemas: `api.conversations({ limit: 50 })`.
import { calls } from "virtual:keryx-calls";
import type { ConfirmAnswer, ConfirmCallName, ConfirmInput } from "../../../src/http/confirm/schemas.ts";
import type { Answer, CallInput, EndpointName } from "../../../src/http/endpoints.ts";
import { request } from "./request.ts";

type CallName = EndpointName | ConfirmCallName;
type Input<Name extends CallName> = Name extends EndpointName
	? CallInput<Name>
	: Name extends ConfirmCallName
		? ConfirmInput<Name>
		: never;

type Api = {
	readonly [Name in CallName]: (
		...args: Record<never, never> extends Input<Name>
			? [input?: Input<Name>, signal?: AbortSignal]
			: [input: Input<Name>, signal?: AbortSignal]
	) => Promise<
		Name extends EndpointName ? Answer<Name> : Name extends ConfirmCallName ? ConfirmAnswer<Name> : never
	>;
};

export const api = Object.fromEntries(
	Object.keys(calls).map((name) => [
		name,
		(input?: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
			call(name as CallName, input, signal),
	]),
) as unknown as Api;

export function call(
	name: CallName,
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
