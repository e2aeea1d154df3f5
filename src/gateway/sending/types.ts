// The interface for sending: resolved and checked targets, and messages to them.
import type { ConversationId, Part, SentFrom, Target } from "../../domain/index.ts";
import type { Send } from "../../store/index.ts";
import type { ToolPart } from "../../tools/index.ts";
import type { Resolution, Sender, Verdict } from "./targets.ts";

export interface NewSend {
	/** Chosen by the sender, such as `<turn>:<call>` or `job:<id>:<instant>`: the same id again sends nothing. */
	readonly id: string;
	readonly target: Target;
	readonly text: string;
	/** Files with their bytes, or stored as blobs before; only to a chat that Keryx has heard from. */
	readonly files?: readonly Extract<ToolPart, { readonly data: Uint8Array }>[];
	readonly uploads?: {
		readonly parts: readonly Part[];
		readonly blobs: readonly string[];
	};
	/** The sender's name in the audit: `agent:<profile>`, `token:<name>`, `operator`. */
	readonly by: string;
	readonly from: SentFrom;
	/** The turn it is sent for. */
	readonly turn?: string;
	/** The turn sends it itself: refused (turn.stale) if it is no longer running. */
	readonly whileRunning?: boolean;
}

/**
 * The interface for senders: the tool, the API, jobs.
 *   const found = await sending.resolve("telegram:123", sender);   // when the target is given; store found.target
 *   const verdict = await sending.check(target, sender);           // later, before it is used: rights may have changed
 *   await sending.send({ id, target, text, by, from });            // commits deliveries and the `sent` row, once by its id
 * `send` asks nobody: the caller must have obtained the approval that `needs` names.
 */
export interface Sending {
	resolve(text: string, sender: Sender): Promise<Resolution>;
	check(target: Target, sender: Sender): Promise<Verdict>;
	/** For people. Names in it are untrusted. */
	show(target: Target): Promise<string>;
	/** Whether two targets lead to the same chat, however they are written. */
	isSameChat(one: Target, other: Target): Promise<boolean>;
	send(send: NewSend): Promise<Sent>;
	/** How a message names its conversation: who and where, never the topic. */
	whereOf(conversation: ConversationId): Promise<SentFrom>;
}

export type Sent = Send & {
	/** It was already sent. */
	readonly repeated: boolean;
	/** For an output file: its path. */
	readonly path: string | null;
};
