// Everything in /metrics: counters from events, gauges from the store, and the process.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { OPERATOR, type Workload } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import type { ApiHost } from "../call.ts";
import { Histogram, type Metric, type Samples, textOf } from "./prometheus.ts";
import { Tally } from "./tally.ts";

const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export class Meter {
	readonly #host: ApiHost;
	readonly #closing: AbortSignal;
	readonly #tally: Tally;
	readonly #monotonic: () => number;
	readonly #began: number;
	readonly #commits = new Histogram(COMMIT_SECONDS);
	/** Measured from the first request on: a gauge of the time between two requests. */
	#delay: ReturnType<typeof monitorEventLoopDelay> | null = null;

	constructor(host: ApiHost, closing: AbortSignal) {
		this.#host = host;
		this.#closing = closing;
		this.#tally = new Tally(host.store);
		this.#monotonic = host.monotonic ?? systemClock.monotonic;
		this.#began = this.#monotonic();
	}

	/** Counts from here on; otherwise from the first request on. */
	async start(): Promise<void> {
		const { store, after = systemClock.after } = this.#host;
		const unlisten = store.onWritten((ms) => this.#commits.add(ms / 1000));
		this.#closing.addEventListener("abort", unlisten, { once: true });
		await this.#tally.start(after, this.#closing);
	}

	async read(): Promise<string> {
		const { store } = this.#host;
		const delays = this.#delays();
		const [workload, nodes] = await Promise.all([
			store.workload({ scope: OPERATOR }),
			store.nodes({ scope: OPERATOR }),
			this.#tally.catchUp(),
		]);
		const { rss, heapUsed } = process.memoryUsage();
		return textOf([
			gauge("keryx_uptime_seconds", "since it was started", [[{}, (this.#monotonic() - this.#began) / 1000]]),
			...this.#tally.metrics,
			...this.#waiting(workload),
			...this.#channels(),
			gauge("keryx_nodes", "gateways that use this store", [[{}, nodes.length]]),
			gauge("keryx_lease_held", "1 while this gateway may send and call tools", [
				[{}, Number(store.cluster?.holdsLease ?? true)],
			]),
			{
				name: "keryx_commit_seconds",
				type: "histogram",
				help: "from asking the store to write something until that was committed",
				samples: this.#commits.samples,
			},
			gauge("keryx_event_loop_delay_seconds", "since the last look", delays),
			gauge("keryx_memory_bytes", "of this process", [
				[{ kind: "rss" }, rss],
				[{ kind: "heap_used" }, heapUsed],
			]),
		]);
	}

	#waiting({ inbox, turns, deliveries, confirmations }: Workload): Metric[] {
		const { oldestAt } = deliveries;
		const age = oldestAt === null ? 0 : Math.max(0, this.#host.now() - oldestAt) / 1000;
		return [
			gauge("keryx_inbox_waiting", "accepted messages that no turn has taken yet", [[{}, inbox]]),
			gauge("keryx_turns_open", "turns that are running or were interrupted", [[{}, turns]]),
			gauge("keryx_deliveries", "deliveries waiting to be sent, and those that ended unknown or dead", [
				[{ state: "waiting" }, deliveries.waiting],
				[{ state: "unsettled" }, deliveries.unsettled],
			]),
			gauge("keryx_outbox_oldest_seconds", "age of the oldest delivery that waits; 0: none does", [
				[{}, age],
			]),
			gauge(
				"keryx_confirmations",
				"confirmations by status",
				Object.entries({ pending: 0, ...confirmations }).map(([status, n]) => [{ status }, n]),
			),
		];
	}

	#channels(): Metric[] {
		const { gateway, now } = this.#host;
		const all = gateway?.health() ?? [];
		return [
			gauge(
				"keryx_channel_connected",
				"1 for a channel that is connected",
				all
					.filter(({ isElsewhere }) => !isElsewhere)
					.map(({ name, state }) => [{ channel: name }, Number(state === "connected")]),
			),
			gauge(
				"keryx_channel_alive_age_seconds",
				"since a channel's platform last answered",
				all.flatMap(({ name, aliveAt }) =>
					aliveAt === null ? [] : [[{ channel: name }, Math.max(0, now() - aliveAt) / 1000] as const],
				),
			),
		];
	}

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

function gauge(name: string, help: string, samples: Samples): Metric {
	return { name, type: "gauge", help, samples };
}

/** From nanoseconds; NaN if nothing was measured. */
function seconds(nanoseconds: number): number {
	return Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0;
}
