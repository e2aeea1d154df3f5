// The options of an XMPP channel.
import type { Clock } from "../../time/index.ts";
import type { Flood } from "../pace.ts";

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

export interface XmppOptions {
	/** The name of its entry in `channels`. */
	readonly name: string;
	readonly account?: string;
	readonly profile?: string;
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
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly random?: () => number;
	readonly flood?: Flood;
	readonly aliveMs?: number;
	readonly firstPauseMs?: number;
	readonly longestPauseMs?: number;
	readonly rejoinMs?: number;
	/** How long fetching or storing one file may take. */
	readonly fileMs?: number;
}
