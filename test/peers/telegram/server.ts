// The Bot API over HTTP, and the ways in which it fails.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Payload, readBody } from "./body.ts";
import { ApiError } from "./errors.ts";
import { METHODS } from "./methods.ts";
import type { BotAccount, World } from "./world.ts";

/** What happens to one call. */
export type Fault =
	/** Not carried out: too many at once. */
	| { readonly retryAfter: number }
	/** Not carried out, and answered so. Without JSON where the status is of a machine in between. */
	| { readonly status: number; readonly description: string }
	/** Carried out, but the answer is lost. */
	| "lose_ack"
	/** Neither carried out nor answered. */
	| "lost"
	/** Waits before it is carried out; whoever hangs up meanwhile is not heard. */
	| { readonly until: Promise<unknown> };

export interface CallRecord {
	readonly method: string;
	readonly fields: Readonly<Record<string, unknown>>;
	/** Null while it is under way, or where no answer was given. */
	status: number | null;
}

/** Files are fetched by a call of this name. */
export const FETCH = "file";

export interface BotApiServer {
	readonly root: string;
	readonly calls: CallRecord[];
	/** Breaks every connection. */
	disconnect(): void;
	close(): Promise<void>;
}

interface ServerOptions {
	readonly world: World;
	readonly port?: number;
	readonly faultOf: (call: CallRecord) => Fault | undefined;
	readonly onCall: () => void;
}

export async function serveBotApi({
	world,
	port = 0,
	faultOf,
	onCall,
}: ServerOptions): Promise<BotApiServer> {
	const calls: CallRecord[] = [];
	const sockets = new Set<Socket>();
	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		const url = new URL(request.url ?? "/", "http://peer");
		const asked = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(url.pathname);
		const payload = await readBody(request, url.searchParams);
		const method = asked?.[1] ? FETCH : (asked?.[3] ?? "");
		const call: CallRecord = { method, fields: payload.fields, status: null };
		calls.push(call);
		onCall();
		let fault = faultOf(call);
		if (typeof fault === "object" && "until" in fault) {
			await fault.until;
			if (response.destroyed) return;
			fault = faultOf(call);
		}
		if (fault === "lost") return response.destroy();
		const answer = await answerOf(() => {
			if (typeof fault === "object") throw errorOf(fault);
			const bot = world.bots.find(({ token }) => token === asked?.[2]);
			if (!bot) throw new ApiError(asked ? 401 : 404, asked ? "Unauthorized" : "Not Found");
			return method === FETCH
				? fileOf(world, asked?.[3] ?? "")
				: carryOut(world, bot, method, payload, response);
		});
		if (fault === "lose_ack") return response.destroy();
		call.status = answer.status;
		response.writeHead(answer.status, { "content-type": answer.type });
		response.end(answer.body);
		onCall();
	};
	const server = createServer((request, response) => {
		handle(request, response).catch((error: unknown) => response.destroy(error as Error));
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

function carryOut(
	world: World,
	bot: BotAccount,
	name: string,
	payload: Payload,
	response: ServerResponse,
): unknown {
	const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
	if (!method) throw new ApiError(404, "Not Found: method not found");
	return method(world, { bot, payload, onLeft: (left) => response.on("close", left) });
}

function fileOf(world: World, path: string): Uint8Array {
	for (const file of world.files.values()) if (file.path === path) return file.bytes;
	throw new ApiError(404, "Not Found");
}

interface Answer {
	readonly status: number;
	readonly type: string;
	readonly body: string | Uint8Array;
}

async function answerOf(work: () => unknown): Promise<Answer> {
	try {
		const result = await work();
		if (result instanceof Uint8Array) return { status: 200, type: "application/octet-stream", body: result };
		return { status: 200, type: "application/json", body: JSON.stringify({ ok: true, result }) };
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const { status, message: description, parameters } = error;
		// What stands between a bot and the Bot API speaks HTML.
		if (status === 502 || status === 504)
			return { status, type: "text/html", body: `<html><body>${description}</body></html>` };
		const said = { ok: false, error_code: status, description, ...(parameters && { parameters }) };
		return { status, type: "application/json", body: JSON.stringify(said) };
	}
}

function errorOf(fault: Exclude<Fault, string>): ApiError {
	if ("retryAfter" in fault)
		return new ApiError(429, `Too Many Requests: retry after ${fault.retryAfter}`, {
			retry_after: fault.retryAfter,
		});
	if ("status" in fault) return new ApiError(fault.status, fault.description);
	throw new Error("a call waits once");
}
