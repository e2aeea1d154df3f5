// One Socket Mode connection. Slack's own client is not used: it acknowledges on whatever connection exists by then, reconnects silently,
// and hides what proves that a connection is alive.
import WebSocket from "ws";
import type { Clock } from "../../time/index.ts";

/** How long Slack may take to say hello. */
const HELLO_MS = 15_000;
/** How long a close may take before the connection is cut. */
const CLOSE_MS = 1000;

export interface Envelope {
	readonly envelope_id: string;
	readonly type: string;
	readonly payload: Readonly<Record<string, unknown>>;
}

export type SocketEnd =
	/** Slack moves its connections from time to time, and says so. */
	| { readonly kind: "refresh" }
	/** Socket Mode is switched off for the app. */
	| { readonly kind: "disabled" }
	/** More connections than Slack allows. */
	| { readonly kind: "too many" }
	| { readonly kind: "lost"; readonly error: unknown };

export interface SocketOptions {
	readonly clock: Clock;
	readonly onEnvelope: (envelope: Envelope, socket: Socket) => void;
	/** Something arrived: `by` says what it proves. */
	readonly onAlive: (by: "hello" | "ping answered" | "event") => void;
}

export class Socket {
	readonly #ws: WebSocket;
	readonly #options: SocketOptions;
	/** How many connections of this app Slack counted at hello. */
	connections = 0;
	/** Resolves when it is no longer usable, for any reason. */
	readonly ended: Promise<SocketEnd>;
	#end: (end: SocketEnd) => void = () => {};
	readonly #closed: Promise<void>;

	private constructor(url: string, options: SocketOptions) {
		this.#options = options;
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
		this.#ws = new WebSocket(url, { followRedirects: false });
		this.#closed = new Promise((resolve) => void this.#ws.once("close", () => resolve()));
		this.#ws.on("error", (error) => this.#end({ kind: "lost", error }));
		this.#ws.on("close", (code) =>
			this.#end({ kind: "lost", error: new Error(`the connection was closed (${code})`) }),
		);
		this.#ws.on("ping", () => options.onAlive("ping answered"));
		this.#ws.on("pong", () => options.onAlive("ping answered"));
	}

	/** Resolves when Slack has said hello. Otherwise closes the connection and rejects. */
	static async open(
		url: string,
		options: SocketOptions,
		onSocket: (socket: Socket) => void,
	): Promise<Socket> {
		const socket = new Socket(url, options);
		onSocket(socket);
		const hello = new Promise<null>((resolve) => socket.#listen(() => resolve(null)));
		const cancel = options.clock.after(HELLO_MS, () =>
			socket.#end({ kind: "lost", error: new Error("Slack did not say hello") }),
		);
		const end = await Promise.race([hello, socket.ended]);
		cancel();
		if (end === null) return socket;
		await socket.close();
		throw end.kind === "lost" ? end.error : new SocketRefused(end);
	}

	/** False if the connection is gone: then Slack redelivers. */
	acknowledge(envelope: string): boolean {
		if (this.#ws.readyState !== WebSocket.OPEN) return false;
		this.#ws.send(JSON.stringify({ envelope_id: envelope }));
		return true;
	}

	ping(): void {
		if (this.#ws.readyState === WebSocket.OPEN) this.#ws.ping();
	}

	/** No longer usable, for this reason. Running events can still be acknowledged until it is closed. */
	giveUp(error: unknown): void {
		this.#end({ kind: "lost", error });
	}

	/** Resolves when the connection is gone. */
	async close(): Promise<void> {
		this.#end({ kind: "lost", error: new Error("closed") });
		if (this.#ws.readyState === WebSocket.OPEN) this.#ws.close(1000);
		else this.#ws.terminate();
		const cancel = this.#options.clock.after(CLOSE_MS, () => this.#ws.terminate());
		await this.#closed;
		cancel();
	}

	#listen(onHello: () => void): void {
		const { onAlive, onEnvelope } = this.#options;
		this.#ws.on("message", (data) => {
			const message = parsed(String(data));
			switch (message?.type) {
				case undefined:
					return;
				case "hello":
					this.connections = Number(message.num_connections ?? 1);
					onAlive("hello");
					return onHello();
				case "disconnect":
					return this.#end(endOf(String(message.reason)));
			}
			if (typeof message?.envelope_id !== "string") return;
			onAlive("event");
			onEnvelope(message as unknown as Envelope, this);
		});
	}
}

export class SocketRefused extends Error {
	readonly end: SocketEnd["kind"];

	constructor({ kind }: SocketEnd) {
		super(kind);
		this.end = kind;
	}
}

function endOf(reason: string): SocketEnd {
	if (reason === "link_disabled") return { kind: "disabled" };
	return reason === "too_many_websockets" ? { kind: "too many" } : { kind: "refresh" };
}

function parsed(text: string): Record<string, unknown> | null {
	try {
		return JSON.parse(text) as Record<string, unknown>;
	} catch {
		return null;
	}
}
