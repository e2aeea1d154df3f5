// The options of an IRC channel.
import type { ConnectionOptions } from "../options.ts";
import type { Flood } from "../pace.ts";
import type { Login } from "./registration.ts";
import type { ServerAddress } from "./socket.ts";

/** Safe for every server in use: they count commands, not messages. */
export const FLOOD: Flood = { burst: 8, everyMs: 1000 };

export interface IrcSecrets {
	readonly serverPassword?: string;
	/** The account's password. */
	readonly password?: string;
	/** A certificate with its key, as PEM. */
	readonly certificate?: string;
	/** By channel. */
	readonly keys: ReadonlyMap<string, string>;
}

export interface IrcOptions extends ConnectionOptions {
	readonly server: {
		readonly host: string;
		readonly port: number;
		readonly tls: boolean;
		readonly ca?: string;
	};
	readonly nick: string;
	/** The account to log in with; default: the nick, if there is a password. */
	readonly login?: string;
	/** Read when it connects. */
	readonly secrets: () => Promise<IrcSecrets>;
	readonly join: readonly string[];
	/** People the server does not vouch for may answer confirmations. */
	readonly decides?: boolean;
	readonly flood?: Flood;
	readonly nickMs?: number;
	readonly rejoinMs?: number;
	/** An id for a message without one from the server. */
	readonly messageId?: () => string;
}

export function addressOf(
	{ server }: Pick<IrcOptions, "server">,
	{ certificate }: IrcSecrets,
): ServerAddress {
	const { host, port, tls, ca } = server;
	return {
		host,
		port,
		...(tls && {
			tls: { ...(ca !== undefined && { ca }), ...(certificate !== undefined && { certificate }) },
		}),
	};
}

/** Without a password and a certificate, Keryx does not log in. */
export function loginOf(
	{ login, nick }: Pick<IrcOptions, "login" | "nick">,
	{ password, certificate }: IrcSecrets,
): { readonly login?: Login } {
	if (password === undefined && certificate === undefined) return {};
	return { login: { name: login ?? nick, ...(password !== undefined && { password }) } };
}
