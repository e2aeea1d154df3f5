// Who is let in: tokens, logins, pairings, and the chats of owners.
import type { PersonRole } from "../../domain/index.ts";
import type { Destination } from "./deliveries.ts";

/** operator: everything. approver: resolves, reads. agent: asks, reads and uses its own. reader: reads. channel: speaks for one channel. */
export type TokenRole = "operator" | "approver" | "agent" | "reader" | "channel";

export interface Token {
	readonly name: string;
	readonly role: TokenRole;
	readonly principal: string;
	/** The only conversation its holder may name; null: any. */
	readonly sessionKey: string | null;
	/** With the role channel: the one it speaks for. */
	readonly channel: string | null;
	readonly createdAt: number;
	readonly createdBy: string;
	readonly expiresAt: number | null;
	readonly revokedAt: number | null;
}

/** Someone who logs in to the page under a name. */
export interface Person {
	readonly name: string;
	readonly role: PersonRole;
}

/** One browser of a person. */
export interface LoginEntry {
	readonly id: string;
	readonly person: Person;
	readonly createdAt: number;
	readonly expiresAt: number;
	readonly revokedAt: number | null;
}

/** A login that is valid. */
export interface LiveLogin extends LoginEntry {
	readonly principal: string;
}

/** As its owner set it in a chat. */
export interface HomeChannel {
	readonly platform: string;
	readonly account: string;
	readonly chatId: string;
	readonly threadId?: string;
	readonly name: string;
	readonly setAt: number;
}

export type PairingState = "open" | "approved" | "denied" | "expired" | "revoked";

/** A stranger's request for access, and its result. */
export interface Pairing {
	readonly n: number;
	readonly platform: string;
	readonly account: string;
	/** The sender's id on the platform. */
	readonly id: string;
	/** The sender's own name; untrusted. */
	readonly name: string | null;
	readonly state: PairingState;
	readonly role: PersonRole | null;
	readonly principal: string | null;
	readonly destination: Destination;
	readonly askedAt: number;
	readonly expiresAt: number;
	readonly decidedAt: number | null;
	readonly decidedBy: string | null;
}
