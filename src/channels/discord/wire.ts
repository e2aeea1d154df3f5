// One connection to Discord's gateway: identifies or resumes, sends heartbeats, and ends. It passes on what it receives; it answers and
// remembers nothing. @discordjs/ws is not used: it counts an event as received before anyone has it, cannot tell a forgotten session from
// a network failure, and reconnects by itself every half second.
import { WebSocket } from "ws";
import type { Clock } from "../../time/index.ts";
import type { Dispatch } from "./events.ts";

const OP = {
	dispatch: 0,
	heartbeat: 1,
	identify: 2,
	resume: 6,
	reconnect: 7,
	invalid: 9,
	hello: 10,
	ack: 11,
} as const;
/** Servers, messages, reactions, private messages, and the text of messages. */
export const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 15);
/** With 1000 or 1001 Discord would end the session. */
const COMING_BACK = 4900;
const HELLO_MS = 20_000;

export type Ending =
	/** Discord asks to reconnect. */
	| { readonly kind: "reconnect" }
	/** The session is void, or may be resumed. */
	| { readonly kind: "invalid"; readonly isResumable: boolean }
	| { readonly kind: "closed"; readonly code: number }
	/** Heartbeats are not acknowledged. */
	| { readonly kind: "silent" }
	| { readonly kind: "error"; readonly reason: string }
	/** Ended from here. */
	| { readonly kind: "left" };

export interface WireOptions {
	readonly url: string;
	readonly token: string;
	/** Absent: a new session. */
	readonly resume?: { readonly session: string; readonly sequence: number };
	readonly clock: Clock;
	readonly random: () => number;
	/** The longest time between heartbeats; Discord may ask for a shorter one. */
	readonly beatMs: number;
	/** After this long without an acknowledgement, the connection is dead. */
	readonly deadMs: number;
	/** Up to where everything is committed: heartbeats report this as received. */
	readonly received: () => number | null;
	readonly onDispatch: (dispatch: Dispatch) => void;
	readonly onAlive: () => void;
}

export class Wire {
	/** Resolves once, when it is over. */
	readonly ended: Promise<Ending>;
	readonly #options: WireOptions;
	readonly #socket: WebSocket;
	#cancel: () => void = () => {};
	#aliveAt: number;
	#isOver = false;
	#end: (ending: Ending) => void = () => {};

	constructor(options: WireOptions) {
		this.#options = options;
		this.#aliveAt = options.clock.monotonic();
		this.ended = new Promise((resolve) => {
			this.#end = (ending) => {
				this.#cancel();
				resolve(ending);
			};
		});
		const url = `${options.url.replace(/\/+$/, "")}/?v=10&encoding=json`;
		this.#socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: HELLO_MS });
		this.#cancel = options.clock.after(HELLO_MS, () => this.#over({ kind: "silent" }));
		this.#socket.on("message", (data) => this.#read(String(data)));
		this.#socket.on("error", (error) =>
			this.#over({ kind: "error", reason: (error as NodeJS.ErrnoException).code ?? error.message }),
		);
		this.#socket.on("close", (code) => this.#end({ kind: "closed", code }));
	}

	/** Reports what is committed, and leaves so that the session can be resumed. */
	leave(): void {
		if (this.#socket.readyState === WebSocket.OPEN) this.#beat();
		this.#over({ kind: "left" });
	}

	#read(text: string): void {
		if (this.#isOver) return;
		const payload = payloadOf(text);
		if (!payload) {
			this.#over({ kind: "error", reason: "Discord sent something that nobody understands" });
			return;
		}
		const { op, d, s, t } = payload;
		if (op === OP.dispatch && typeof t === "string" && typeof s === "number")
			this.#options.onDispatch({ t, s, d });
		if (op === OP.hello) this.#hello(intervalOf(d));
		if (op === OP.heartbeat) this.#beat();
		if (op === OP.reconnect) this.#over({ kind: "reconnect" });
		if (op === OP.invalid) this.#over({ kind: "invalid", isResumable: d === true });
		if (op !== OP.ack) return;
		this.#aliveAt = this.#options.clock.monotonic();
		this.#options.onAlive();
	}

	#hello(interval: number): void {
		const { clock, random, beatMs, token, resume } = this.#options;
		const every = Math.min(interval, beatMs);
		const next = (ms: number) => {
			this.#cancel();
			this.#cancel = clock.after(ms, () => {
				if (clock.monotonic() - this.#aliveAt > Math.max(this.#options.deadMs, 2 * every)) {
					this.#over({ kind: "silent" });
					return;
				}
				this.#beat();
				next(every);
			});
		};
		next(every * random());
		if (resume) this.#write(OP.resume, { token, session_id: resume.session, seq: resume.sequence });
		else
			this.#write(OP.identify, {
				token,
				intents: INTENTS,
				properties: { os: process.platform, browser: "keryx", device: "keryx" },
			});
	}

	#beat(): void {
		this.#write(OP.heartbeat, this.#options.received());
	}

	#write(op: number, d: unknown): void {
		if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
	}

	#over(ending: Ending): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#end(ending);
		if (this.#socket.readyState === WebSocket.OPEN) {
			this.#socket.close(COMING_BACK);
			// A silent server is not waited for.
			this.#options.clock.after(1000, () => this.#socket.terminate());
		} else this.#socket.terminate();
	}
}

function payloadOf(text: string): Readonly<Record<"op" | "d" | "s" | "t", unknown>> | null {
	try {
		const payload = JSON.parse(text) as unknown;
		return typeof payload === "object" ? (payload as ReturnType<typeof payloadOf>) : null;
	} catch {
		return null;
	}
}

/** Without one, Keryx's own is the shortest. */
function intervalOf(hello: unknown): number {
	const { heartbeat_interval: interval } = (hello ?? {}) as { readonly heartbeat_interval?: unknown };
	return typeof interval === "number" ? interval : Number.POSITIVE_INFINITY;
}
