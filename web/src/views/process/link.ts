// The connection to one process. It counts the bytes it has shown and continues there after a reconnect: nothing is repeated or left out.
// If a program prints faster than the screen draws, it disconnects for a while and then continues at the same byte.

import { pageProtocols } from "../../api/page-key.ts";

export interface End {
	readonly state: string;
	readonly exit_code: number | null;
	readonly signal: string | null;
	readonly cause: string | null;
}

export interface Size {
	readonly cols: number;
	readonly rows: number;
}

export type LinkState = "connecting" | "open" | "reconnecting" | "ended" | "failed";

export interface LinkOptions {
	readonly id: string;
	/** Clears the screen: the output is shown again from the start. */
	reset(): void;
	/** Calls `drawn` when the data is on the screen. */
	write(data: Uint8Array, drawn: () => void): void;
	/** The program's terminal now has this size. */
	onSize(size: Size): void;
	onLost(bytes: number): void;
	onEnd(end: End): void;
	/** An error from the server; the connection may continue. */
	onError(message: string): void;
	onState(state: LinkState): void;
}

type Said =
	| ({ readonly type: "size" } & Size)
	| { readonly type: "position"; readonly at: number }
	| { readonly type: "lost"; readonly bytes: number }
	| ({ readonly type: "exit" } & End)
	| { readonly type: "error"; readonly error: { readonly message: string } };

const RECONNECT_MS = [50, 100, 200, 500, 1000, 2000] as const;
/** Bytes received but not drawn yet: above the first limit the link disconnects, at the second it connects again. */
const MOST_UNDRAWN = 4 * 1024 * 1024;
const FEW_UNDRAWN = 256 * 1024;
/** The server's limit for one piece of input. */
const LONGEST_INPUT = 16_384;
const REFUSED = 1008;
const FAILED = 1011;

export class TerminalLink {
	readonly #options: LinkOptions;
	#socket: WebSocket | null = null;
	#at: number | null = null;
	#undrawn = 0;
	#isFull = false;
	#attempt = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#state: LinkState = "connecting";
	#ended = false;

	constructor(options: LinkOptions) {
		this.#options = options;
		this.#connect();
	}

	/** False if it cannot be sent now. Nothing is queued: a key pressed now must not act later, in another situation. */
	type(data: string): boolean {
		for (let from = 0; from < data.length; from += LONGEST_INPUT)
			if (!this.#send({ type: "input", data: data.slice(from, from + LONGEST_INPUT) })) return false;
		return true;
	}

	endInput(): boolean {
		return this.#send({ type: "end" });
	}

	resize({ cols, rows }: Size): void {
		this.#send({ type: "resize", cols, rows });
	}

	close(): void {
		clearTimeout(this.#timer);
		this.#ended = true;
		this.#drop();
	}

	#connect(): void {
		const { id, reset } = this.#options;
		if (this.#at === null) reset();
		const from = this.#at === null ? "" : `?from=${this.#at}`;
		const address = new URL(`/api/processes/${encodeURIComponent(id)}/terminal${from}`, location.href);
		address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
		const socket = new WebSocket(address, pageProtocols());
		socket.binaryType = "arraybuffer";
		socket.onopen = () => {
			this.#attempt = 0;
			this.#become("open");
		};
		socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
			if (typeof data === "string") this.#hear(JSON.parse(data) as Said);
			else this.#show(new Uint8Array(data));
		};
		socket.onclose = ({ code }) => this.#closed(code);
		this.#socket = socket;
	}

	#show(data: Uint8Array): void {
		if (this.#at !== null) this.#at += data.byteLength;
		this.#undrawn += data.byteLength;
		this.#options.write(data, () => {
			this.#undrawn -= data.byteLength;
			if (!this.#isFull || this.#undrawn > FEW_UNDRAWN || this.#ended) return;
			this.#isFull = false;
			this.#connect();
		});
		if (this.#undrawn <= MOST_UNDRAWN || this.#at === null) return;
		this.#isFull = true;
		this.#drop();
	}

	#hear(said: Said): void {
		const { onSize, onLost, onEnd, onError } = this.#options;
		if (said.type === "position") this.#at = said.at;
		else if (said.type === "size") onSize(said);
		else if (said.type === "lost") onLost(said.bytes);
		else if (said.type === "error") onError(said.error.message);
		else {
			this.#ended = true;
			this.#become("ended");
			onEnd(said);
		}
	}

	#closed(code: number): void {
		this.#socket = null;
		if (this.#ended) return;
		if (code === REFUSED || code === FAILED) {
			this.#become("failed");
			return;
		}
		this.#become(this.#state === "connecting" ? "connecting" : "reconnecting");
		const wait = RECONNECT_MS[Math.min(this.#attempt++, RECONNECT_MS.length - 1)] ?? 2000;
		this.#timer = setTimeout(() => this.#connect(), wait);
	}

	#send(frame: object): boolean {
		if (this.#socket?.readyState !== WebSocket.OPEN) return false;
		this.#socket.send(JSON.stringify(frame));
		return true;
	}

	#drop(): void {
		const socket = this.#socket;
		this.#socket = null;
		if (!socket) return;
		socket.onopen = null;
		socket.onmessage = null;
		socket.onclose = null;
		socket.close();
	}

	#become(state: LinkState): void {
		if (this.#state === state) return;
		this.#state = state;
		this.#options.onState(state);
	}
}
