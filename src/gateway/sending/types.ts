// What others send through: targets that are resolved and checked, and messages to them.
import type { ConversationId, Part, SentFrom, Target } from "../../domain/index.ts";
import type { Send } from "../../store/index.ts";
import type { ToolPart } from "../../tools/index.ts";
import type { Resolution, Sender, Verdict } from "./targets.ts";

export interface NewSend {
	/** Made by whoever sends, such as `<turn>:<call>` or `job:<id>:<instant>`: the same one again sends nothing. */
	readonly id: string;
	readonly target: Target;
	readonly text: string;
	/** Files with their bytes, or put as blobs beforehand; only to a chat that Keryx has heard from. */
	readonly files?: readonly Extract<ToolPart, { readonly data: Uint8Array }>[];
	readonly uploads?: {
		readonly parts: readonly Part[];
		readonly blobs: readonly string[];
	};
	/** Who sends, as the audit names them: `agent:<profile>`, `token:<name>`, `operator`. */
	readonly by: string;
	readonly from: SentFrom;
	/** The turn that it is sent for. */
	readonly turn?: string;
	/** The turn sends it itself: refused (turn.stale) where that no longer runs. */
	readonly whileRunning?: boolean;
}

/**
 * What others send through: the tool, the API, jobs.
 *   const found = await sending.resolve("telegram:123", sender);   // when the target is given; store found.target
 *   const verdict = await sending.check(target, sender);           // later, before it is used: rights may have changed
 *   await sending.send({ id, target, text, by, from });            // commits deliveries and the `sent` row, once by its id
 * `send` asks nobody: whoever calls it has seen to what `needs` says.
 */
export interface Sending {
	resolve(text: string, sender: Sender): Promise<Resolution>;
	check(target: Target, sender: Sender): Promise<Verdict>;
	/** As people read it. Names in it are untrusted. */
	show(target: Target): Promise<string>;
	/** Whether two targets lead to the same chat, however they are written. */
	isSamePlace(one: Target, other: Target): Promise<boolean>;
	send(send: NewSend): Promise<Sent>;
	/** How a message names the conversation that it comes from: who and where, never what is talked about there. */
	whereOf(conversation: ConversationId): Promise<SentFrom>;
}

export type Sent = Send & {
	/** It was sent before. */
	readonly repeated: boolean;
	/** Of an output file: where it is. */
	readonly path: string | null;
};
