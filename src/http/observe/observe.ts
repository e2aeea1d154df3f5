// For monitors: whether Keryx can work (/ready), and how much there is (/metrics, Prometheus text format).
import { createRoute, z } from "@hono/zod-openapi";
import type { ApiHost } from "../call.ts";
import { variablesFor } from "../entry/secret-names.ts";
import type { App } from "../environment.ts";
import { toKeryxError } from "../errors.ts";
import { channel } from "../schemas.ts";
import { toWireChannel } from "../wire.ts";
import { Meter } from "./meter.ts";

export function addObservation(app: App, host: ApiHost, closing: AbortSignal): Meter {
	const readiness = z
		.object({
			ready: z.boolean(),
			store: z.object({ writable: z.boolean(), problem: z.string().optional() }),
			channels: z.array(channel.extend({ age_seconds: z.number().nullable() })),
		})
		.openapi("Readiness");
	const content = { "application/json": { schema: readiness } };
	const readyRoute = createRoute({
		operationId: "ready",
		method: "get",
		path: "/ready",
		summary: "whether the store is writable, and when each channel last showed a sign of life",
		responses: {
			200: { description: "work can be accepted", content },
			503: { description: "it cannot", content },
		},
	});
	app.openapi(readyRoute, async (c) => {
		const answer = await readinessOf(host, variablesFor(c.get("visitor"), host));
		return c.json(answer, answer.ready ? 200 : 503);
	});
	const metricsRoute = createRoute({
		operationId: "metrics",
		method: "get",
		path: "/metrics",
		summary: "metrics for Prometheus; counters start with the process",
		responses: { 200: { description: "the numbers", content: { "text/plain": { schema: z.string() } } } },
	});
	const meter = new Meter(host, closing);
	app.openapi(metricsRoute, async (c) =>
		c.text(await meter.read(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
	);
	return meter;
}

async function readinessOf({ store, gateway, now }: ApiHost, shown: (text: string) => string) {
	const problem = await store.proveWritable().then(
		() => undefined,
		(error: unknown) => toKeryxError(error).message,
	);
	const health = gateway?.health() ?? [];
	const channels = health.map((one) => ({
		...toWireChannel(one, shown),
		age_seconds: one.aliveAt === null ? null : Math.max(0, (now() - one.aliveAt) / 1000),
	}));
	const writable = problem === undefined;
	return {
		ready:
			writable &&
			store.cluster?.holdsLease !== false &&
			gateway !== null &&
			health.every(({ state, isElsewhere }) => state === "connected" || isElsewhere),
		store: { writable, ...(problem !== undefined && { problem }) },
		channels,
	};
}
