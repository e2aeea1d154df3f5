// Which addresses a page may be fetched from. Everything outside the public internet is refused: this machine, its network, and a cloud's
// key service.
import { BlockList, isIP } from "node:net";

/** Not public, by the registries of special addresses (RFC 6890 and its successors). */
const PRIVATE: readonly (readonly [address: string, bits: number])[] = [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.0.0", 24],
	["192.0.2.0", 24],
	["192.88.99.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["198.51.100.0", 24],
	["203.0.113.0", 24],
	["224.0.0.0", 4],
	["240.0.0.0", 4],
];
/** Only this part of IPv6 is public; addresses that embed an IPv4 address are refused with the rest. */
const GLOBAL_V6: readonly (readonly [address: string, bits: number])[] = [["2000::", 3]];
const PRIVATE_V6: readonly (readonly [address: string, bits: number])[] = [
	["2001::", 23],
	["2001:db8::", 32],
	["2002::", 16],
	["3fff::", 20],
];

const isPrivateV4 = listOf(PRIVATE, "ipv4");
const isGlobalV6 = listOf(GLOBAL_V6, "ipv6");
const isPrivateV6 = listOf(PRIVATE_V6, "ipv6");

export function isPublicAddress(address: string): boolean {
	if (isIP(address) === 4) return !isPrivateV4(address);
	return isIP(address) === 6 && isGlobalV6(address) && !isPrivateV6(address);
}

/** Also allowed by the operator: names, addresses, and ranges such as 10.1.0.0/16. */
export function allowedPrivately(allow: readonly string[]): {
	readonly name: (host: string) => boolean;
	readonly address: (address: string) => boolean;
} {
	const ranges = new BlockList();
	const names = new Set<string>();
	for (const entry of allow) {
		const [address = "", bits] = entry.split("/");
		const version = isIP(address);
		if (version === 0) names.add(entry.toLowerCase());
		else
			ranges.addSubnet(address, Number(bits ?? (version === 4 ? 32 : 128)), version === 4 ? "ipv4" : "ipv6");
	}
	return {
		name: (host) => names.has(host.toLowerCase()),
		address: (address) => ranges.check(address, isIP(address) === 4 ? "ipv4" : "ipv6"),
	};
}

function listOf(
	ranges: readonly (readonly [address: string, bits: number])[],
	version: "ipv4" | "ipv6",
): (address: string) => boolean {
	const list = new BlockList();
	for (const [address, bits] of ranges) list.addSubnet(address, bits, version);
	return (address) => list.check(address, version);
}
