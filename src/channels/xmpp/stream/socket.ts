// One TCP or TLS connection to a server, as a stream of elements. It connects once; callers create new ones.
import { connect, isIP, type Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { connect as connectTls } from "node:tls";
import { NS } from "./namespaces.ts";
import { Parser } from "./parser.ts";
import { type Element, escaped, serialize } from "./xml.ts";

export interface ServerAddress {
	readonly host: string;
	readonly port: number;
	/** TLS from the first byte. */
	readonly direct: boolean;
	/** The account's domain: the server's certificate must be for it. */
	readonly domain: string;
	/** Authorities to trust instead of the usual ones, as PEM. */
	readonly ca?: string;
}

export interface SocketEvents {
	/** The server has opened its side of the stream. */
	readonly element: (element: Element) => void;
	/** Once. Undefined: the other end closed it. */
	readonly closed: (error: Error | undefined) => void;
}

export class XmlSocket {
	readonly #address: ServerAddress;
	readonly #events: SocketEvents;
	#socket: Socket;
	#parser: Parser | null = null;
	#error: Error | undefined;
	#isClosed = false;
	isSecure: boolean;

	constructor(address: ServerAddress, events: SocketEvents) {
		const { host, port, direct } = address;
		this.#address = address;
		this.#events = events;
		this.isSecure = direct;
		this.#socket = direct
			? connectTls({ host, port, ALPNProtocols: ["xmpp-client"], ...this.#trust() })
			: connect({ host, port });
		this.#listen(direct ? "secureConnect" : "connect");
	}

	get isOpen(): boolean {
		return !this.#isClosed && this.#socket.writable;
	}

	/** False: nothing was written. */
	write(...elements: readonly Element[]): boolean {
		if (!this.isOpen) return false;
		this.#socket.write(elements.map((one) => serialize(one, NS.client)).join(""));
		return true;
	}

	/** A new stream on the same connection: after TLS, and after the login. */
	restart(): void {
		const decoder = new StringDecoder();
		const parser = new Parser({
			opened: () => {},
			// An element of a stream that has ended since is ignored.
			element: (element) => this.#parser === parser && this.#events.element(element),
			closed: () => this.#socket.end(),
		});
		this.#parser = parser;
		this.#socket.removeAllListeners("data");
		this.#socket.on("data", (bytes: Buffer) => {
			try {
				parser.feed(decoder.write(bytes));
			} catch (error) {
				this.destroy(error as Error);
			}
		});
		this.#socket.write(
			`<?xml version="1.0"?><stream:stream xmlns="${NS.client}" xmlns:stream="${NS.stream}" to="${escaped(this.#address.domain)}" version="1.0">`,
		);
	}

	/** STARTTLS. */
	secure(): void {
		const plain = this.#socket;
		for (const event of ["data", "error", "close", "end"]) plain.removeAllListeners(event);
		this.#parser = null;
		this.isSecure = true;
		this.#socket = connectTls({ socket: plain, ...this.#trust() });
		this.#listen("secureConnect");
	}

	/** While paused, nothing is read, and the server waits. */
	pause(isPaused: boolean): void {
		if (isPaused) this.#socket.pause();
		else this.#socket.resume();
	}

	/** Ends the stream properly; the server closes the connection. */
	end(): void {
		if (this.isOpen) this.#socket.write("</stream:stream>");
	}

	destroy(error?: Error): void {
		this.#error ??= error;
		this.#socket.destroy();
	}

	#trust() {
		const { domain, ca } = this.#address;
		return {
			...(isIP(domain) === 0 ? { servername: domain } : { host: domain }),
			...(ca !== undefined && { ca }),
		};
	}

	#listen(opened: "connect" | "secureConnect"): void {
		const socket = this.#socket;
		socket.setNoDelay();
		socket.once(opened, () => this.restart());
		socket.on("error", (error) => {
			this.#error ??= error;
		});
		socket.once("close", () => {
			if (this.#isClosed) return;
			this.#isClosed = true;
			this.#events.closed(this.#error);
		});
	}
}
