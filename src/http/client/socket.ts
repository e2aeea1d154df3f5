// One request to a running Keryx over its socket, and its answer. Independent of the calls: a command that only asks for the health loads
// no schema.
import {
	type ClientRequest,
	Agent as HttpAgent,
	request as httpRequest,
	type IncomingMessage,
} from "node:http";
import { KeryxError } from "../../errors.ts";
import type { Answer } from "../endpoints.ts";
import { type Patience, watchSilence } from "./patience.ts";

/** How one request is sent. */
export type Transport = (request: {
	readonly method: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string | AsyncIterable<Uint8Array>;
	readonly signal?: AbortSignal;
}) => Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }>;

export interface TransportOptions {
	/** A token, or the operator secret. */
	readonly bearer?: string | undefined;
	/** The origin for the audit; respected only on the socket. */
	readonly via?: "cli";
}

/** To a running Keryx over its socket. Without patience it waits forever. */
export function socketTransport(
	socketPath: string,
	options: TransportOptions & { readonly patience?: Patience } = {},
): Transport {
	const agent = new HttpAgent({ keepAlive: true });
	const own = headersOf(options);
	const { patience } = options;
	return ({ method, path, headers, body, signal }) =>
		new Promise((resolve, reject) => {
			const sent: ClientRequest = httpRequest(
				{ socketPath, agent, method, path, headers: { ...headers, ...own }, ...(signal && { signal }) },
				(response: IncomingMessage) =>
					resolve({ status: response.statusCode ?? 500, body: watched ? watched(response) : response }),
			);
			const watched = patience && watchSilence(sent, socketPath, patience);
			sent.on("error", (cause) => reject(cause));
			if (body === undefined || typeof body === "string") sent.end(body);
			else pour(body, sent).catch((cause: unknown) => sent.destroy(cause as Error));
		});
}

/** Its health. Throws the transport's error if nobody answers. */
export async function readHealth(transport: Transport): Promise<Answer<"health">> {
	const { status, body } = await transport({ method: "GET", path: "/health", headers: {} });
	const text = await textOf(body);
	if (status !== 200) throw errorOf(text, status);
	return JSON.parse(text) as Answer<"health">;
}

export function headersOf({ bearer, via }: TransportOptions): Readonly<Record<string, string>> {
	return {
		...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
		...(via !== undefined && { "x-keryx-via": via }),
	};
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of body) chunks.push(chunk);
	return Buffer.concat(chunks).toString("utf8");
}

/** The error as the server threw it: same code, message and hint. */
export function errorOf(text: string, status: number): KeryxError {
	try {
		const { error } = JSON.parse(text) as {
			error: { code: never; message: string; hint: string; field?: string };
		};
		return new KeryxError(error.code, error.message, {
			hint: error.hint,
			...(error.field !== undefined && { field: error.field }),
		});
	} catch (cause) {
		return new KeryxError("internal", `Keryx answered ${status} without a reason`, { cause });
	}
}

async function pour(from: AsyncIterable<Uint8Array>, to: ClientRequest): Promise<void> {
	for await (const chunk of from)
		if (!to.write(chunk)) await new Promise((resolve) => to.once("drain", resolve));
	to.end();
}
