// A model provider on 127.0.0.1 with scripted answers, in the formats of OpenAI's chat completions and
// responses and of Anthropic's messages. It records every request unchanged.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	/** The body's bytes as text. */
	readonly body: string;
}

export type Reply = (response: ServerResponse, request: Received) => void;

export interface ModelServer {
	/** To be used as base_url. */
	readonly url: string;
	readonly requests: readonly Received[];
	/** Used once each, in this order, before `always`. */
	next(...replies: readonly Reply[]): void;
	always(reply: Reply): void;
	/** Resolves when this many requests have arrived in total. */
	received(count: number): Promise<void>;
	/** Breaks every open connection. */
	cut(): void;
	forget(): void;
	close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
	const requests: Received[] = [];
	const queue: Reply[] = [];
	const waiting = new Set<() => void>();
	let always: Reply = says("ok");
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => {
			const received = {
				path: request.url ?? "",
				headers: request.headers,
				body: Buffer.concat(chunks).toString("utf8"),
			};
			requests.push(received);
			for (const look of waiting) look();
			(queue.shift() ?? always)(response, received);
		});
	});
	await new Promise<void>((resolve) => {
		server.listen(0, "127.0.0.1", resolve);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		requests,
		next: (...replies) => queue.push(...replies),
		always: (reply) => {
			always = reply;
		},
		received: (count) =>
			new Promise((resolve) => {
				const look = () => {
					if (requests.length < count) return;
					waiting.delete(look);
					resolve();
				};
				waiting.add(look);
				look();
			}),
		cut: () => server.closeAllConnections(),
		forget: () => {
			requests.length = 0;
			queue.length = 0;
			always = says("ok");
		},
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

export interface Usage {
	readonly input: number;
	readonly output: number;
	readonly cached?: number;
}

const USAGE: Usage = { input: 12, output: 3 };

/** A whole answer, in these pieces. */
export function says(...pieces: readonly string[]): Reply {
	return answers(pieces.map((content) => ({ content })));
}

export function answers(
	deltas: readonly object[],
	{ finish = "stop", usage = USAGE }: { readonly finish?: string; readonly usage?: Usage | null } = {},
): Reply {
	return (response) => {
		begin(response, deltas);
		response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
		if (usage)
			response.write(
				event({
					choices: [],
					usage: {
						prompt_tokens: usage.input,
						completion_tokens: usage.output,
						...(usage.cached !== undefined && { prompt_tokens_details: { cached_tokens: usage.cached } }),
					},
				}),
			);
		response.end("data: [DONE]\n\n");
	};
}

/** Parallel calls: each with its id, its name and the text of its arguments, sent in two pieces. */
export function calls(
	...wanted: readonly { readonly id: string; readonly name: string; readonly args: string }[]
): Reply {
	const opening = wanted.map(({ id, name, args }, index) => ({
		tool_calls: [
			{ index, id, type: "function", function: { name, arguments: args.slice(0, args.length >> 1) } },
		],
	}));
	const rest = wanted.map(({ args }, index) => ({
		tool_calls: [{ index, function: { arguments: args.slice(args.length >> 1) } }],
	}));
	return answers([...opening, ...rest], { finish: "tool_calls" });
}

/** Sends this text, then nothing more, as long as the client stays. */
export function stalls(...pieces: readonly string[]): Reply {
	return (response) => begin(response, contents(pieces));
}

/** Repeats the same text this often, as fast as the client reads, until it leaves. */
export function floods(piece: string, times: number): Reply {
	return (response) => {
		begin(response, []);
		const send = (n: number): void => {
			if (response.destroyed) return;
			if (n === times) return void response.end("data: [DONE]\n\n");
			response.write(event({ choices: [{ index: 0, delta: { content: piece } }] }), () => send(n + 1));
		};
		response.on("error", () => {});
		send(0);
	};
}

/** Sends this text, then something that is not JSON. */
export function babbles(...pieces: readonly string[]): Reply {
	return (response) => {
		begin(response, contents(pieces));
		response.end('data: {"choices":[{"delta":\n\n');
	};
}

/** Starts to answer, then breaks the connection. In mid-word: `stalls`, then the server's `cut`. */
export function hangsUp(): Reply {
	return (response) => {
		begin(response, []);
		response.destroy();
	};
}

/** Sends this text, then ends as if complete. */
export function breaksOff(...pieces: readonly string[]): Reply {
	return (response) => {
		begin(response, contents(pieces));
		response.end();
	};
}

export function refuses(
	status: number,
	error: object = { message: "no" },
	headers: Readonly<Record<string, string>> = {},
): Reply {
	return (response) => {
		response.writeHead(status, { "content-type": "application/json", ...headers });
		response.end(JSON.stringify({ error }));
	};
}

/** Anthropic's format: blocks of text, thinking or tool use. */
export function claude(...blocks: readonly object[]): Reply {
	return (response) => {
		const send = (type: string, data: object) =>
			response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
		response.writeHead(200, { "content-type": "text/event-stream" });
		const usage = {
			input_tokens: 5,
			cache_read_input_tokens: 100,
			cache_creation_input_tokens: 20,
			output_tokens: 1,
		};
		const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage };
		send("message_start", { message });
		for (const [index, block] of blocks.entries()) sendBlock(send, index, block as ClaudeBlock);
		const stop = blocks.some((block) => (block as ClaudeBlock).type === "tool_use") ? "tool_use" : "end_turn";
		send("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 7 } });
		send("message_stop", {});
		response.end();
	};
}

type ClaudeBlock =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
	| { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

function sendBlock(send: (type: string, data: object) => void, index: number, block: ClaudeBlock): void {
	const [empty, ...deltas] =
		block.type === "text"
			? [
					{ type: "text", text: "" },
					{ type: "text_delta", text: block.text },
				]
			: block.type === "thinking"
				? [
						{ type: "thinking", thinking: "", signature: "" },
						{ type: "thinking_delta", thinking: block.thinking },
						{ type: "signature_delta", signature: block.signature },
					]
				: [
						{ ...block, input: {} },
						{ type: "input_json_delta", partial_json: JSON.stringify(block.input) },
					];
	send("content_block_start", { index, content_block: empty });
	for (const delta of deltas) send("content_block_delta", { index, delta });
	send("content_block_stop", { index });
}

/** The format of OpenAI's responses: sealed reasoning, then a text or a call. */
export function responds(
	answer: { readonly text: string } | { readonly call: string; readonly name: string; readonly args: string },
): Reply {
	const thought = { type: "reasoning", id: "rs_1", encrypted_content: "sealed", summary: [] };
	const item =
		"text" in answer
			? {
					type: "message",
					id: "msg_1",
					role: "assistant",
					status: "completed",
					content: [{ type: "output_text", text: answer.text, annotations: [] }],
				}
			: {
					type: "function_call",
					id: "fc_1",
					call_id: answer.call,
					name: answer.name,
					arguments: answer.args,
					status: "completed",
				};
	const response = {
		id: "resp_1",
		object: "response",
		created_at: 1,
		model: "gpt-5.4",
		status: "completed",
		output: [thought, item],
	};
	const usage = {
		input_tokens: 12,
		output_tokens: 3,
		input_tokens_details: { cached_tokens: 4 },
		output_tokens_details: { reasoning_tokens: 1 },
	};
	const events: readonly object[] = [
		{ type: "response.created", response },
		{ type: "response.output_item.added", output_index: 0, item: thought },
		{ type: "response.output_item.done", output_index: 0, item: thought },
		{ type: "response.output_item.added", output_index: 1, item },
		...("text" in answer
			? [
					{
						type: "response.output_text.delta",
						item_id: "msg_1",
						output_index: 1,
						content_index: 0,
						delta: answer.text,
					},
				]
			: [
					{
						type: "response.function_call_arguments.delta",
						item_id: "fc_1",
						output_index: 1,
						delta: answer.args,
					},
				]),
		{ type: "response.output_item.done", output_index: 1, item },
		{ type: "response.completed", response: { ...response, usage } },
	];
	return (response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
	};
}

function contents(pieces: readonly string[]): object[] {
	return pieces.map((content) => ({ content }));
}

function begin(response: ServerResponse, deltas: readonly object[]): void {
	response.writeHead(200, { "content-type": "text/event-stream" });
	response.flushHeaders();
	for (const delta of deltas) response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }));
}

function event(data: object): string {
	return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", ...data })}\n\n`;
}
