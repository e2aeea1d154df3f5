// What the storm and the gateway that it kills agree on.
import type { Script } from "../../../src/testing/index.ts";

/** What the child is told: as JSON in its one argument. */
export interface Orders {
	readonly platform: "telegram" | "discord" | "slack" | "irc" | "email" | "xmpp" | "matrix";
	readonly path: string;
	readonly apiRoot: string;
	readonly token: string;
	/** Of the app, where the platform has one. */
	readonly appToken?: string;
	/** Who presses buttons, and who else may write. */
	readonly owner: string;
	readonly members: readonly string[];
	/** Has a line for each dangerous thing that was done. */
	readonly dangers: string;
	/** The platform posts to this port; left out, the gateway connects to the platform. */
	readonly posted?: { readonly port: number; readonly signingSecret?: string };
	/** What was committed after this cursor is reported at the start: a kill may come between a commit and its report. */
	readonly seen?: string;
	/** IRC: the channels to join, and the account, whose password is the token. */
	readonly irc?: { readonly port: number; readonly join: readonly string[]; readonly login?: string };
	/** E-mail: the ports of the servers, and the mailbox, whose password is the token. */
	readonly email?: {
		readonly imap: number;
		readonly smtp: number;
		readonly address: string;
		readonly authservId: string;
	};
	/** XMPP: the account, whose password is the token, and the rooms to join. */
	readonly xmpp?: { readonly port: number; readonly jid: string; readonly join: readonly string[] };
	/** Matrix: where the keys of encrypted rooms are; left out, there are none. */
	readonly keys?: string;
	/** The gateway dies right after so many commits, before the platform hears of the last one. */
	readonly commits?: number;
}

/** Where the platform posts. */
export function postedTo(port: number): string {
	return `http://127.0.0.1:${port}/`;
}

/** What the child says, one line each. */
export type Report =
	| { readonly say: "started" | "duplicate" | "drained" }
	/** The channel has connected for the first time. */
	| { readonly say: "connected" }
	/** It was told to drain, and nothing is left to do. */
	| { readonly say: "quiet" }
	/** A message came, and is about to be committed: where only the server knows its id, this tells which one it is. */
	| { readonly say: "coming"; readonly message: string; readonly chat: string; readonly text: string }
	/** A message was committed, now or before. */
	| { readonly say: "taken"; readonly message: string; readonly chat: string; readonly text: string }
	/** Everything up to this cursor was reported. */
	| { readonly say: "seen"; readonly cursor: string }
	| { readonly say: "log"; readonly message: string };

/** Told to the child on its standard input: say when nothing is left to do, and end. */
export const COMMANDS = { drain: "drain", end: "end" } as const;

/** Such a message asks for something dangerous, which is named. */
export const DANGER = /danger (message \d+)/;

export const SCRIPT: Script = {
	rules: [
		{ when: "slow ", steps: [{ chunks: ["answer ", "to ", "{{input}}"], delay_ms: 10, chunk_delay_ms: 15 }] },
	],
	otherwise: [{ text: "answer to {{input}}" }],
};
