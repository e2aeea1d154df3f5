// One TCP or TLS connection to a server, as lines. It connects once; callers create new ones.
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { decoded } from "./wire.ts";

/** Tags may take 8,191 bytes before the line. */
const LONGEST_LINE = 16_384;

export interface ServerAddress {
	readonly host: string;
	readonly port: number;
	/** Absent: without TLS. */
	readonly tls?: {
		/** Authorities to trust instead of the usual ones, as PEM. */
		readonly ca?: string;
		/** The client's certificate with its key, as PEM. */
		readonly certificate?: string;
	};
}

export interface SocketEvents {
	readonly opened: () => void;
	readonly line: (line: string) => void;
	/** Once. Undefined: the other end closed it. */
	readonly closed: (error: Error | undefined) => void;
}

export class LineSocket {
	readonly #socket: Socket;
	#rest: Buffer = Buffer.alloc(0);
	#error: Error | undefined;
	#isClosed = false;

	constructor({ host, port, tls }: ServerAddress, events: SocketEvents) {
		const socket = tls
			? connectTls({
					host,
					port,
					...(isIP(host) === 0 && { servername: host }),
					...(tls.ca !== undefined && { ca: tls.ca }),
					...(tls.certificate !== undefined && { cert: tls.certificate, key: tls.certificate }),
				})
			: connect({ host, port });
		this.#socket = socket;
		socket.setNoDelay();
		socket.once(tls ? "secureConnect" : "connect", events.opened);
		socket.on("data", (bytes: Buffer) => this.#read(bytes, events.line));
		socket.on("error", (error) => {
			this.#error ??= error;
		});
		socket.once("close", () => {
			this.#isClosed = true;
			events.closed(this.#error);
		});
	}

	get isOpen(): boolean {
		return !this.#isClosed && this.#socket.writable;
	}

	/** Lines in one piece. False: nothing was written. */
	write(...lines: readonly string[]): boolean {
		if (!this.isOpen) return false;
		this.#socket.write(lines.map((line) => `${line}\r\n`).join(""));
		return true;
	}

	/** While paused, nothing is read, and the server waits. */
	pause(isPaused: boolean): void {
		if (isPaused) this.#socket.pause();
		else this.#socket.resume();
	}

	end(): void {
		this.#socket.end();
	}

	destroy(error?: Error): void {
		this.#error ??= error;
		this.#socket.destroy();
	}

	#read(bytes: Buffer, take: (line: string) => void): void {
		this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
		for (;;) {
			const end = this.#rest.indexOf(10);
			if (end < 0) break;
			const line = this.#rest.subarray(0, end);
			this.#rest = this.#rest.subarray(end + 1);
			const text = decoded(line.at(-1) === 13 ? line.subarray(0, -1) : line);
			if (text !== "") take(text);
		}
		if (this.#rest.length > LONGEST_LINE) this.destroy(new Error("the server sent a line without an end"));
	}
}
