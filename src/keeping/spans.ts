// A message's path as OpenTelemetry spans, made from the event log: a turn is a trace, with its waiting time, model steps, tools and
// deliveries below it. Spans hold ids and names, never text.
import { createHash } from "node:crypto";
import type { StoreEvent } from "../store/index.ts";

export interface Span {
	/** 32 hexadecimal digits. */
	readonly traceId: string;
	/** 16 hexadecimal digits. */
	readonly spanId: string;
	readonly parentSpanId?: string;
	readonly name: string;
	readonly startedAt: number;
	readonly endedAt: number;
	readonly isError: boolean;
	readonly attributes: Readonly<Record<string, string | number>>;
}

/** Remembered until they end; forgotten ones have no span. */
const MOST_OPEN = 10_000;

export class Spans {
	/** By the id of the inbox item. */
	readonly #accepted = new Map<string, number>();
	readonly #turns = new Map<string, OpenTurn>();
	/** By the id of the delivery. */
	readonly #deliveries = new Map<string, { readonly turn: string; readonly at: number }>();

	/** The spans that an event ended. */
	add(event: StoreEvent): Span[] {
		const { type, turn, at, subject } = event;
		if (type === "inbound.accepted" && subject !== null) put(this.#accepted, subject, at);
		if (turn === null) return [];
		if (type === "turn.begun") put(this.#turns, turn, { begunAt: at, stepFrom: at, tool: null, steps: 0 });
		if (type === "delivery.pending" && subject !== null) put(this.#deliveries, subject, { turn, at });
		if (/^delivery\.(?:sent|dead|unknown)$/.test(type)) return this.#delivered(event);
		const open = this.#turns.get(turn);
		return open ? this.#within(turn, open, event) : [];
	}

	#within(turn: string, open: OpenTurn, event: StoreEvent): Span[] {
		const { type, at, conversation } = event;
		const part = (name: string, id: string, from: number, more: Partial<Span> = {}): Span => ({
			traceId: hex(turn, 32),
			spanId: hex(`${turn} ${id}`, 16),
			parentSpanId: hex(`${turn} turn`, 16),
			name,
			startedAt: from,
			endedAt: at,
			isError: false,
			attributes: {},
			...more,
		});
		if (event.type === "message.appended") {
			const { inbound, role } = event.facts;
			const accepted = inbound === undefined ? undefined : this.#accepted.get(String(inbound));
			if (accepted !== undefined) {
				this.#accepted.delete(String(inbound));
				return [
					part("accept", `accept ${inbound}`, accepted, { attributes: { "keryx.inbound": inbound ?? 0 } }),
				];
			}
			if (role !== "tool" || open.tool === null) return [];
			const { name, at: from } = open.tool;
			open.tool = null;
			open.stepFrom = at;
			return [part("tool", `tool ${at} ${name}`, from, { attributes: { "keryx.tool": name } })];
		}
		if (event.type === "call.started") open.tool = { name: event.facts.tool, at };
		if (event.type === "model.called") {
			const from = open.stepFrom;
			open.stepFrom = at;
			open.steps++;
			return [
				part("model step", `step ${open.steps}`, from, {
					isError: event.facts.status === "error",
					attributes: { "keryx.step": open.steps, "keryx.status": event.facts.status },
				}),
			];
		}
		if (event.type !== "turn.ended") return [];
		this.#turns.delete(turn);
		const { outcome } = event.facts;
		return [
			{
				traceId: hex(turn, 32),
				spanId: hex(`${turn} turn`, 16),
				name: type === "turn.ended" ? "turn" : type,
				startedAt: open.begunAt,
				endedAt: at,
				isError: outcome === "failed",
				attributes: {
					"keryx.turn": turn,
					"keryx.conversation": conversation ?? "",
					"keryx.outcome": outcome,
				},
			},
		];
	}

	#delivered({ type, subject, at }: StoreEvent): Span[] {
		const open = subject === null ? undefined : this.#deliveries.get(subject);
		if (subject === null || !open) return [];
		this.#deliveries.delete(subject);
		return [
			{
				traceId: hex(open.turn, 32),
				spanId: hex(`${open.turn} ${subject}`, 16),
				parentSpanId: hex(`${open.turn} turn`, 16),
				name: "delivery",
				startedAt: open.at,
				endedAt: at,
				isError: type !== "delivery.sent",
				attributes: { "keryx.delivery": subject, "keryx.state": type.slice("delivery.".length) },
			},
		];
	}
}

interface OpenTurn {
	readonly begunAt: number;
	/** A model step begins where the previous step ended. */
	stepFrom: number;
	tool: { readonly name: string; readonly at: number } | null;
	steps: number;
}

function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
	if (map.size >= MOST_OPEN) map.clear();
	map.set(key, value);
}

/** The same for the same text, everywhere. */
function hex(text: string, digits: number): string {
	return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
