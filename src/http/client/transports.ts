// Over HTTP, wherever fetch exists: Node and other runtimes.
import type { Transport, TransportOptions } from "./socket.ts";

/** To a Keryx at an address, such as http://127.0.0.1:7717, with a token. */
export function httpTransport(
	address: string | URL,
	{
		bearer,
		fetch: get = globalThis.fetch,
	}: Pick<TransportOptions, "bearer"> & { readonly fetch?: typeof fetch } = {},
): Transport {
	const base = String(address).replace(/\/+$/, "");
	return async ({ method, path, headers, body, signal }) => {
		const response = await get(base + path, {
			method,
			headers: { ...headers, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
			...(body !== undefined && {
				body: typeof body === "string" ? body : (ReadableStream.from(body) as never),
				duplex: "half",
			}),
			...(signal && { signal }),
		} as RequestInit);
		return { status: response.status, body: response.body ?? nothing() };
	};
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
