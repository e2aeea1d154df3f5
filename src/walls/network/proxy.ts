// The proxy of a box that may reach a list of hosts. The box has an empty network; its one listening socket was created inside and passed
// out (prelude.ts), so this process accepts its programs' connections, and connects outside for them.
import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Server, type Socket } from "node:net";
import { type Destination, isHostAllowed, readHostRule } from "../../domain/index.ts";
import { isPublicAddress } from "./addresses.ts";

/** How names are resolved and reached. Tests replace it. */
export interface Outside {
	addresses(host: string): Promise<readonly string[]>;
	connect(destination: Destination): Socket;
}

const MOST_CONNECTIONS = 256;
const IDLE_MS = 600_000;
/** Errors concern one connection only. */
const HOP_HEADERS = ["connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade"];

const INTERNET: Outside = {
	addresses: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
	connect: ({ host, port }) => connect({ host, port }),
};

/** Serves the box's listener until that is closed. It does not keep this process alive. */
export function serveBox(
	listener: Server,
	hosts: readonly string[],
	outside: Outside = INTERNET,
): () => void {
	const rules = hosts.flatMap((host) => readHostRule(host) ?? []);
	const open = new Set<Socket>();
	const way = new Way(
		async (to) => {
			if (!isHostAllowed(to, rules))
				throw new Refusal(
					403,
					`${to.host}:${to.port} is not in walls.box_network, the list of hosts for a box`,
				);
			const address = usableAddress(await outside.addresses(to.host));
			if (address === null) throw new Refusal(403, `${to.host} leads to a private address`);
			return outside.connect({ host: address, port: to.port });
		},
		(socket) => keep(open, socket),
	);
	const server = createServer((asked, answer) => void way.forward(asked, answer));
	server.on("connect", (asked: IncomingMessage, socket: Socket, head: Buffer) => {
		void way.tunnel(asked, socket, head);
	});
	server.on("clientError", (_, socket) => socket.destroy());
	listener.on("connection", (socket: Socket) => {
		if (open.size >= MOST_CONNECTIONS) {
			socket.destroy();
			return;
		}
		keep(open, socket);
		server.emit("connection", socket);
	});
	listener.unref();
	return () => {
		listener.close();
		for (const socket of open) socket.destroy();
	};
}

/** The address to connect to. Null: one of them belongs to this machine or its network, where a name must not lead. */
function usableAddress(addresses: readonly string[]): string | null {
	return addresses.every(isPublicAddress) ? (addresses[0] ?? null) : null;
}

function keep(open: Set<Socket>, socket: Socket): void {
	open.add(socket);
	socket.unref();
	socket.setTimeout(IDLE_MS, () => socket.destroy());
	socket.on("error", () => socket.destroy());
	socket.on("close", () => open.delete(socket));
}

class Refusal extends Error {
	readonly status: number;

	constructor(status: number, message: string) {
		super(message);
		this.status = status;
	}
}

class Way {
	readonly #reach: (to: Destination) => Promise<Socket>;
	readonly #keep: (socket: Socket) => void;

	constructor(reach: (to: Destination) => Promise<Socket>, keep: (socket: Socket) => void) {
		this.#reach = reach;
		this.#keep = keep;
	}

	/** For https and everything else that asks for a tunnel. */
	async tunnel(asked: IncomingMessage, inside: Socket, head: Buffer): Promise<void> {
		try {
			const outer = await this.#connected(destinationOf(`tcp://${asked.url ?? ""}`, 443));
			inside.on("close", () => outer.destroy());
			outer.on("close", () => inside.destroy());
			inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
			if (head.length > 0) outer.write(head);
			inside.pipe(outer);
			outer.pipe(inside);
		} catch (error) {
			const { status, text } = answerTo(error);
			inside.end(
				`HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Bad Gateway"}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
			);
		}
	}

	/** For http, where the request holds the whole address. */
	async forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
		try {
			const to = destinationOf(asked.url ?? "", 80, "http:");
			const socket = await this.#connected(to);
			const url = new URL(asked.url ?? "");
			const headers = Object.fromEntries(
				Object.entries(asked.headers).filter(([name]) => !HOP_HEADERS.includes(name)),
			);
			const outer = request({
				createConnection: () => socket,
				method: asked.method,
				path: `${url.pathname}${url.search}`,
				// The checked name, whatever else the request says.
				headers: { ...headers, host: url.host, connection: "close" },
			});
			outer.on("response", (given) => {
				answer.writeHead(given.statusCode ?? 502, given.headers);
				given.pipe(answer);
			});
			outer.on("error", () => answer.destroy());
			answer.on("close", () => outer.destroy());
			asked.pipe(outer);
		} catch (error) {
			const { status, text } = answerTo(error);
			answer.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(text);
		}
	}

	async #connected(to: Destination): Promise<Socket> {
		const socket = await this.#reach(to);
		this.#keep(socket);
		await new Promise<void>((resolve, reject) => {
			socket.once("connect", resolve);
			socket.once("error", reject);
			socket.once("close", () => reject(new Error("the connection was closed")));
		});
		return socket;
	}
}

function destinationOf(text: string, usualPort: number, scheme?: string): Destination {
	const url = URL.parse(text);
	if (!url?.hostname || (scheme !== undefined && url.protocol !== scheme))
		throw new Refusal(400, "this proxy takes CONNECT and http:// addresses");
	return { host: url.hostname, port: url.port === "" ? usualPort : Number(url.port) };
}

function answerTo(error: unknown): { readonly status: number; readonly text: string } {
	if (error instanceof Refusal) return { status: error.status, text: `${error.message}\n` };
	return { status: 502, text: `the host could not be reached: ${(error as Error).message}\n` };
}
