// The Web API, files and Socket Mode over one port, and the ways in which they fail.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer } from "ws";
import { SlackRefusal } from "./errors.ts";
import { type Fields, METHODS, type Shelf } from "./methods.ts";
import { MOST_SOCKETS } from "./sockets.ts";

/** What happens to one call. */
export type Fault =
	/** Not carried out: too many at once. */
	| { readonly retryAfter: number }
	/** Not carried out, and answered with this word. */
	| { readonly error: string }
	/** Of a machine in between. */
	| { readonly status: number }
	/** Carried out, but the answer is lost. */
	| "lose_ack"
	/** Neither carried out nor answered. */
	| "lost"
	/** Waits before it is carried out. */
	| { readonly until: Promise<unknown> };

export interface CallRecord {
	/** Of the Web API; uploads and downloads have names of their own. */
	readonly method: string;
	readonly fields: Fields;
	readonly at: number;
	/** Null while it is under way, or where no answer was given. */
	status: number | null;
}

/** Files are fetched and brought by calls of these names. */
export const FETCH = "file";
export const UPLOAD = "upload";

interface ServerOptions {
	readonly shelf: Omit<Shelf, "root">;
	readonly port?: number;
	readonly faultOf: (call: CallRecord) => Fault | undefined;
	/** Answers the seconds to wait where there were too many of a method. */
	readonly limitOf: (call: CallRecord) => number | undefined;
	readonly tokens: () => { readonly bot: string; readonly app: string; readonly refusal: string };
	readonly onCall: () => void;
}

export async function serveSlack(options: ServerOptions) {
	const { shelf, port = 0, faultOf, limitOf, tokens, onCall } = options;
	const calls: CallRecord[] = [];
	const connections = new Set<Socket>();
	let root = "";

	const carryOut = (method: string, fields: Fields, token: string): object => {
		const { bot, app, refusal } = tokens();
		if (token === "") throw new SlackRefusal("not_authed");
		const isForApp = method === "apps.connections.open";
		if (token === (isForApp ? bot : app)) throw new SlackRefusal("not_allowed_token_type");
		if (token !== (isForApp ? app : bot)) throw new SlackRefusal(refusal);
		const carry = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
		if (!carry) throw new SlackRefusal("unknown_method", { req_method: method });
		return carry(fields, { ...shelf, root });
	};
	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		const url = new URL(request.url ?? "/", "http://peer");
		const body = await bytesOf(request);
		const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
		const upload = /^\/upload\/v1\/(F\d+)$/.exec(url.pathname)?.[1];
		const file = /^\/files-pri\/[^/]*-(F\d+)\//.exec(url.pathname)?.[1];
		const named = /^\/api\/([\w.]+)$/.exec(url.pathname)?.[1] ?? "";
		const method = upload ? UPLOAD : file ? FETCH : named;
		const fields = upload || file ? {} : fieldsOf(request, body);
		const call: CallRecord = { method, fields, at: shelf.world.clock.monotonic(), status: null };
		calls.push(call);
		onCall();
		let fault = faultOf(call);
		if (typeof fault === "object" && "until" in fault) {
			await fault.until;
			if (response.destroyed) return;
			fault = faultOf(call);
		}
		if (fault === "lost") return void response.destroy();
		if (typeof fault === "object" && "status" in fault) return answer(call, response, fault.status, "<html>");
		const wait = typeof fault === "object" && "retryAfter" in fault ? fault.retryAfter : limitOf(call);
		if (wait !== undefined)
			return answer(
				call,
				response,
				429,
				{ ok: false, error: "ratelimited" },
				{ "retry-after": String(wait) },
			);
		if (upload) {
			const wanted = shelf.uploads.get(upload);
			if (wanted) wanted.bytes = fileIn(request, body);
			if (fault === "lose_ack") return void response.destroy();
			return answer(call, response, wanted ? 200 : 404, "OK");
		}
		if (file) {
			if (token !== tokens().bot) return answer(call, response, 302, "", { location: `${root}/login` });
			return answer(call, response, 200, shelf.world.files.get(file)?.bytes ?? Buffer.alloc(0));
		}
		let said: object;
		try {
			if (typeof fault === "object" && "error" in fault) throw new SlackRefusal(fault.error);
			const asked = typeof fields.token === "string" ? fields.token : token;
			said = { ok: true, ...carryOut(method, fields, asked) };
		} catch (error) {
			if (!(error instanceof SlackRefusal)) throw error;
			said = { ok: false, error: error.message, ...error.more };
		}
		if (fault === "lose_ack") return void response.destroy();
		answer(call, response, 200, said, { "x-oauth-scopes": SCOPES });
		onCall();
	};
	const server = createServer((request, response) => {
		handle(request, response).catch((error: unknown) => response.destroy(error as Error));
	});
	const links = new WebSocketServer({ noServer: true });
	server.on("upgrade", (request, socket, head) => {
		if (shelf.sockets.open.size >= MOST_SOCKETS) return void socket.destroy();
		links.handleUpgrade(request, socket, head, (link) => shelf.sockets.add(link));
	});
	server.on("connection", (socket) => {
		connections.add(socket);
		socket.on("close", () => connections.delete(socket));
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, "127.0.0.1", resolve);
	});
	root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const disconnect = () => {
		for (const socket of connections) socket.destroy();
	};
	return {
		root,
		calls,
		/** Breaks every connection. */
		disconnect,
		/** Addresses are given out with this in their place: a proxy between. */
		setRoot: (given: string) => {
			root = given;
			shelf.world.root = given;
		},
		close: async () => {
			shelf.sockets.close();
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			disconnect();
			await closed;
		},
	};
}

export const SCOPES =
	"app_mentions:read,channels:history,channels:read,chat:write,commands,files:read,files:write,groups:history,groups:read,im:history,im:read,im:write,mpim:history,mpim:read,reactions:read,users:read";

function answer(
	call: CallRecord,
	response: ServerResponse,
	status: number,
	body: object | string,
	headers: Readonly<Record<string, string>> = {},
): void {
	call.status = status;
	if (Buffer.isBuffer(body) || typeof body === "string") {
		response.writeHead(status, headers).end(body);
		return;
	}
	response.writeHead(status, { ...headers, "content-type": "application/json" }).end(JSON.stringify(body));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

/** A file comes as it is, or as the one part of a form. */
function fileIn(request: IncomingMessage, body: Buffer): Buffer {
	const boundary = /boundary=("?)([^";]+)\1/.exec(request.headers["content-type"] ?? "")?.[2];
	if (boundary === undefined) return body;
	const from = body.indexOf("\r\n\r\n") + 4;
	return body.subarray(from, body.indexOf(`\r\n--${boundary}`, from));
}

const STRUCTURED: ReadonlySet<string> = new Set(["blocks", "metadata", "files", "attachments"]);

/** A form, in which everything but text is JSON, or JSON. */
function fieldsOf(request: IncomingMessage, body: Buffer): Fields {
	const type = request.headers["content-type"] ?? "";
	if (type.startsWith("application/json")) return JSON.parse(body.toString() || "{}") as Fields;
	return Object.fromEntries(
		[...new URLSearchParams(body.toString())].map(([name, value]) => [
			name,
			STRUCTURED.has(name) ? (JSON.parse(value) as unknown) : value,
		]),
	);
}
