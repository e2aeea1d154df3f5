// What a monitor asks: whether Keryx can do its work (/ready), and how much of it there is (/metrics, in Prometheus' text form).
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createRoute, z } from "@hono/zod-openapi";
import { type EventType, OPERATOR, type Store, type StoreEvent, type Workload } from "../store/index.ts";
import { systemClock } from "../time/index.ts";
import type { ApiHost } from "./call.ts";
import type { App } from "./environment.ts";
import { toKeryxError } from "./errors.ts";
import { channel } from "./schemas.ts";
import { toWireChannel } from "./wire.ts";

const PAGE = 1000;

export function addObservation(app: App, host: ApiHost, closing: AbortSignal): void {
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
		const answer = await readinessOf(host);
		return c.json(answer, answer.ready ? 200 : 503);
	});
	const metricsRoute = createRoute({
		operationId: "metrics",
		method: "get",
		path: "/metrics",
		summary: "metrics for Prometheus; counters start when this process is first asked",
		responses: { 200: { description: "the numbers", content: { "text/plain": { schema: z.string() } } } },
	});
	const meter = new Meter(host, closing);
	app.openapi(metricsRoute, async (c) =>
		c.text(await meter.read(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
	);
}

async function readinessOf({ store, gateway, now }: ApiHost) {
	const problem = await store.proveWritable().then(
		() => undefined,
		(error: unknown) => toKeryxError(error).message,
	);
	const channels = (gateway?.health() ?? []).map((one) => ({
		...toWireChannel(one),
		age_seconds: one.aliveAt === null ? null : Math.max(0, (now() - one.aliveAt) / 1000),
	}));
	const writable = problem === undefined;
	return {
		ready: writable && gateway !== null && channels.every(({ state }) => state === "connected"),
		store: { writable, ...(problem !== undefined && { problem }) },
		channels,
	};
}

class Meter {
	readonly #host: ApiHost;
	readonly #closing: AbortSignal;
	readonly #tally: Tally;
	readonly #monotonic: () => number;
	readonly #began: number;
	#delay: ReturnType<typeof monitorEventLoopDelay> | null = null;

	constructor(host: ApiHost, closing: AbortSignal) {
		this.#host = host;
		this.#closing = closing;
		this.#tally = new Tally(host.store);
		this.#monotonic = host.monotonic ?? systemClock.monotonic;
		this.#began = this.#monotonic();
	}

	async read(): Promise<string> {
		const { store } = this.#host;
		const uptime = (this.#monotonic() - this.#began) / 1000;
		const [workload] = await Promise.all([store.workload({ scope: OPERATOR }), this.#tally.catchUp()]);
		const { rss, heapUsed } = process.memoryUsage();
		return [
			...metric("keryx_uptime_seconds", "gauge", "since it was started", [[{}, uptime]]),
			...workLines(workload),
			...metric("keryx_events_total", "counter", "what happened, by type of event", this.#tally.events),
			...metric("keryx_turns_total", "counter", "turns that ended, by outcome", this.#tally.outcomes),
			...metric("keryx_event_loop_delay_seconds", "gauge", "since the last look", this.#delays()),
			...metric("keryx_memory_bytes", "gauge", "of this process", [
				[{ kind: "rss" }, rss],
				[{ kind: "heap_used" }, heapUsed],
			]),
			"",
		].join("\n");
	}

	/** Measured from the first look on: nobody pays for what nobody reads. */
	#delays(): Samples {
		if (!this.#delay) {
			const delay = monitorEventLoopDelay({ resolution: 20 });
			delay.enable();
			this.#closing.addEventListener("abort", () => delay.disable(), { once: true });
			this.#delay = delay;
			return [];
		}
		const { mean, max } = this.#delay;
		const p99 = this.#delay.percentile(99);
		this.#delay.reset();
		return [
			[{ of: "mean" }, seconds(mean)],
			[{ of: "p99" }, seconds(p99)],
			[{ of: "max" }, seconds(max)],
		];
	}
}

/** Counts the events since the look before; what was pruned in between is not counted. */
class Tally {
	readonly #store: Pick<Store, "events">;
	readonly #events = new Map<EventType, number>();
	readonly #outcomes = new Map<string, number>();
	#cursor = "now";
	#working: Promise<void> | null = null;

	constructor(store: Pick<Store, "events">) {
		this.#store = store;
	}

	get events(): Samples {
		return [...this.#events].map(([type, n]) => [{ type }, n]);
	}

	get outcomes(): Samples {
		return [...this.#outcomes].map(([outcome, n]) => [{ outcome }, n]);
	}

	/** Two looks at once count together, not twice. */
	catchUp(): Promise<void> {
		this.#working ??= this.#count().finally(() => {
			this.#working = null;
		});
		return this.#working;
	}

	async #count(): Promise<void> {
		for (;;) {
			const page = await this.#store.events({ scope: OPERATOR, after: this.#cursor, limit: PAGE });
			this.#cursor = page.cursor;
			if (page.kind === "resync") return;
			for (const event of page.events) this.#add(event);
			if (page.events.length < PAGE) return;
		}
	}

	#add({ type, facts }: StoreEvent): void {
		this.#events.set(type, (this.#events.get(type) ?? 0) + 1);
		if (type === "turn.ended")
			this.#outcomes.set(facts.outcome, (this.#outcomes.get(facts.outcome) ?? 0) + 1);
	}
}

type Samples = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

function workLines({ inbox, turns, deliveries, confirmations }: Workload): string[] {
	return [
		...metric("keryx_inbox_waiting", "gauge", "accepted messages that no turn has taken yet", [[{}, inbox]]),
		...metric("keryx_turns_open", "gauge", "turns that are running or were interrupted", [[{}, turns]]),
		...metric(
			"keryx_deliveries",
			"gauge",
			"deliveries waiting to be sent, and those that ended unknown or dead",
			[
				[{ state: "waiting" }, deliveries.waiting],
				[{ state: "unsettled" }, deliveries.unsettled],
			],
		),
		...metric(
			"keryx_confirmations",
			"gauge",
			"confirmations by status",
			Object.entries(confirmations).map(([status, n]) => [{ status }, n]),
		),
	];
}

function metric(name: string, type: "gauge" | "counter", help: string, samples: Samples): string[] {
	return [
		`# HELP ${name} ${help}`,
		`# TYPE ${name} ${type}`,
		...samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}`),
	];
}

function labelled(labels: Readonly<Record<string, string>>): string {
	const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
	return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** From nanoseconds; NaN where nothing was measured. */
function seconds(nanoseconds: number): number {
	return Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0;
}
