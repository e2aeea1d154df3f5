// The options of an e-mail channel.
import type { ConnectionOptions } from "../options.ts";
import type { Libraries } from "./libraries.ts";

/** tls: encrypted from the first byte. starttls: encrypted before the login. none: never, for a server on this machine. */
export type Encryption = "tls" | "starttls" | "none";

export interface MailServer {
	readonly host: string;
	readonly port: number;
	readonly encryption: Encryption;
	/** Certificates to trust instead of the system's, as PEM. */
	readonly ca?: string;
}

/**
 * append: Keryx puts a copy of each mail into the Sent folder. server: the server does so by itself. none: there is no copy, so that
 * nothing can be looked up.
 */
export type SentCopies = "append" | "server" | "none";

export interface EmailOptions extends ConnectionOptions {
	readonly imap: MailServer;
	readonly smtp: MailServer;
	/** Keryx's own address. */
	readonly address: string;
	/** Shown next to the address. */
	readonly displayName?: string;
	/** Other addresses that lead to the same mailbox. */
	readonly aliases?: readonly string[];
	/** The login; default: the address. */
	readonly login?: string;
	/** Read at every connect. */
	readonly password: () => Promise<string>;
	/** The name in the Authentication-Results headers of the receiving server. Without it, no sender is proven. */
	readonly authservId?: string;
	/** Trusts every From as written. */
	readonly trust?: boolean;
	/** People whose From is only trusted may answer confirmations. */
	readonly decides?: boolean;
	/** Senders whose automatic mails and list mails are answered: addresses, or `@domain`. */
	readonly answerAutomatic?: readonly string[];
	/** A mail that has passed through this many answers of Keryx installations is not answered. */
	readonly hopLimit?: number;
	readonly sent?: SentCopies;
	/** Default: the folder that the server marks as the one for sent mail, or `Sent`. */
	readonly sentFolder?: string;
	readonly load: () => Promise<Libraries>;
	/** How long a server that keeps sent mail by itself may take to show one in Sent. */
	readonly settleMs?: number;
}

/** The libraries' settings for a server. */
export function connectionOf({ host, port, encryption, ca }: MailServer) {
	return {
		host,
		port,
		secure: encryption === "tls",
		// The certificate is always checked.
		tls: { minVersion: "TLSv1.2" as const, ...(ca !== undefined && { ca }) },
	};
}
