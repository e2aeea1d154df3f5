// The options of an XMPP channel, and where its server is: as configured, or as the domain's name records say (RFC 6120, XEP-0368).
import { resolveSrv } from "node:dns/promises";
import type { ConnectionOptions } from "../options.ts";
import type { Flood } from "../pace.ts";
import type { ServerAddress } from "./stream/socket.ts";

/** Far below what servers allow. */
export const FLOOD: Flood = { burst: 20, everyMs: 250 };

export interface XmppSecrets {
	/** Of the account. */
	readonly password: string;
	/** By room. */
	readonly roomPasswords: ReadonlyMap<string, string>;
}

export interface XmppServer {
	/** Absent: found by the account's domain. */
	readonly host?: string;
	readonly port?: number;
	readonly tls: "starttls" | "direct" | "none";
	/** Authorities to trust instead of the usual ones, as PEM. */
	readonly ca?: string;
}

export interface XmppOptions extends ConnectionOptions {
	/** The address of the account, without a resource. */
	readonly jid: string;
	readonly server: XmppServer;
	/** In rooms. */
	readonly nick: string;
	/** Read when it connects. */
	readonly secrets: () => Promise<XmppSecrets>;
	/** The rooms to join. */
	readonly join: readonly string[];
	/** People whom no server vouches for may answer confirmations. */
	readonly decides?: boolean;
	readonly flood?: Flood;
	readonly rejoinMs?: number;
	/** How long fetching or storing one file may take. */
	readonly fileMs?: number;
}

interface Found {
	readonly name: string;
	readonly port: number;
	readonly priority: number;
	readonly weight: number;
}

/** `tries`: how many attempts failed; each uses the next address. */
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
