// Discord over HTTP and WebSocket: REST, gateway and files at one address, and the ways in which they fail.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer } from "ws";
import { readBody } from "../telegram/body.ts";
import { ApiError, unauthorized } from "./errors.ts";
import type { Gateway } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import { type Limiter, tooMany } from "./limits.ts";
import { EMPTY, needsNoBot, routeOf } from "./routes.ts";
import type { ChannelRecord, World } from "./world.ts";

/** What happens to one request. */
export type Fault =
	/** Not carried out: too many at once. */
	| { readonly retryAfter: number; readonly global?: boolean }
	/** Not carried out, and answered so. Without JSON where the status is of a machine in between. */
	| { readonly status: number; readonly code?: number; readonly message: string; readonly errors?: object }
	/** Carried out, but the answer is lost. */
	| "lose_ack"
	/** Neither carried out nor answered. */
	| "lost"
	/** Waits before it is carried out. */
	| { readonly until: Promise<unknown> };

export interface CallRecord {
	readonly method: string;
	readonly path: string;
	readonly body: Readonly<Record<string, unknown>>;
	readonly at: number;
	/** Null while it is under way, or where no answer was given. */
	status: number | null;
}

export interface DiscordServer {
	readonly root: string;
	readonly calls: CallRecord[];
	/** Breaks every connection. */
	disconnect(): void;
	close(): Promise<void>;
}

interface ServerOptions {
	readonly world: World;
	readonly gateway: Gateway;
	readonly interactions: Interactions;
	readonly limiter: Limiter;
	readonly port?: number;
	readonly gatewayUrl: () => string;
	readonly faultOf: (call: CallRecord) => Fault | undefined;
	readonly onTyping: (channel: ChannelRecord) => void;
	readonly onCall: () => void;
}

export async function serveDiscord(options: ServerOptions): Promise<DiscordServer> {
	const { world, gateway, limiter, faultOf, onCall, port = 0 } = options;
	const calls: CallRecord[] = [];
	const sockets = new Set<Socket>();
	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		const url = new URL(request.url ?? "/", "http://peer");
		const path = url.pathname.replace(/^\/api\/v\d+/, "");
		const method = request.method ?? "GET";
		const { fields, files } = await readBody(request, new URLSearchParams());
		const body = (fields.payload_json ?? fields) as Record<string, unknown>;
		const call: CallRecord = { method, path, body, at: world.clock.monotonic(), status: null };
		calls.push(call);
		onCall();
		let fault = faultOf(call);
		if (typeof fault === "object" && "until" in fault) {
			await fault.until;
			if (response.destroyed) return;
			fault = faultOf(call);
		}
		if (fault === "lost") return response.destroy();
		let headers: Readonly<Record<string, string>> = {};
		const answer = await answerOf(() => {
			if (typeof fault === "object") throw errorOf(fault);
			if (path.startsWith("/attachments/")) return fileOf(world, path);
			const given = /^Bot (.+)$/.exec(request.headers.authorization ?? "")?.[1];
			const bot = needsNoBot(path) ? world.bots[0] : world.bots.find(({ token }) => token === given);
			if (!bot) throw unauthorized();
			headers = limiter.take(bot.id, method, path);
			const { handler, at } = routeOf(method, path);
			const { interactions, onTyping, gatewayUrl } = options;
			const uploads = [...files.values()];
			return handler({
				bot,
				world,
				interactions,
				gatewayUrl: gatewayUrl(),
				body,
				files: uploads,
				query: url.searchParams,
				at,
				onTyping,
			});
		});
		if (fault === "lose_ack") return response.destroy();
		call.status = answer.status;
		response.writeHead(answer.status, {
			...headers,
			...answer.headers,
			...(answer.type && { "content-type": answer.type }),
		});
		response.end(answer.body);
		onCall();
	};
	const server = createServer((request, response) => {
		handle(request, response).catch((error: unknown) => response.destroy(error as Error));
	});
	const upgrades = new WebSocketServer({ noServer: true });
	server.on("upgrade", (request, socket, head) => {
		upgrades.handleUpgrade(request, socket, head, (opened) => gateway.accept(opened));
	});
	server.on("connection", (socket) => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, "127.0.0.1", resolve);
	});
	const disconnect = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls,
		disconnect,
		close: async () => {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			disconnect();
			await closed;
		},
	};
}

function fileOf(world: World, path: string): Uint8Array {
	const file = world.files.get(path.split("/")[3] ?? "");
	if (!file) throw new ApiError(404, 0, "404: Not Found");
	return file.bytes;
}

interface Answer {
	readonly status: number;
	readonly type: string | null;
	readonly body: string | Uint8Array;
	readonly headers: Readonly<Record<string, string>>;
}

async function answerOf(work: () => unknown): Promise<Answer> {
	try {
		const result = await work();
		if (result === EMPTY) return { status: 204, type: null, body: "", headers: {} };
		if (result instanceof Uint8Array)
			return { status: 200, type: "application/octet-stream", body: result, headers: {} };
		return { status: 200, type: "application/json", body: JSON.stringify(result), headers: {} };
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const { status, message, code, headers, more } = error;
		// What stands between a bot and Discord speaks HTML.
		if (status === 502 || status === 504)
			return { status, type: "text/html", body: `<html><body>${message}</body></html>`, headers };
		return { status, type: "application/json", body: JSON.stringify({ message, code, ...more }), headers };
	}
}

function errorOf(fault: Exclude<Fault, string>): ApiError {
	if ("retryAfter" in fault) return tooMany(fault.retryAfter * 1000, {}, fault.global ?? false);
	if ("status" in fault)
		return new ApiError(fault.status, fault.code ?? 0, fault.message, {
			more: fault.errors ? { errors: fault.errors } : {},
		});
	throw new Error("a call waits once");
}
