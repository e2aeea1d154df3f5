// Carrier: a chat service as small as one can be, for bridge programs. Updates are a log that is read from a place on; asking for what
// follows a place says that everything up to there was taken. A delivery's id is kept with its message, so that it can be looked up.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

const WAIT_MS = 1000;

export interface CarrierUpdate {
	readonly offset: number;
	readonly kind: "message" | "edit";
	readonly id: string;
	readonly chat: string;
	readonly user: string;
	readonly name: string;
	readonly text: string;
}

export interface CarrierMessage {
	readonly receipt: string;
	readonly id: string;
	readonly chat: string;
	text: string;
}

export type CarrierFault = "refuse" | "pause" | "markup_refused" | "lose_ack" | "lost";

export interface Carrier {
	readonly url: string;
	readonly updates: readonly CarrierUpdate[];
	readonly messages: readonly CarrierMessage[];
	/** How many requests to send or change a message came in. */
	readonly requests: number;
	/** Up to this offset everything was taken. */
	readonly taken: number;
	say(chat: string, text: string, user?: string): string;
	edit(id: string, text: string): void;
	redeliver(id: string): void;
	/** What happens to the next request to send. */
	next(fault: CarrierFault): void;
	disconnect(): void;
	close(): Promise<void>;
}

export async function createCarrier({
	limit,
	pauseSeconds,
}: {
	readonly limit: number;
	readonly pauseSeconds: number;
}): Promise<Carrier> {
	const updates: CarrierUpdate[] = [];
	const messages: CarrierMessage[] = [];
	const faults: CarrierFault[] = [];
	const waiting = new Set<() => void>();
	const sockets = new Set<Socket>();
	let requests = 0;
	let taken = 0;
	let said = 0;

	const add = (update: Omit<CarrierUpdate, "offset">) => {
		updates.push({ ...update, offset: updates.length + 1 });
		for (const wake of [...waiting]) wake();
	};
	const known = (id: string) => updates.find((update) => update.id === id) as CarrierUpdate;

	const answerUpdates = async (after: number, response: ServerResponse) => {
		taken = Math.max(taken, after);
		if (updates.length <= after)
			await new Promise<void>((resolve) => {
				const done = () => {
					clearTimeout(timer);
					waiting.delete(done);
					resolve();
				};
				const timer = setTimeout(done, WAIT_MS);
				waiting.add(done);
			});
		reply(response, 200, updates.slice(after));
	};

	const send = (body: Record<string, unknown>, response: ServerResponse): void => {
		requests++;
		const fault = faults.shift();
		const text = String(body.text);
		if (fault === "refuse") {
			reply(response, 403, "this chat does not take it");
			return;
		}
		if (fault === "pause") {
			response.setHeader("retry-after", String(pauseSeconds));
			reply(response, 429, "too many");
			return;
		}
		if (fault === "markup_refused" && body.plain !== true) {
			reply(response, 422, "cannot read the markup");
			return;
		}
		if (fault === "lost") {
			response.destroy();
			return;
		}
		if (text.length > limit) {
			reply(response, 400, "too long");
			return;
		}
		const before = messages.find(({ receipt }) => receipt === body.receipt);
		if (body.receipt !== null && !before) {
			reply(response, 404, "no such message");
			return;
		}
		const receipt = before?.receipt ?? `c${messages.length + 1}`;
		if (before) before.text = text;
		else messages.push({ receipt, id: String(body.id), chat: String(body.chat), text });
		if (fault === "lose_ack") {
			response.destroy();
			return;
		}
		reply(response, 200, { receipt });
	};

	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const { pathname, searchParams } = new URL(request.url ?? "/", "http://carrier");
		if (pathname === "/updates") return answerUpdates(Number(searchParams.get("after")), response);
		if (request.method === "POST") {
			send(JSON.parse(await text(request)), response);
			return;
		}
		const found = messages.find(({ id }) => id === searchParams.get("id"));
		reply(response, 200, found ? [found.receipt] : []);
	};
	const server = createServer((request, response) => {
		answer(request, response).catch((error: unknown) => response.destroy(error as Error));
	});
	server.on("connection", (socket) => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const disconnect = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		updates,
		messages,
		get requests() {
			return requests;
		},
		get taken() {
			return taken;
		},
		say: (chat, text, user = chat) => {
			const id = `m${++said}`;
			add({ kind: "message", id, chat, user, name: `User ${user}`, text });
			return id;
		},
		edit: (id, text) => add({ ...known(id), kind: "edit", text }),
		redeliver: (id) => add(known(id)),
		next: (fault) => faults.push(fault),
		disconnect,
		close: async () => {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			for (const wake of [...waiting]) wake();
			disconnect();
			await closed;
		},
	};
}

function reply(response: ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function text(request: IncomingMessage): Promise<string> {
	let all = "";
	request.setEncoding("utf8");
	for await (const piece of request) all += piece;
	return all;
}
