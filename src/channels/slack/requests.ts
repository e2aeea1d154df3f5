// Events over HTTP: Slack's posts to the channel's address. Only the signature proves that Slack sent them. It covers the time and the
// whole body, and is valid for five minutes.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelRequest } from "../../gateway/index.ts";
import type { Happening } from "./events.ts";

const WINDOW_SECONDS = 300;

export type Posted =
	| { readonly kind: "happening"; readonly happening: Happening; readonly isRetry: boolean }
	/** Slack verifies the address. */
	| { readonly kind: "challenge"; readonly text: string }
	/** From Slack, without content. */
	| { readonly kind: "nothing" }
	| { readonly kind: "refused" };

/** `now` in milliseconds. Rejects only if the body cannot be read. */
export async function readPosted(
	request: ChannelRequest,
	secret: () => Promise<string>,
	now: number,
): Promise<Posted> {
	const timestamp = request.header("x-slack-request-timestamp") ?? "";
	const [, given] = /^v0=([0-9a-f]{64})$/.exec(request.header("x-slack-signature") ?? "") ?? [];
	if (given === undefined || !isRecent(timestamp, now)) return { kind: "refused" };
	const body = await request.body();
	const right = createHmac("sha256", await secret())
		.update(`v0:${timestamp}:`)
		.update(body)
		.digest();
	if (!timingSafeEqual(right, Buffer.from(given, "hex"))) return { kind: "refused" };
	return postedOf(Buffer.from(body).toString(), request);
}

function isRecent(timestamp: string, now: number): boolean {
	return /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= WINDOW_SECONDS;
}

/** Events are JSON; presses and slash commands are forms. */
function postedOf(body: string, request: ChannelRequest): Posted {
	const isForm = request.header("content-type")?.startsWith("application/x-www-form-urlencoded") ?? false;
	if (!isForm) {
		const payload = parsed(body);
		if (payload?.type === "url_verification") return { kind: "challenge", text: String(payload.challenge) };
		if (payload?.type !== "event_callback" || !isObject(payload.event)) return { kind: "nothing" };
		const isRetry = request.header("x-slack-retry-num") !== undefined;
		return { kind: "happening", happening: { kind: "events_api", payload }, isRetry };
	}
	const fields = Object.fromEntries(new URLSearchParams(body));
	if (fields.payload !== undefined) {
		const payload = parsed(fields.payload);
		return payload
			? { kind: "happening", happening: { kind: "interactive", payload }, isRetry: false }
			: { kind: "nothing" };
	}
	if (fields.command === undefined || fields.ssl_check !== undefined) return { kind: "nothing" };
	return { kind: "happening", happening: { kind: "slash_commands", payload: fields }, isRetry: false };
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
	try {
		const value = JSON.parse(text) as unknown;
		return isObject(value) ? value : null;
	} catch {
		return null;
	}
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
