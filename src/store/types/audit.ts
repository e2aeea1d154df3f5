// The audit, its witness, and changes of the configuration that it records.

export type AuditVia = "page" | "chat" | "api" | "cli" | "agent" | "system";

export interface AuditEntry {
	readonly n: number;
	readonly at: number;
	readonly kind:
		| "requested"
		| "auto_approved"
		| "approved"
		| "denied"
		| "expired"
		| "cancelled"
		| "consumed"
		| "refused"
		| "granted"
		| "grant_revoked"
		| "token_created"
		| "token_revoked"
		/** A login link was made for a person with this role; a browser was logged in; logins ended. */
		| "login_offered"
		| "login_made"
		| "login_revoked"
		/** A stranger was let in, refused, or removed. */
		| "paired"
		| "unpaired"
		/** A human accepted an audit that differed from its witness. */
		| "audit_accepted"
		/** Programs run without walls from here on, because of the configuration. */
		| "walls_off"
		/** Someone changed config.yaml through Keryx. Recorded before the file is written; if that failed, a second entry says so. */
		| "config_changed"
		| "config_not_written";
	readonly confirmation: string | null;
	readonly who: string;
	readonly via: AuditVia;
	readonly facts: Readonly<Record<string, unknown>>;
	/** The code over this entry and the previous one. */
	readonly mac: string;
}

/** Connect a model; add a chat; be known there, or write here. */
export type FirstRunStep = "model" | "chat" | "you";

/** One key of config.yaml. null: not in the file, so the default applies. */
export interface ConfigEdit {
	readonly key: string;
	readonly before: unknown;
	readonly after: unknown;
	/** The old value contained a secret, which is not stored: it cannot be restored. */
	readonly lost?: boolean;
}

/** One change of config.yaml made through Keryx. */
export interface ConfigChangeEntry {
	/** The number of its audit entry. */
	readonly n: number;
	readonly at: number;
	readonly who: string;
	readonly via: AuditVia;
	readonly edits: readonly ConfigEdit[];
	/** The change this one undid. */
	readonly undoes: number | null;
	/** Why the file was not written. */
	readonly failed: string | null;
}

export interface FirstRun {
	readonly ended: boolean;
	readonly skipped: readonly FirstRunStep[];
}

/** The audit's witness, kept outside the store. */
export interface Witness {
	readonly count: number;
	/** That entry's code; empty if there was none. */
	readonly last: string;
	readonly mac: string;
}

/** unkept: the store was opened without one. */
export type WitnessFound =
	| { readonly kind: "unkept" | "missing" | "unreadable" }
	| { readonly kind: "found"; readonly witness: Witness };
