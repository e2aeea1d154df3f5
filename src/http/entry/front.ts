// A proxy in front of Keryx: under which public address a request arrived, and from whom. Forwarded headers count only if the connection
// comes from a configured proxy; otherwise they are a stranger's text.
import { BlockList, isIP } from "node:net";
import type { Entrance } from "./auth.ts";

interface FrontOptions {
	/** The origin people use; null: no proxy. */
	readonly publicUrl?: string | null;
	/** Addresses or networks of proxies, such as 127.0.0.1 or 10.0.0.0/8. */
	readonly trustedProxies?: readonly string[];
}

type Front = (entrance: Entrance, headers: Headers) => Entrance;

/** The entrance as the proxy saw it. Without a public address nothing changes. */
export function createFront({ publicUrl = null, trustedProxies = [] }: FrontOptions): Front {
	if (publicUrl === null) return (entrance) => entrance;
	const origin = new URL(publicUrl).origin;
	const trusted = listOf(trustedProxies);
	return (entrance, headers) => {
		if (entrance.kind !== "port") return entrance;
		const isTrusted = trusted(entrance.remote);
		const host = (isTrusted && lastOf(headers.get("x-forwarded-host"))) || headers.get("host") || "";
		const remote = isTrusted
			? clientOf(headers.get("x-forwarded-for"), entrance.remote, trusted)
			: entrance.remote;
		return { ...entrance, remote, ...(isAt(host, origin) && { publicOrigin: origin }) };
	};
}

function isAt(host: string, origin: string): boolean {
	const { protocol, host: ours } = new URL(origin);
	return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === ours;
}

/** Each proxy appends its client: the last one that is not our proxy is the client. */
function clientOf(forwarded: string | null, remote: string, trusted: (address: string) => boolean): string {
	let client = remote;
	for (const hop of (forwarded ?? "").split(",").map(addressIn).reverse()) {
		if (isIP(hop) === 0) return client;
		client = hop;
		if (!trusted(hop)) return client;
	}
	return client;
}

function addressIn(text: string): string {
	const hop = text.trim();
	const [, inside] = /^\[([^\]]+)\](?::\d+)?$/.exec(hop) ?? [];
	return inside ?? hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}

function lastOf(header: string | null): string | undefined {
	return header?.split(",").at(-1)?.trim();
}

function listOf(entries: readonly string[]): (address: string) => boolean {
	const list = new BlockList();
	for (const entry of entries) {
		const [address = "", bits] = entry.split("/");
		const family = isIP(address) === 6 ? "ipv6" : "ipv4";
		if (bits === undefined) list.addAddress(address, family);
		else list.addSubnet(address, Number(bits), family);
	}
	return (given) => {
		const address = given.replace(/^::ffff:(?=\d+\.)/, "");
		const family = isIP(address);
		return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
	};
}
