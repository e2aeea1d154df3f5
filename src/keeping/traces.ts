// Sends spans to a collector by OTLP over HTTP, as JSON. Off unless an address is configured. Nothing waits for it: what cannot be sent
// is dropped, and the log says so.
import { OPERATOR, type Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { GatewayLog } from "./log.ts";
import { type Span, Spans } from "./spans.ts";

const GATHER_MS = 2000;
const PAGE = 500;
const SEND_MS = 10_000;

interface TracesOptions {
	readonly store: Pick<Store, "events" | "onCommit">;
	readonly clock: Pick<Clock, "after">;
	/** The collector's address, such as http://127.0.0.1:4318; null: off. Read each time. */
	readonly endpoint: () => string | null;
	readonly version: string;
	readonly log: GatewayLog;
}

export function startTraces({ store, clock, endpoint, version, log }: TracesOptions): {
	readonly end: () => Promise<void>;
} {
	const spans = new Spans();
	let cursor = "now";
	let waiting: (() => void) | null = null;
	let working: Promise<void> = Promise.resolve();
	const look = async (): Promise<void> => {
		waiting = null;
		const finished: Span[] = [];
		for (;;) {
			const page = await store.events({ scope: OPERATOR, after: cursor, limit: PAGE });
			cursor = page.cursor;
			if (page.kind === "resync") break;
			finished.push(...page.events.flatMap((event) => spans.add(event)));
			if (page.events.length < PAGE) break;
		}
		const to = endpoint();
		if (to !== null && finished.length > 0) await send(to, finished, version);
	};
	const soon = (): Promise<void> => {
		working = working.then(look).catch((error: unknown) => {
			log.write("warn", "traces", "not_sent", { error: (error as Error).message });
		});
		return working;
	};
	if (endpoint() !== null) void soon();
	const unlisten = store.onCommit(() => {
		if (endpoint() !== null) waiting ??= clock.after(GATHER_MS, () => void soon());
	});
	return {
		end: async () => {
			unlisten();
			waiting?.();
			if (endpoint() !== null) await soon();
			await working;
		},
	};
}

async function send(endpoint: string, spans: readonly Span[], version: string): Promise<void> {
	const response = await fetch(new URL("/v1/traces", endpoint), {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(toOtlp(spans, version)),
		signal: AbortSignal.timeout(SEND_MS),
	});
	await response.body?.cancel();
	if (!response.ok) throw new Error(`the collector answered ${response.status}`);
}

function toOtlp(spans: readonly Span[], version: string): object {
	return {
		resourceSpans: [
			{
				resource: { attributes: attributesOf({ "service.name": "keryx", "service.version": version }) },
				scopeSpans: [{ scope: { name: "keryx", version }, spans: spans.map(toOtlpSpan) }],
			},
		],
	};
}

const INTERNAL = 1;
const STATUS = { unset: 0, error: 2 } as const;

function toOtlpSpan({ startedAt, endedAt, isError, attributes, ...span }: Span): object {
	return {
		...span,
		kind: INTERNAL,
		startTimeUnixNano: nanoseconds(startedAt),
		endTimeUnixNano: nanoseconds(Math.max(startedAt, endedAt)),
		attributes: attributesOf(attributes),
		status: { code: isError ? STATUS.error : STATUS.unset },
	};
}

/** As text: JSON numbers are too short for them. */
function nanoseconds(ms: number): string {
	return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

function attributesOf(values: Readonly<Record<string, string | number>>): object[] {
	return Object.entries(values).map(([key, value]) => ({
		key,
		value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
	}));
}
