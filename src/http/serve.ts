// Serving the API: on a Unix socket in Keryx's home, whose permission makes whoever can open it the operator, and on a port, where
// everybody has to say who they are.
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { KeryxError } from "../errors.ts";
import type { Api } from "./app.ts";

/** What the kernel takes for the path of a socket, less the byte that ends it. */
const LONGEST_PATH = process.platform === "darwin" ? 103 : 107;

export interface Served {
	close(): Promise<void>;
}

/** Only the owner of the store may call this: a socket file of an earlier owner is replaced. */
export function serveOnSocket(api: Api, path: string): Promise<Served> {
	if (Buffer.byteLength(path) > LONGEST_PATH)
		throw new KeryxError("home.unusable", `the socket's path ${path} is longer than ${LONGEST_PATH} bytes`, {
			hint: "choose a KERYX_HOME with a shorter path",
		});
	rmSync(path, { force: true });
	// An import is one request, and may take longer than the five minutes that Node allows by itself.
	const server = createAdaptorServer({
		fetch: (request) => api.fetch(request),
		serverOptions: { requestTimeout: 0 },
	});
	return new Promise((resolve, reject) => {
		server.once("error", (cause) =>
			reject(
				new KeryxError("home.unusable", `the socket ${path} cannot be opened: ${cause.message}`, { cause }),
			),
		);
		// The socket is bound within this call: nobody else can open it before its permission is set.
		const before = process.umask(0o177);
		try {
			server.listen(path, () => {
				chmodSync(path, 0o600);
				resolve({ close: () => closed(api, server as Server) });
			});
		} finally {
			process.umask(before);
		}
	});
}

export interface PortOptions {
	/** A name or an address. Another than loopback lets the network in; it is plain HTTP, so put TLS in front. */
	readonly host: string;
	/** 0: any free one. */
	readonly port: number;
	/** Takes requests for confirmations and tells their status without a token, and nothing else. */
	readonly compat?: boolean;
	/** How long a client may take to send its headers, and its whole request. */
	readonly timeouts?: { readonly headersMs: number; readonly requestMs: number };
}

export interface ServedOnPort extends Served {
	readonly port: number;
}

const USUAL_TIMEOUTS = { headersMs: 10_000, requestMs: 30_000 };
const KEEP_ALIVE_MS = 10_000;
const GRACE_MS = 2000;
const MOST_HEADER_BYTES = 16 * 1024;

export function serveOnPort(
	api: Api,
	{ host, port, compat = false, timeouts = USUAL_TIMEOUTS }: PortOptions,
): Promise<ServedOnPort> {
	let listening = port;
	const server = createAdaptorServer({
		createServer,
		serverOptions: {
			headersTimeout: timeouts.headersMs,
			requestTimeout: timeouts.requestMs,
			keepAliveTimeout: KEEP_ALIVE_MS,
			maxHeaderSize: MOST_HEADER_BYTES,
			// How late a slow client may be cut off.
			connectionsCheckingInterval: Math.min(2000, timeouts.headersMs),
		},
		fetch: (request, env) => {
			const { incoming } = env as HttpBindings;
			const remote = incoming.socket.remoteAddress ?? "";
			return api.fetch(request, { kind: compat ? "compat" : "port", host, port: listening, remote });
		},
	}) as Server;
	return new Promise((resolve, reject) => {
		server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port, compat)));
		server.listen(port, host, () => {
			listening = (server.address() as AddressInfo).port;
			resolve({ port: listening, close: () => closedSoon(api, server) });
		});
	});
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number, compat: boolean): KeryxError {
	const key = compat ? "confirmations.compat_port" : "http.port";
	const why = cause.code === "EADDRINUSE" ? "another program has it" : cause.message;
	return new KeryxError("http.port", `Keryx cannot listen on ${host}:${port}: ${why}`, {
		field: key,
		hint: `choose another ${key}${compat ? "" : " (KERYX_HTTP_PORT)"}, or end the program that has this one`,
		cause,
	});
}

/** A client that takes its time does not hold up the end. */
function closedSoon(api: Api, server: Server): Promise<void> {
	const impatience = setTimeout(() => server.closeAllConnections(), GRACE_MS);
	return closed(api, server).finally(() => clearTimeout(impatience));
}

function closed(api: Api, server: Server): Promise<void> {
	return new Promise((done) => {
		api.close();
		server.close(() => done());
		server.closeIdleConnections();
	});
}
