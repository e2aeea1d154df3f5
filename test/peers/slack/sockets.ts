// How events get to the app. Socket Mode: envelopes go to one of the app's sockets, and come again, with their number, where nobody acknowledges them in time.
import type { WebSocket } from "ws";
import type { Clock } from "../../../src/time/index.ts";
import { post, type RequestUrl } from "./requests.ts";

/** Slack takes no more of one app. */
export const MOST_SOCKETS = 10;

export type EnvelopeType = "events_api" | "interactive" | "slash_commands";

export interface Envelope {
	readonly type: EnvelopeType;
	readonly payload: Readonly<Record<string, unknown>>;
	attempts: number;
	state: "waiting" | "acknowledged" | "given up";
	/** What came with the acknowledgement. */
	response?: unknown;
}

export interface SocketsOptions {
	readonly clock: Clock;
	/** How long Slack waits for an acknowledgement. */
	readonly ackMs: number;
	/** The pauses before an event is delivered again. */
	readonly retryMs: readonly number[];
	readonly onChange: () => void;
}

export class Sockets {
	readonly #options: SocketsOptions;
	readonly open = new Set<WebSocket>();
	/** Everything that was ever to be delivered, oldest first. */
	readonly envelopes: Envelope[] = [];
	/** How many sockets were ever opened. */
	opened = 0;
	/** Answers the next socket to use; null: nobody hears it. */
	choose: (sockets: readonly WebSocket[]) => WebSocket | undefined = (sockets) =>
		sockets[this.#turn++ % sockets.length];
	/** Where events are posted instead, once the app has a request URL. */
	requestUrl: RequestUrl | null = null;
	readonly #waiting = new Map<string, (response: unknown) => void>();
	#turn = 0;
	#ids = 0;
	#isClosed = false;

	constructor(options: SocketsOptions) {
		this.#options = options;
	}

	add(socket: WebSocket): void {
		this.open.add(socket);
		this.opened++;
		// Each envelope on its way listens for the end.
		socket.setMaxListeners(0);
		socket.on("close", () => {
			this.open.delete(socket);
			this.#options.onChange();
		});
		socket.on("error", () => socket.terminate());
		socket.on("message", (data) => {
			const { envelope_id: id, payload } = JSON.parse(String(data)) as {
				envelope_id?: string;
				payload?: unknown;
			};
			this.#waiting.get(id ?? "")?.(payload);
		});
		socket.send(
			JSON.stringify({
				type: "hello",
				num_connections: this.open.size,
				debug_info: { host: "peer", approximate_connection_time: 3600 },
				connection_info: { app_id: "A0001" },
			}),
		);
		this.#options.onChange();
	}

	/** Events come again; what a person did with a button or a command does not. */
	deliver(type: EnvelopeType, payload: Readonly<Record<string, unknown>>): Envelope {
		const envelope: Envelope = { type, payload, attempts: 0, state: "waiting" };
		this.envelopes.push(envelope);
		this.#attempt(envelope);
		return envelope;
	}

	/** Says that the sockets end soon, as Slack does before it moves them elsewhere. */
	announce(reason: "warning" | "refresh_requested" | "link_disabled" | "too_many_websockets"): void {
		for (const socket of this.open)
			socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "peer" } }));
	}

	close(): void {
		this.#isClosed = true;
		for (const socket of this.open) socket.terminate();
	}

	#attempt(envelope: Envelope): void {
		if (this.#isClosed || envelope.state !== "waiting") return;
		if (this.requestUrl) return void this.#post(envelope, this.requestUrl);
		const { clock, ackMs, onChange } = this.#options;
		const id = `envelope-${++this.#ids}`;
		const socket = this.open.size > 0 ? this.choose([...this.open]) : undefined;
		const attempt = envelope.attempts++;
		if (!socket) {
			this.#failed(envelope);
			return;
		}
		const forget = () => {
			cancel();
			socket.off("close", lost);
			this.#waiting.delete(id);
		};
		const lost = () => {
			forget();
			this.#failed(envelope);
		};
		const cancel = clock.after(ackMs, lost);
		// A socket that ends takes its events with it: they come again at once.
		socket.once("close", lost);
		this.#waiting.set(id, (response) => {
			forget();
			envelope.state = "acknowledged";
			envelope.response = response;
			onChange();
		});
		socket.send(
			JSON.stringify({
				envelope_id: id,
				type: envelope.type,
				payload: envelope.payload,
				accepts_response_payload: envelope.type !== "events_api",
				...(envelope.type === "events_api" && {
					retry_attempt: attempt,
					retry_reason: attempt === 0 ? "" : "timeout",
				}),
			}),
		);
	}

	readonly #reasons = new WeakMap<Envelope, string>();
	async #post(envelope: Envelope, to: RequestUrl): Promise<void> {
		const { clock, ackMs, onChange } = this.#options;
		envelope.attempts++;
		const failure = await post(envelope, to, { clock, ackMs, reason: this.#reasons.get(envelope) ?? "" });
		if (failure !== null) {
			this.#reasons.set(envelope, failure);
			if (!this.#isClosed) this.#failed(envelope);
			return;
		}
		envelope.state = "acknowledged";
		onChange();
	}

	#failed(envelope: Envelope): void {
		const { clock, retryMs, onChange } = this.#options;
		const pause = envelope.type === "events_api" ? retryMs[envelope.attempts - 1] : undefined;
		if (pause === undefined) {
			envelope.state = "given up";
			onChange();
			return;
		}
		clock.after(pause, () => this.#attempt(envelope));
	}
}
