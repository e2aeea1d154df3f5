// `channels.<name>.irc`: the network of an IRC channel, who Keryx is there, and where it joins.
import { z } from "zod";
import { variableSchema } from "../models.ts";
import { type Network, TLS_FIELDS } from "./network.ts";

const roomSchema = z
	.string()
	// A channel's name begins with one of these; a comma, a space or a control character would end it.
	.regex(/^[#&+!][^\s,:\p{Cc}]{0,49}$/u, "must be a channel such as #keryx, of at most 50 characters")
	.refine((name) => Buffer.byteLength(name) <= 64, "must be at most 64 bytes long");

export const ircSchema = z.strictObject({
	/** Its host name or address. */
	server: z
		.string()
		.regex(/^[A-Za-z0-9.:-]{1,253}$/, "must be a host name or an address, such as irc.libera.chat"),
	/** Default: 6697 with TLS, 6667 without. */
	port: z.number().int().min(1).max(65_535).optional(),
	tls: z.boolean().default(true),
	/** Certificates to trust instead of the system's. */
	ca_file: z.string().min(1).optional(),
	nick: z
		.string()
		.regex(
			/^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/,
			"must be 1 to 30 of letters, digits and []\\`_^{|}-, starting with no digit and no -",
		),
	/** The account to log in with, by SASL; default: the nick, if there is a password. */
	login: z
		.string()
		.regex(/^[^\s\p{Cc}]{1,100}$/u, "must be an account's name, without spaces")
		.optional(),
	/** A certificate with its key: the login is by SASL EXTERNAL. */
	certificate_file: z.string().min(1).optional(),
	/** The channels to join. An entry with a key says where the key is. */
	join: z
		.array(
			z.union([
				roomSchema,
				z.strictObject({
					channel: roomSchema,
					key_env: variableSchema.optional(),
					key_file: z.string().min(1).optional(),
				}),
			]),
		)
		.max(100)
		.default([]),
	/** A burst of this many commands, then one every this many milliseconds. */
	flood_burst: z.number().int().min(2).max(1000).default(8),
	flood_ms: z.number().int().min(1).max(60_000).default(1000),
});

export type IrcSettings = z.output<typeof ircSchema>;

/** Problems of an IRC entry as a whole. */
export function* ircProblems(entry: {
	readonly platform: string;
	readonly irc?: IrcSettings | undefined;
	readonly token_env?: string | undefined;
	readonly token_file?: string | undefined;
	readonly server_password_env?: string | undefined;
	readonly server_password_file?: string | undefined;
}): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const { irc, platform, token_env, token_file, server_password_env, server_password_file } = entry;
	if (platform !== "irc") {
		if ((server_password_env ?? server_password_file) !== undefined)
			yield { path: ["server_password_env"], message: "is for IRC only; remove it" };
		return;
	}
	if (!irc) return;
	const hasPassword = token_env !== undefined || token_file !== undefined;
	if (token_env !== undefined && token_file !== undefined)
		yield {
			path: ["token_env"],
			message: "or token_file says where the password of the account is; set one of the two",
		};
	if (server_password_env !== undefined && server_password_file !== undefined)
		yield {
			path: ["server_password_env"],
			message: "or server_password_file says where the server's password is; set one of the two",
		};
	if (irc.login !== undefined && !hasPassword && irc.certificate_file === undefined)
		yield {
			path: ["irc", "login"],
			message: "needs a password: set token_env or token_file, or irc.certificate_file",
		};
	if (hasPassword && irc.certificate_file !== undefined)
		yield {
			path: ["irc", "certificate_file"],
			message: "takes the place of the password; set one of the two",
		};
	if (irc.certificate_file !== undefined && !irc.tls)
		yield { path: ["irc", "certificate_file"], message: "needs irc.tls: true" };
	for (const [n, room] of irc.join.entries())
		if (typeof room !== "string" && (room.key_env === undefined) === (room.key_file === undefined))
			yield {
				path: ["irc", "join", String(n)],
				message: "must say where the channel's key is: set key_env or key_file",
			};
}

export const ircNetwork: Network = {
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
};
