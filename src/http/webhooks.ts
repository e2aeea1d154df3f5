// Incoming webhooks: a holder of a route's secret puts a message into the route's conversation. Only the signature authenticates the
// caller; it covers the time, the route and the whole body, is valid for five minutes, and is accepted once: it is the message's id, so
// the store itself refuses a second one. The body is a guest's text, never a command.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import { KeryxError } from "../errors.ts";
import { type ApiHost, running } from "./call.ts";
import { type Rates, readBody } from "./entry/guards.ts";
import type { App } from "./environment.ts";

const WINDOW_SECONDS = 300;

export function addWebhooks(
	app: App,
	host: ApiHost,
	{ limit, rates }: { readonly limit: number; readonly rates: Rates },
): void {
	const routes = new Map((host.webhooks ?? []).map((route) => [route.name, route]));
	app.openapi(hookRoute, async (c) => {
		if (c.env.entrance.kind === "compat")
			throw new KeryxError("http.no_route", `there is no POST ${c.req.path}`);
		const body = (await readBody(c.req.raw, limit)) ?? new Uint8Array();
		const { name } = c.req.valid("param");
		const route = routes.get(name);
		const signed = {
			name,
			timestamp: c.req.header("x-keryx-timestamp"),
			signature: c.req.header("x-keryx-signature"),
			body,
		};
		const signature = signatureOf(signed, route?.secret, host.now());
		if (signature instanceof KeryxError || !route) {
			rates.assertStranger(c);
			throw signature instanceof KeryxError ? signature : notSigned();
		}
		if (c.env.entrance.kind !== "socket") rates.assert(c, `hook:${name}`);
		const { id, conversation, duplicate, refused } = await running(host).accept({
			source: {
				platform: "webhook",
				chat_id: name,
				chat_name: name,
				chat_type: "webhook",
				...(route.profile !== null && { profile: route.profile }),
			},
			platformMessage: signature,
			content: `The webhook ${name} says:\n\n${textOf(route.text, decoded(body))}`,
			transport: { mayChooseProfile: true, role: "guest" },
		});
		if (duplicate) throw new KeryxError("webhook.replayed", `this was already accepted, as message ${id}`);
		return c.json({ id, conversation, refused }, 202);
	});
}

const hookRoute = createRoute({
	operationId: "webhook",
	method: "post",
	path: "/hooks/{name}",
	summary: "a message from a configured webhook; signed, without a token",
	security: [],
	request: {
		params: z.object({ name: z.string().max(64) }),
		headers: z.object({
			"x-keryx-timestamp": z.string().optional().openapi({ description: "seconds since 1970" }),
			"x-keryx-signature": z
				.string()
				.optional()
				.openapi({ description: "sha256= and HMAC-SHA256 of `<timestamp>.<name>.<body>` in hexadecimal" }),
		}),
	},
	responses: {
		202: {
			description: "it is stored",
			content: {
				"application/json": {
					schema: z.object({
						id: z.int(),
						conversation: z.string().nullable(),
						refused: z.string().nullable(),
					}),
				},
			},
		},
	},
});

/** In canonical spelling, or why it is invalid. An unknown route is refused like a wrong signature, after the same amount of work. */
function signatureOf(
	{
		name,
		timestamp = "",
		signature = "",
		body,
	}: {
		readonly name: string;
		readonly timestamp: string | undefined;
		readonly signature: string | undefined;
		readonly body: Uint8Array;
	},
	secret: string | undefined,
	now: number,
): string | KeryxError {
	const [, given] = /^sha256=([0-9a-f]{64})$/i.exec(signature) ?? [];
	if (given === undefined || !/^\d{1,12}$/.test(timestamp)) return notSigned();
	if (Math.abs(now / 1000 - Number(timestamp)) > WINDOW_SECONDS)
		return new KeryxError("webhook.refused", "the timestamp is more than five minutes off");
	const right = createHmac("sha256", secret ?? "none")
		.update(`${timestamp}.${name}.`)
		.update(body)
		.digest();
	if (!timingSafeEqual(right, Buffer.from(given, "hex")) || secret === undefined) return notSigned();
	return given.toLowerCase();
}

function notSigned(): KeryxError {
	return new KeryxError("webhook.refused", "this is not signed with the secret of a route");
}

function decoded(body: Uint8Array): string {
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
		if (text.trim() !== "") return text;
	} catch (cause) {
		throw new KeryxError("argument.invalid", "the body must be text in UTF-8", { field: "body", cause });
	}
	throw new KeryxError("argument.invalid", "the body must not be empty", { field: "body" });
}

function textOf(template: string | null, body: string): string {
	if (template === null) return body;
	const json = parsed(body);
	return template.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) =>
		path === "body" ? body : shown(path.split(".").reduce(within, json)),
	);
}

function parsed(body: string): unknown {
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

function within(value: unknown, name: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
	return (value as Readonly<Record<string, unknown>>)[name];
}

function shown(value: unknown): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : JSON.stringify(value);
}
