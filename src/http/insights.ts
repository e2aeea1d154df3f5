// Statistics of the last days: sums per calendar day of a zone, and in total tool errors, ends of sessions and waiting times.
import { z } from "@hono/zod-openapi";
import { isTimeZone, localDays } from "../domain/index.ts";
import { readInsights, type Spent } from "../store/index.ts";
import type { HandlersOf } from "./call.ts";
import { endpoint } from "./endpoint.ts";
import { time } from "./schemas.ts";

const count = z.int();
const byName = z.record(z.string(), count);
const milliseconds = z.number().nullable();
const cost = z.object({ currency: z.string(), micros: count });

const spent = z.object({
	calls: count,
	tokens: z.object({ input: count, cached_input: count, output: count }),
	costs: z.array(cost).openapi({ description: "in millionths of the currency" }),
	unpriced_calls: count,
});

const day = z
	.object({
		date: z.string().openapi({ example: "2026-03-29" }),
		from: time,
		to: time.openapi({ description: "where the next day begins" }),
		messages: z
			.object({ in: count, out: count, tool_results: count })
			.openapi({ description: "out: what the agent wrote, including steps that only call tools" }),
		tokens: z.object({ input: count, cached_input: count, output: count }),
		costs: z.array(cost).openapi({ description: "in millionths of the currency" }),
		unpriced_calls: count.openapi({ description: "model calls without a known price" }),
		turns: byName.openapi({ description: "turns started on this day, by their state now" }),
	})
	.openapi("InsightsDay");

export const insightsEndpoints = {
	insights: endpoint("get", "/api/insights", {
		about: "statistics for the last days, per day and in total",
		query: {
			days: z.coerce.number().int().min(1).max(366).default(30),
			platform: z.string().min(1).max(64).optional(),
			time_zone: z
				.string()
				.max(64)
				.refine(isTimeZone, "must be the name of a time zone, such as Europe/Berlin")
				.optional()
				.openapi({ description: "whose days; left out: session_reset.timezone" }),
		},
		answer: z.object({
			time_zone: z.string(),
			platform: z.string().nullable(),
			days: z
				.array(day)
				.openapi({ description: "oldest first, today last, including days without activity" }),
			tool_errors: z
				.array(
					z.object({ from: count, to: count.nullable(), results: count, errors: count }).openapi({
						description: "to is null in the last one: everything after it",
					}),
				)
				.openapi({ description: "tool results by their position in the session, in rows" }),
			people: z
				.array(
					spent.extend({
						principal: z.string().nullable(),
						name: z.string().nullable().openapi({ description: "the name they use, if known" }),
					}),
				)
				.openapi({ description: "by the person who was answered, at most 50, most tokens first" }),
			profiles: z
				.array(spent.extend({ profile: z.string().openapi({ description: "'' is the main one" }) }))
				.openapi({ description: "by profile, the most tokens first" }),
			boundaries: byName.openapi({ description: "sessions that ended, by reason" }),
			latency: z
				.object({ count, p50_ms: milliseconds, p95_ms: milliseconds, p99_ms: milliseconds })
				.openapi({ description: "from accepting a message to its answer; exact to three digits" }),
			platforms: z
				.array(z.object({ platform: z.string(), conversations: count }))
				.openapi({ description: "with conversations that have been active since, whichever was asked for" }),
		}),
	}),
} as const;

export const insightsHandlers: HandlersOf<typeof insightsEndpoints> = {
	insights: async ({ days, platform, time_zone }, { host }) => {
		const timeZone = time_zone ?? host.timeZone?.() ?? "UTC";
		const period = await readInsights(host.store, localDays(host.now(), timeZone, days), {
			...(platform !== undefined && { platform }),
		});
		const { count, p50, p95, p99 } = period.latency;
		return {
			time_zone: timeZone,
			platform: platform ?? null,
			days: period.days.map(({ date, from, to, messages, turns, spent }) => ({
				date,
				from: new Date(from).toISOString(),
				to: new Date(to).toISOString(),
				messages: { in: messages.in, out: messages.out, tool_results: messages.toolResults },
				tokens: {
					input: spent.inputTokens,
					cached_input: spent.cachedInputTokens,
					output: spent.outputTokens,
				},
				costs: [...spent.costs],
				unpriced_calls: spent.unpriced,
				turns: { ...turns },
			})),
			tool_errors: [...period.positions],
			people: period.people.map(({ principal, name, ...of }) => ({ principal, name, ...toWireSpent(of) })),
			profiles: period.profiles.map(({ profile, ...of }) => ({ profile, ...toWireSpent(of) })),
			boundaries: { ...period.boundaries },
			latency: { count, p50_ms: p50, p95_ms: p95, p99_ms: p99 },
			platforms: [...period.platforms],
		};
	},
};

function toWireSpent({ calls, inputTokens, outputTokens, cachedInputTokens, costs, unpriced }: Spent) {
	return {
		calls,
		tokens: { input: inputTokens, cached_input: cachedInputTokens, output: outputTokens },
		costs: [...costs],
		unpriced_calls: unpriced,
	};
}
