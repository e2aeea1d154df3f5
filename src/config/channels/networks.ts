// Platforms where you name the server: each has a section of its entry, `channels.<name>.<platform>`. This table says which of its keys
// `keryx channels add` and the page ask for, and in which words; every key is in the section's schema.

export const NETWORK_PLATFORMS = ["irc", "email", "xmpp", "matrix"] as const;

export type NetworkPlatform = (typeof NETWORK_PLATFORMS)[number];

export interface NetworkField {
	/** In the section; on the command line `--key`, with dashes. The same key has the same kind on every platform. */
	readonly key: string;
	/** A file is a path on this machine. A switch is on unless it is turned off (`--no-key`). */
	readonly kind: "text" | "number" | "list" | "file" | "switch";
	readonly label: string;
	readonly about: string;
	/** A value that works somewhere, for hints. */
	readonly example?: string;
	readonly needed?: true;
	/** Under More options on the page; "never": a path of this machine means nothing in a browser. */
	readonly page?: "more" | "never";
}

export interface NetworkSecret {
	/** `token` is asked for first. */
	readonly option: "token" | "serverPassword";
	readonly label: string;
	readonly about: string;
	/** "asked": only if the caller says that there is one. A key: only if that field is given. */
	readonly when: "always" | "asked" | { readonly given: string };
}

export interface Network {
	/** As the platform writes itself. */
	readonly label: string;
	/** Whether people may speak there whom the server does not vouch for: `decides` says what they may do. */
	readonly hasUnproven: boolean;
	readonly fields: readonly NetworkField[];
	readonly secrets: readonly NetworkSecret[];
}

const TLS_FIELDS: readonly NetworkField[] = [
	{
		key: "tls",
		kind: "switch",
		label: "Encrypt the connection",
		about: "without TLS, anyone between here and the server can read everything",
		page: "more",
	},
	{
		key: "ca_file",
		kind: "file",
		label: "Certificates",
		about: "a file with the certificates to trust, in place of the system's",
		page: "never",
	},
];

export const NETWORKS: Readonly<Record<NetworkPlatform, Network>> = {
	irc: {
		label: "IRC",
		hasUnproven: true,
		fields: [
			{
				key: "server",
				kind: "text",
				label: "Server",
				about: "the server's host name",
				example: "irc.libera.chat",
				needed: true,
			},
			{
				key: "nick",
				kind: "text",
				label: "Nick",
				about: "the agent's name on the network",
				example: "keryx",
				needed: true,
			},
			{
				key: "join",
				kind: "list",
				label: "Channels",
				about: "channels to join; the agent joins no others",
				example: "#keryx",
			},
			{
				key: "login",
				kind: "text",
				label: "Registered account",
				about: "only if you have registered one for the agent on this network",
				example: "keryx",
			},
			{
				key: "port",
				kind: "number",
				label: "Port",
				about: "default: 6697, without TLS 6667",
				example: "6697",
				page: "more",
			},
			...TLS_FIELDS,
		],
		secrets: [
			{
				option: "token",
				label: "Password",
				about: "the password of that account",
				when: { given: "login" },
			},
			{
				option: "serverPassword",
				label: "Server password",
				about: "only if the server asks everyone for one",
				when: "asked",
			},
		],
	},
	email: {
		label: "E-mail",
		hasUnproven: true,
		fields: [
			{
				key: "address",
				kind: "text",
				label: "Address",
				about: "the agent's own address",
				example: "keryx@example.org",
				needed: true,
			},
			{
				key: "imap_server",
				kind: "text",
				label: "IMAP server",
				about: "where its mails are read",
				example: "imap.example.org",
				needed: true,
			},
			{
				key: "smtp_server",
				kind: "text",
				label: "SMTP server",
				about: "where its mails are sent",
				example: "smtp.example.org",
				needed: true,
			},
			{
				key: "authserv_id",
				kind: "text",
				label: "Checking server",
				about:
					"the name in the Authentication-Results header of mails you receive; only senders it confirms are heard",
				example: "mx.example.org",
			},
			{
				key: "login",
				kind: "text",
				label: "Login",
				about: "if it is not the address",
				example: "keryx",
				page: "more",
			},
			{
				key: "imap_port",
				kind: "number",
				label: "IMAP port",
				about: "default: 993; any other one with STARTTLS",
				example: "143",
				page: "more",
			},
			{
				key: "smtp_port",
				kind: "number",
				label: "SMTP port",
				about: "default: 465; any other one with STARTTLS",
				example: "587",
				page: "more",
			},
			...TLS_FIELDS,
		],
		secrets: [
			{
				option: "token",
				label: "Password",
				about: "the password of the mailbox; many providers want an app password",
				when: "always",
			},
		],
	},
	xmpp: {
		label: "XMPP",
		hasUnproven: true,
		fields: [
			{
				key: "jid",
				kind: "text",
				label: "Address",
				about: "the address of the agent's account",
				example: "keryx@example.org",
				needed: true,
			},
			{
				key: "join",
				kind: "list",
				label: "Rooms",
				about: "rooms to join; the agent joins no others",
				example: "team@rooms.example.org",
			},
			{
				key: "nick",
				kind: "text",
				label: "Nick",
				about: "the agent's name in rooms; default: the first part of its address",
				example: "keryx",
				page: "more",
			},
			{
				key: "server",
				kind: "text",
				label: "Server",
				about: "only if it cannot be found by the address",
				example: "xmpp.example.org",
				page: "more",
			},
			{
				key: "port",
				kind: "number",
				label: "Port",
				about: "only if it is not the usual one, 5222; 5223 is encrypted from the start",
				example: "5222",
				page: "more",
			},
			...TLS_FIELDS,
		],
		secrets: [{ option: "token", label: "Password", about: "the password of the account", when: "always" }],
	},
	matrix: {
		label: "Matrix",
		hasUnproven: false,
		fields: [
			{
				key: "homeserver",
				kind: "text",
				label: "Homeserver",
				about: "the homeserver's address",
				example: "https://matrix.example.org",
				needed: true,
			},
			{
				key: "user",
				kind: "text",
				label: "User",
				about: "the agent's account, to log in with its password",
				example: "@keryx:example.org",
			},
			{
				key: "encryption",
				kind: "switch",
				label: "Encrypted rooms",
				about: "without it, encrypted rooms are refused",
				page: "more",
			},
		],
		secrets: [
			{
				option: "token",
				label: "Password or access token",
				about: "the password of that user; without a user, an access token",
				when: "always",
			},
		],
	},
};

export function isNetwork(platform: string): platform is NetworkPlatform {
	return NETWORK_PLATFORMS.some((one) => one === platform);
}

/** A section that belongs to another platform, or is missing. */
export function* sectionProblems(
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
