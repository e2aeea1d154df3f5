// Where a domain's server is: as configured, or as the domain's name records say (RFC 6120, XEP-0368).
import { resolveSrv } from "node:dns/promises";
import type { XmppOptions } from "./options.ts";
import type { ServerAddress } from "./socket.ts";

export interface Found {
	readonly name: string;
	readonly port: number;
	readonly priority: number;
	readonly weight: number;
}

/** `tries`: the next one after each failure. */
export async function serverAddress(
	{ server }: Pick<XmppOptions, "server">,
	domain: string,
	tries: number,
	resolve: (name: string) => Promise<readonly Found[]> = resolveSrv,
): Promise<ServerAddress> {
	const { tls, ca } = server;
	const direct = tls === "direct";
	const port = server.port ?? (direct ? 5223 : 5222);
	const common = { domain, direct, ...(ca !== undefined && { ca }) };
	if (server.host !== undefined || server.port !== undefined)
		return { ...common, host: server.host ?? domain, port };
	const records = await resolve(`_xmpp${direct ? "s" : ""}-client._tcp.${domain}`).catch(
		(): readonly Found[] => [],
	);
	const sorted = records
		.filter(({ name }) => name !== "" && name !== ".")
		.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
	const chosen = sorted[tries % Math.max(1, sorted.length)];
	return { ...common, host: chosen?.name ?? domain, port: chosen?.port ?? port };
}
