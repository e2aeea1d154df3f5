// Discord's limits for each bot: so many requests to one route of one channel within a window, and so many in all within a second.
import type { Clock } from "../../../src/time/index.ts";
import { ApiError } from "./errors.ts";

export interface Limits {
	/** To one route of one channel. */
	readonly perRoute: number;
	readonly windowMs: number;
	/** In any second, over all routes. Interactions do not count. */
	readonly global: number;
}

interface Window {
	used: number;
	resetAt: number;
}

export class Limiter {
	/** How often a request was turned away. */
	hits = 0;
	readonly #clock: Clock;
	readonly #limits: Limits | undefined;
	readonly #windows = new Map<string, Window>();
	/** When each bot made its last requests. */
	readonly #lately = new Map<string, number[]>();

	constructor(clock: Clock, limits: Limits | undefined) {
		this.#clock = clock;
		this.#limits = limits;
	}

	/** The headers for the answer. Throws 429. */
	take(bot: string, method: string, path: string): Record<string, string> {
		if (!this.#limits || path.startsWith("/interactions/") || path.startsWith("/webhooks/")) return {};
		const { perRoute, windowMs, global } = this.#limits;
		const now = this.#clock.monotonic();
		const lately = this.#lately.get(bot) ?? [];
		this.#lately.set(bot, lately);
		while ((lately[0] ?? now) <= now - 1000) lately.shift();
		if (lately.length >= global) {
			this.hits++;
			throw tooMany((lately[0] as number) + 1000 - now, {}, true);
		}
		lately.push(now);
		const major = /^\/(?:channels|guilds)\/(\d+)/.exec(path)?.[1] ?? "";
		const route = path.replaceAll(/\d{17,19}/g, "#");
		const key = `${bot} ${method} ${route} ${major}`;
		const before = this.#windows.get(key);
		const window = before && before.resetAt > now ? before : { used: 0, resetAt: now + windowMs };
		this.#windows.set(key, window);
		const headers = (remaining: number) => ({
			"x-ratelimit-limit": String(perRoute),
			"x-ratelimit-remaining": String(remaining),
			"x-ratelimit-reset": String((this.#clock.now() + window.resetAt - now) / 1000),
			"x-ratelimit-reset-after": String((window.resetAt - now) / 1000),
			"x-ratelimit-bucket": Buffer.from(`${method}${route}`).toString("base64url").slice(0, 32),
		});
		if (window.used >= perRoute) {
			this.hits++;
			throw tooMany(window.resetAt - now, headers(0), false);
		}
		window.used++;
		return headers(perRoute - window.used);
	}
}

export function tooMany(ms: number, headers: Readonly<Record<string, string>>, isGlobal: boolean): ApiError {
	const seconds = ms / 1000;
	return new ApiError(
		429,
		0,
		isGlobal ? "You are being rate limited globally." : "You are being rate limited.",
		{
			headers: {
				...headers,
				"retry-after": String(seconds),
				"x-ratelimit-scope": isGlobal ? "global" : "user",
				...(isGlobal && { "x-ratelimit-global": "true" }),
			},
			more: { retry_after: seconds, global: isGlobal },
		},
	);
}
