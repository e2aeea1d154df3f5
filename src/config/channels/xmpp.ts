// `channels.<name>.xmpp`: the account of an XMPP channel, its server, and the rooms it joins.
import { z } from "zod";
import { variableSchema } from "../models.ts";
import { type Network, TLS_FIELDS } from "./network.ts";

const addressSchema = z
	.string()
	.regex(
		/^[^\s"&'/:<>@\p{Cc}]{1,200}@[^\s"&'/:<>@\p{Cc}]{1,253}$/u,
		"must be an address such as keryx@example.org",
	)
	// The same account or room in one way only.
	.transform((jid) => jid.normalize("NFKC").toLowerCase());

export const xmppSchema = z.strictObject({
	/** The address of the account. */
	jid: addressSchema,
	/** Default: found by the address's domain. */
	server: z
		.string()
		.regex(/^[A-Za-z0-9.:-]{1,253}$/, "must be a host name or an address, such as xmpp.example.org")
		.optional(),
	/** Default: as the domain says, or 5222. */
	port: z.number().int().min(1).max(65_535).optional(),
	tls: z.boolean().default(true),
	/** TLS from the first byte in place of STARTTLS; default: on port 5223. */
	direct_tls: z.boolean().optional(),
	/** Certificates to trust instead of the system's. */
	ca_file: z.string().min(1).optional(),
	/** In rooms; default: the address's part before the @. */
	nick: z
		.string()
		.regex(
			/^[^\s/\p{Cc}][^/\p{Cc}]{0,49}$/u,
			"must be at most 50 characters, without / and starting with no space",
		)
		.optional(),
	/** The rooms to join. An entry with a password says where the password is. */
	join: z
		.array(
			z.union([
				addressSchema,
				z.strictObject({
					room: addressSchema,
					password_env: variableSchema.optional(),
					password_file: z.string().min(1).optional(),
				}),
			]),
		)
		.max(100)
		.default([]),
	/** A burst of this many messages, then one every this many milliseconds. */
	flood_burst: z.number().int().min(1).max(1000).default(20),
	flood_ms: z.number().int().min(1).max(60_000).default(250),
});

export type XmppSettings = z.output<typeof xmppSchema>;

/** Problems of an XMPP entry as a whole. */
export function* xmppProblems(entry: {
	readonly platform: string;
	readonly xmpp?: XmppSettings | undefined;
	readonly token_env?: string | undefined;
	readonly token_file?: string | undefined;
}): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const { xmpp, platform, token_env, token_file } = entry;
	if (platform !== "xmpp" || !xmpp) return;
	if ((token_env === undefined) === (token_file === undefined))
		yield {
			path: ["token_env"],
			message: "or token_file must say where the password of the account is; set one of the two",
		};
	if (xmpp.direct_tls === true && !xmpp.tls)
		yield { path: ["xmpp", "direct_tls"], message: "needs xmpp.tls: true" };
	for (const [n, room] of xmpp.join.entries())
		if (typeof room !== "string" && (room.password_env === undefined) === (room.password_file === undefined))
			yield {
				path: ["xmpp", "join", String(n)],
				message: "must say where the room's password is: set password_env or password_file",
			};
}

export const xmppNetwork: Network = {
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
};
