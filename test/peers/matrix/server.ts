// The HTTP server: who calls, what they call, and what goes wrong.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Refusal } from "./errors.ts";
import { Keys } from "./keys.ts";
import { type Json, ROUTES } from "./routes.ts";
import { syncFor } from "./sync.ts";
import type { Session, World } from "./world.ts";

/** What becomes of a request. */
export type Fault =
	/** It is done, and its answer is lost. */
	| "lose_ack"
	/** It is lost itself. */
	| "lost"
	| {
			readonly status: number;
			readonly errcode: string;
			readonly error?: string;
			readonly retryAfterMs?: number;
	  };

export interface CallRecord {
	readonly method: string;
	/** Without the version in front, and without the query. */
	readonly path: string;
	readonly user: string;
	readonly body: string;
}

export interface MatrixServer {
	readonly url: string;
	readonly keys: Keys;
	readonly calls: CallRecord[];
	/** The place from which a user last asked for a sync. */
	readonly asked: Map<string, number>;
	/** What becomes of each request, as it comes. */
	faults: (call: CallRecord) => Fault | undefined;
	/** Ends every connection. */
	disconnect(): void;
	close(): Promise<void>;
}

export async function serve(world: World, port = 0): Promise<MatrixServer> {
	const keys = new Keys(world);
	const transactions = new Map<string, string>();
	const waiting = new Set<() => void>();
	world.onChange(() => {
		for (const look of [...waiting]) look();
	});

	const sync = (session: Session, query: URLSearchParams, response: ServerResponse) => {
		const since = query.has("since") ? Number(query.get("since")?.slice(1)) : null;
		if (since !== null && Number.isNaN(since)) throw new Refusal(400, "M_UNKNOWN", "Invalid stream token");
		server.asked.set(session.user.id, since ?? 0);
		const filter = JSON.parse(query.get("filter") ?? "{}") as object;
		const look = (isLast: boolean) => {
			const { answer, isNews } = syncFor(session, since, filter, world, keys);
			const isKnown = world.sessions.has(session.token);
			if (!isNews && !isLast && isKnown) return;
			waiting.delete(waits);
			clearTimeout(timer);
			if (isKnown) reply(response, 200, answer);
			else reply(response, 401, { errcode: "M_UNKNOWN_TOKEN", error: "Unknown access token" });
		};
		const waits = () => look(false);
		const timer = setTimeout(() => look(true), Number(query.get("timeout") ?? 0));
		waiting.add(waits);
		response.once("close", () => {
			waiting.delete(waits);
			clearTimeout(timer);
		});
		look(false);
	};

	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		const url = new URL(request.url ?? "/", "http://localhost");
		const bytes = await bodyOf(request);
		const session = world.sessions.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
		const path = url.pathname
			.replace(/^\/_matrix\/(?:client\/v[13]|media\/v3)\//, "")
			.replace(/^media\//, "");
		const record = {
			method: request.method ?? "",
			path,
			user: session?.user.id ?? "",
			body: bytes.toString(),
		};
		server.calls.push(record);
		const fault = server.faults(record);
		if (fault === "lost") return void request.socket.destroy();
		if (typeof fault === "object") {
			const { status, errcode, error = "", retryAfterMs } = fault;
			return reply(response, status, {
				errcode,
				error,
				...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
			});
		}
		if (fault === "lose_ack") {
			response.end = (() => {
				request.socket.destroy();
				return response;
			}) as unknown as typeof response.end;
		}
		if (url.pathname === "/_matrix/client/versions") return reply(response, 200, { versions: ["v1.11"] });
		if (path === "login" && record.method === "POST") return reply(response, 200, logIn(world, parse(bytes)));
		if (!session) throw new Refusal(401, "M_UNKNOWN_TOKEN", "Unknown access token");
		if (path === "sync") return sync(session, url.searchParams, response);
		if (path === "upload") {
			const media = `media${world.name()}`;
			const type = request.headers["content-type"] ?? "";
			world.media.set(media, { bytes, type, name: url.searchParams.get("filename") ?? "" });
			return reply(response, 200, { content_uri: `mxc://${world.server}/${media}` });
		}
		const [, server_, media] = /^download\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
		if (media !== undefined) {
			const found = server_ === world.server ? world.media.get(media) : undefined;
			if (!found) throw new Refusal(404, "M_NOT_FOUND", "Not found");
			response.writeHead(200, { "content-type": found.type, "content-length": found.bytes.length });
			return void response.end(found.bytes);
		}
		for (const [method, pattern, route] of ROUTES) {
			const match = method === record.method ? pattern.exec(path) : null;
			if (!match) continue;
			const asked = { session, body: parse(bytes), query: url.searchParams, world, keys, transactions };
			const params = match.slice(1).map((part) => decodeURIComponent(part ?? ""));
			return reply(response, 200, route(asked, ...params));
		}
		throw new Refusal(404, "M_UNRECOGNIZED", "Unrecognized request");
	};

	const http = createServer((request, response) => {
		handle(request, response).catch((error: unknown) => {
			if (error instanceof Refusal) reply(response, error.status, error.body);
			else if (!response.destroyed) reply(response, 500, { errcode: "M_UNKNOWN", error: String(error) });
		});
	});
	http.keepAliveTimeout = 60_000;
	await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
	const server: MatrixServer = {
		url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
		keys,
		calls: [],
		asked: new Map(),
		faults: () => undefined,
		disconnect: () => http.closeAllConnections(),
		close: async () => {
			http.closeAllConnections();
			await new Promise((resolve) => http.close(resolve));
		},
	};
	return server;
}

function logIn(world: World, body: Json): Json {
	const { user } = (body.identifier ?? {}) as { readonly user?: string };
	const found = [...world.users.values()].find(({ id }) => id === user || id.startsWith(`@${user}:`));
	if (!found || found.password !== body.password)
		throw new Refusal(403, "M_FORBIDDEN", "Invalid username or password");
	const device = typeof body.device_id === "string" ? body.device_id : undefined;
	const session = world.logIn(found, device);
	return { user_id: found.id, device_id: session.device, access_token: session.token };
}

function parse(bytes: Buffer): Json {
	if (bytes.length === 0) return {};
	try {
		return JSON.parse(bytes.toString()) as Json;
	} catch {
		throw new Refusal(400, "M_NOT_JSON", "Content not JSON.");
	}
}

function reply(response: ServerResponse, status: number, body: unknown): void {
	const text = JSON.stringify(body);
	response.writeHead(status, {
		"content-type": "application/json",
		"content-length": Buffer.byteLength(text),
	});
	response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
	const pieces: Buffer[] = [];
	for await (const piece of request) pieces.push(piece as Buffer);
	return Buffer.concat(pieces);
}
