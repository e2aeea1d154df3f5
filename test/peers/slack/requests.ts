// Events over HTTP: each is a signed request to the app's address. Slack waits three seconds for 200.
import { createHmac } from "node:crypto";
import type { Clock } from "../../../src/time/index.ts";
import type { Envelope, EnvelopeType } from "./sockets.ts";

export interface RequestUrl {
	readonly url: string;
	readonly signingSecret: string;
}

/** As Slack signs a body. */
export function signed(body: string, secret: string, seconds: number): Readonly<Record<string, string>> {
	const signature = createHmac("sha256", secret).update(`v0:${seconds}:${body}`).digest("hex");
	return { "x-slack-request-timestamp": String(seconds), "x-slack-signature": `v0=${signature}` };
}

export function bodyOf(
	type: EnvelopeType,
	payload: Readonly<Record<string, unknown>>,
): { readonly body: string; readonly contentType: string } {
	if (type === "events_api") return { body: JSON.stringify(payload), contentType: "application/json" };
	const fields =
		type === "interactive" ? { payload: JSON.stringify(payload) } : (payload as Record<string, string>);
	return {
		body: new URLSearchParams(fields).toString(),
		contentType: "application/x-www-form-urlencoded",
	};
}

/** Answers why it failed, in Slack's words; null where it was taken. */
export async function post(
	{ type, payload, attempts }: Pick<Envelope, "type" | "payload" | "attempts">,
	{ url, signingSecret }: RequestUrl,
	{ clock, ackMs, reason }: { readonly clock: Clock; readonly ackMs: number; readonly reason: string },
): Promise<string | null> {
	const { body, contentType } = bodyOf(type, payload);
	const giveUp = new AbortController();
	const cancel = clock.after(ackMs, () => giveUp.abort());
	try {
		const answer = await fetch(url, {
			method: "POST",
			body,
			redirect: "manual",
			signal: giveUp.signal,
			headers: {
				"content-type": contentType,
				"user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
				...signed(body, signingSecret, Math.floor(clock.now() / 1000)),
				...(attempts > 1 && { "x-slack-retry-num": String(attempts - 1), "x-slack-retry-reason": reason }),
			},
		});
		await answer.text();
		return answer.ok ? null : "http_error";
	} catch {
		return giveUp.signal.aborted ? "http_timeout" : "connection_failed";
	} finally {
		cancel();
	}
}

/** Slack tries an address before it takes it: whoever is there must sign nothing, but answer with the challenge. */
export async function verify({ url, signingSecret }: RequestUrl, clock: Clock): Promise<boolean> {
	const challenge = `challenge-${Math.floor(clock.now())}`;
	const body = JSON.stringify({ token: "verification", challenge, type: "url_verification" });
	const answer = await fetch(url, {
		method: "POST",
		body,
		headers: {
			"content-type": "application/json",
			...signed(body, signingSecret, Math.floor(clock.now() / 1000)),
		},
	});
	return answer.ok && (await answer.text()) === challenge;
}
