// `channels.<name>.email`: the mailbox of an e-mail channel, its servers, and whose mails count.
import { z } from "zod";
import { type Network, TLS_FIELDS } from "./network.ts";

const hostSchema = z
	.string()
	.regex(/^[A-Za-z0-9.:-]{1,253}$/, "must be a host name or an address, such as imap.example.org");
const portSchema = z.number().int().min(1).max(65_535);
const addressSchema = z
	.string()
	.max(254)
	.regex(/^[^\s"(),:;<>@[\\\]\p{Cc}]{1,64}@[^\s"(),:;<>@[\\\]\p{Cc}]{1,189}$/u, "must be an e-mail address");

export const emailSchema = z.strictObject({
	/** The mailbox's address: Keryx writes from it. */
	address: addressSchema,
	/** Shown next to the address. */
	name: z
		.string()
		.max(100)
		.regex(/^[^\p{Cc}]*$/u, "must be one line")
		.optional(),
	/** Other addresses that lead to this mailbox. */
	aliases: z.array(addressSchema).max(100).default([]),
	/** Default: the address. */
	login: z
		.string()
		.regex(/^[^\p{Cc}]{1,254}$/u, "must be one line")
		.optional(),
	imap_server: hostSchema,
	/** 993: TLS from the first byte. Any other port: STARTTLS. */
	imap_port: portSchema.optional(),
	smtp_server: hostSchema,
	/** 465: TLS from the first byte. Any other port: STARTTLS. */
	smtp_port: portSchema.optional(),
	/** False: never encrypted. For servers on this machine. */
	tls: z.boolean().default(true),
	/** Certificates to trust instead of the system's. */
	ca_file: z.string().min(1).optional(),
	/** The receiving server's name in its Authentication-Results headers: whom it confirms is proven. */
	authserv_id: z
		.string()
		.regex(/^[A-Za-z0-9._-]{1,253}$/, "must be a server's name, such as mx.example.org")
		.optional(),
	/** Every From counts as it is written, although anybody can write it. */
	trust: z.boolean().default(false),
	/** Senders whose automatic mails are answered, too: addresses, or `@domain`. */
	answer_automatic: z
		.array(z.string().regex(/^[^\s@]*@[^\s@]+$/, "must be an address, or a domain such as @example.org"))
		.max(100)
		.default([]),
	/** How many answers of Keryx installations may follow each other without a person. */
	hop_limit: z.number().int().min(1).max(100).default(5),
	/** Who puts copies into the Sent folder. */
	sent: z.enum(["append", "server", "none"]).default("append"),
	sent_folder: z.string().min(1).max(200).optional(),
});

export type EmailSettings = z.output<typeof emailSchema>;

/** Problems of an e-mail entry as a whole. */
export function* emailProblems(entry: {
	readonly platform: string;
	readonly email?: EmailSettings | undefined;
	readonly token_env?: string | undefined;
	readonly token_file?: string | undefined;
	readonly decides?: boolean;
}): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const { platform, email, token_env, token_file, decides } = entry;
	if (platform !== "email" || !email) return;
	if ((token_env === undefined) === (token_file === undefined))
		yield {
			path: ["token_env"],
			message: "or token_file must say where the password of the mailbox is; set one of the two",
		};
	if (decides === true && !email.trust)
		yield {
			path: ["decides"],
			message: "counts only with email.trust: true; a proven sender may answer confirmations anyway",
		};
}

export const emailNetwork: Network = {
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
};
