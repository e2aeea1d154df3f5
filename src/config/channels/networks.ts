// Platforms where you name the server: each has a section of its entry, `channels.<name>.<platform>`. Its file has the schema, the problems
// of an entry as a whole, and what `keryx channels add` and the page ask for; every key that they ask for is in the schema.
import { emailNetwork, emailProblems, emailSchema } from "./email.ts";
import { ircNetwork, ircProblems, ircSchema } from "./irc.ts";
import { matrixNetwork, matrixProblems, matrixSchema } from "./matrix.ts";
import type { Network } from "./network.ts";
import { xmppNetwork, xmppProblems, xmppSchema } from "./xmpp.ts";

export const NETWORK_PLATFORMS = ["irc", "email", "xmpp", "matrix"] as const;

export type NetworkPlatform = (typeof NETWORK_PLATFORMS)[number];

export const NETWORKS: Readonly<Record<NetworkPlatform, Network>> = {
	irc: ircNetwork,
	email: emailNetwork,
	xmpp: xmppNetwork,
	matrix: matrixNetwork,
};

/** The sections, for the schema of an entry. */
export const networkSections = {
	/** The network, who Keryx is there, and where it joins. */
	irc: ircSchema.optional(),
	/** The mailbox, its servers, and whose mails count. */
	email: emailSchema.optional(),
	/** The homeserver. */
	matrix: matrixSchema.optional(),
	/** The account, its server, and the rooms it joins. */
	xmpp: xmppSchema.optional(),
};

export function isNetwork(platform: string): platform is NetworkPlatform {
	return NETWORK_PLATFORMS.some((one) => one === platform);
}

/** A section that belongs to another platform, or is missing. */
function* sectionProblems(
	entry: { readonly platform: string } & Readonly<Partial<Record<NetworkPlatform, unknown>>>,
): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	for (const platform of NETWORK_PLATFORMS) {
		const { label, fields } = NETWORKS[platform];
		const isOwn = entry.platform === platform;
		if (!isOwn && entry[platform] !== undefined)
			yield { path: [platform], message: `is for ${label} only; remove it` };
		if (!isOwn || entry[platform] !== undefined) continue;
		const needed = fields.filter((field) => field.needed).map(({ key }) => `${platform}.${key}`);
		yield {
			path: [platform],
			message: `must say which server to connect to: set ${needed.join(" and ")}`,
		};
	}
}

/** Problems of an entry as a whole. */
export const NETWORK_PROBLEMS = [
	sectionProblems,
	ircProblems,
	emailProblems,
	xmppProblems,
	matrixProblems,
] as const;
