// Serves the API: on a Unix socket in Keryx's home, whose permission makes its user the operator, and on a port, where every caller
// authenticates.
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { createAdaptorServer, type HttpBindings, type WebSocketServerLike } from "@hono/node-server";
import { WebSocketServer } from "ws";
import { KeryxError } from "../errors.ts";
import type { Api } from "./app.ts";
import type { Entrance } from "./entry/auth.ts";
import { isTerminal } from "./terminal/terminals.ts";

/** The kernel's limit for a socket path, without the final byte. */
const LONGEST_PATH = process.platform === "darwin" ? 103 : 107;

export interface Served {
	close(): Promise<void>;
}

/** Only the store's owner may call this: an earlier owner's socket file is replaced. */
export function serveOnSocket(
	api: Api,
	path: string,
	{ graceMs = SOCKET_GRACE_MS }: { readonly graceMs?: number } = {},
): Promise<Served> {
	if (Buffer.byteLength(path) > LONGEST_PATH)
		throw new KeryxError("home.unusable", `the socket's path ${path} is longer than ${LONGEST_PATH} bytes`, {
			hint: "choose a KERYX_HOME with a shorter path",
		});
	// Node deletes a server's bound name when it closes, even if another server has it by then: so that name is temporary.
	const draft = join(dirname(path), `.${process.pid}`);
	rmSync(draft, { force: true });
	// An import is one request, and may take longer than Node's default of five minutes.
	const server = serverFor(api, { requestTimeout: 0 }, () => ({ kind: "socket" }));
	return new Promise((resolve, reject) => {
		const refuse = (cause: Error) =>
			reject(
				new KeryxError("home.unusable", `the socket ${path} cannot be opened: ${cause.message}`, { cause }),
			);
		server.once("error", refuse);
		// The socket is bound synchronously: nobody can open it before its permission is set.
		const before = process.umask(0o177);
		try {
			server.listen(draft, () => {
				try {
					chmodSync(draft, 0o600);
					const { ino } = statSync(draft);
					renameSync(draft, path);
					resolve({ close: () => closedAt(path, ino, () => closed(api, server, graceMs)) });
				} catch (cause) {
					server.close(() => refuse(cause as Error));
				}
			});
		} finally {
			process.umask(before);
		}
	});
}

export interface PortOptions {
	/** A name or address. Anything but loopback lets the network in, over plain HTTP: put TLS in front. */
	readonly host: string;
	/** 0: any free one. */
	readonly port: number;
	/** Accepts confirmation requests and reports their status without a token, and nothing else. */
	readonly compat?: boolean;
	/** A second address on the same port; default: the other loopback address if `host` is one. */
	readonly sibling?: string;
	/** How long a client may take to send its headers, and its whole request. */
	readonly timeouts?: { readonly headersMs: number; readonly requestMs: number };
}

export interface ServedOnPort extends Served {
	readonly port: number;
	/** The sibling address, if this machine lacks it. */
	readonly missing: string | null;
}

const USUAL_TIMEOUTS = { headersMs: 10_000, requestMs: 30_000 };
const KEEP_ALIVE_MS = 10_000;
/** How long running requests may take at shutdown: from the network, and on the socket, where an import takes longer. */
const GRACE_MS = 2000;
const SOCKET_GRACE_MS = 10_000;
const IDLE_LOOK_MS = 50;
const MOST_HEADER_BYTES = 16 * 1024;
/** A name of this machine may lead to either, and to any program that listens there instead of Keryx. */
const LOOPBACKS: Readonly<Record<string, readonly [string, string]>> = {
	"127.0.0.1": ["127.0.0.1", "::1"],
	"::1": ["::1", "127.0.0.1"],
	localhost: ["127.0.0.1", "::1"],
};
/** A free port on one address may be taken on the other. */
const MOST_TRIES = 20;

export async function serveOnPort(api: Api, options: PortOptions): Promise<ServedOnPort> {
	const [host, other] = LOOPBACKS[options.host.toLowerCase()] ?? [options.host, undefined];
	const sibling = options.sibling ?? other;
	for (let tries = 1; ; tries++) {
		const first = await openPort(api, { ...options, host });
		if (sibling === undefined) return served(api, [first], null);
		try {
			return served(api, [first, await openPort(api, { ...options, host: sibling, port: first.port })], null);
		} catch (error) {
			const { code } = (error as KeryxError).cause as NodeJS.ErrnoException;
			if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return served(api, [first], sibling);
			await new Promise((done) => first.server.close(done));
			if (code !== "EADDRINUSE" || options.port !== 0 || tries === MOST_TRIES) throw error;
		}
	}
}

interface Opened {
	readonly server: Server;
	readonly port: number;
}

function served(api: Api, opened: readonly [Opened, ...Opened[]], missing: string | null): ServedOnPort {
	return {
		port: opened[0].port,
		missing,
		close: async () => {
			await Promise.all(opened.map(({ server }) => closed(api, server, GRACE_MS)));
		},
	};
}

function openPort(
	api: Api,
	{ host, port, compat = false, timeouts = USUAL_TIMEOUTS }: PortOptions,
): Promise<Opened> {
	let listening = port;
	const serverOptions = {
		headersTimeout: timeouts.headersMs,
		requestTimeout: timeouts.requestMs,
		keepAliveTimeout: KEEP_ALIVE_MS,
		maxHeaderSize: MOST_HEADER_BYTES,
		// When a slow client is disconnected at the latest.
		connectionsCheckingInterval: Math.min(2000, timeouts.headersMs),
	};
	const server = serverFor(api, serverOptions, ({ socket }) => {
		const remote = socket.remoteAddress ?? "";
		return { kind: compat ? "compat" : "port", host, port: listening, remote };
	});
	return new Promise((resolve, reject) => {
		server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port, compat)));
		server.listen(port, host, () => {
			listening = (server.address() as AddressInfo).port;
			resolve({ server, port: listening });
		});
	});
}

const MOST_FRAME_BYTES = 128 * 1024;
const PROTOCOL = "keryx";
const REFUSED = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

function serverFor(
	api: Api,
	serverOptions: ServerOptions,
	entranceOf: (incoming: IncomingMessage) => Entrance,
): Server {
	const sockets = new WebSocketServer({
		noServer: true,
		clientTracking: false,
		perMessageDeflate: false,
		maxPayload: MOST_FRAME_BYTES,
		// The other offered protocol is the page's key, which is not echoed.
		handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
	});
	const server = createAdaptorServer({
		createServer,
		// A refused upgrade is an ordinary request, if Node supports it (24.9).
		serverOptions: { ...serverOptions, shouldUpgradeCallback: isUpgraded } as ServerOptions,
		websocket: { server: sockets as unknown as WebSocketServerLike },
		fetch: (request, connection) =>
			api.fetch(request, entranceOf((connection as HttpBindings).incoming), connection),
	}) as Server;
	const [upgrade] = server.listeners("upgrade") as Upgrade[];
	server.removeAllListeners("upgrade");
	server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
		// No server manages such a connection any more: a refused client must not keep it.
		socket.once("finish", () => setTimeout(() => socket.destroy(), GRACE_MS).unref());
		socket.on("error", () => socket.destroy());
		if (isUpgraded(incoming)) upgrade?.(incoming, socket, head);
		else socket.end(REFUSED);
	});
	return server;
}

type Upgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;

function isUpgraded({ headers, url }: IncomingMessage): boolean {
	return headers.upgrade?.toLowerCase() === "websocket" && isTerminal(url);
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number, compat: boolean): KeryxError {
	const key = compat ? "confirmations.compat_port" : "http.port";
	const why = cause.code === "EADDRINUSE" ? "another program uses it" : cause.message;
	return new KeryxError(
		"http.port",
		`Keryx cannot listen on ${host.includes(":") ? `[${host}]` : host}:${port}: ${why}`,
		{
			field: key,
			hint: `choose another ${key}${compat ? "" : " (KERYX_HTTP_PORT)"}, or stop the program that uses this one`,
			cause,
		},
	);
}

/** A newer owner may have put its own socket there. */
function closedAt(path: string, ino: number, close: () => Promise<void>): Promise<void> {
	if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
	return close();
}

/** Slow clients, and those that keep sending requests, do not delay the shutdown. */
function closed(api: Api, server: Server, graceMs: number): Promise<void> {
	const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
	const impatience = setTimeout(() => server.closeAllConnections(), graceMs);
	server.prependListener("request", (_, response) => {
		response.shouldKeepAlive = false;
	});
	return new Promise<void>((done) => {
		api.close();
		server.close(() => done());
		server.closeIdleConnections();
	}).finally(() => {
		clearInterval(idle);
		clearTimeout(impatience);
	});
}
