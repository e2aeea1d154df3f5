// Messages written on this page. They appear at once, with their known state. A message that was not accepted stays, and can be sent again
// under the same id, so that it is never accepted twice.

import { useCallback, useSyncExternalStore } from "react";
import { ApiError, api } from "../../../api/index.ts";
import type { Conversation } from "../../../api/types.ts";
import { randomId } from "../../../lib/random.ts";
import { onFrames } from "../../../live/index.ts";
import { texts } from "../../../texts/conversations.ts";

export type OutgoingState =
	| { readonly kind: "sending" }
	/** Stored, and will be answered. */
	| { readonly kind: "accepted" }
	/** Finished: answered, stopped, refused and so on. */
	| { readonly kind: "ended"; readonly as: string; readonly reason: string | undefined }
	/** The outcome is unknown: it may have been accepted. Sending it again is safe. */
	| { readonly kind: "failed"; readonly error: unknown };

export interface Outgoing {
	/** The client message id. */
	readonly id: string;
	readonly text: string;
	readonly files: readonly OutgoingFile[];
	/** When the server accepted it; before that, when it was written. */
	readonly at: string;
	readonly state: OutgoingState;
	/** The server's id for it, used by the Why view. */
	readonly inbound: number | null;
	/** The id of the row it became. */
	readonly message: number | null;
	/** The newest row when it was written. Its own row comes later. */
	readonly newerThan: number;
	readonly target: ChatTarget;
}

/** A file that is already stored on the server. */
export interface OutgoingFile {
	readonly id: string;
	readonly name: string;
	readonly media_type: string;
}

/** The destination: an existing conversation, or a chat that begins with this message. */
export type ChatTarget =
	| { readonly kind: "conversation"; readonly conversation: Conversation }
	| { readonly kind: "new"; readonly chat: string; readonly profile: string };

const MOST_KEPT = 50;
const LONGEST_NAME = 60;
const NONE: readonly Outgoing[] = [];
const byChat = new Map<string, readonly Outgoing[]>();
const listeners = new Set<() => void>();

export function useOutgoing(key: string): readonly Outgoing[] {
	return useSyncExternalStore(
		subscribe,
		useCallback(() => byChat.get(key) ?? NONE, [key]),
	);
}

/** The target for a new chat. */
export function newChat(): Extract<ChatTarget, { kind: "new" }> {
	return { kind: "new", chat: randomId(), profile: "" };
}

export function keyOf(target: ChatTarget): string {
	return target.kind === "new" ? `new:${target.chat}` : target.conversation.id;
}

/** Returns the conversation, or null if the message was not accepted. */
export function send(
	target: ChatTarget,
	text: string,
	newerThan: number,
	files: readonly OutgoingFile[] = [],
): Promise<string | null> {
	const outgoing: Outgoing = {
		id: randomId(),
		text,
		files,
		at: new Date().toISOString(),
		state: { kind: "sending" },
		inbound: null,
		message: null,
		newerThan,
		target,
	};
	put(keyOf(target), [...(byChat.get(keyOf(target)) ?? NONE), outgoing].slice(-MOST_KEPT));
	return deliver(outgoing);
}

export function sendAgain(outgoing: Outgoing): Promise<string | null> {
	change(outgoing.id, { state: { kind: "sending" } });
	return deliver(outgoing);
}

export function discard({ id }: Outgoing): void {
	for (const [key, all] of byChat)
		if (all.some((one) => one.id === id))
			put(
				key,
				all.filter((one) => one.id !== id),
			);
}

async function deliver({ id, text, target, files }: Outgoing): Promise<string | null> {
	try {
		const attachments = [...files];
		const named = text === "" ? (files[0]?.name ?? "") : text;
		const answer = await api.send({
			text,
			attachments,
			client_message_id: id,
			...addressOf(target, named),
		});
		const { inbound, refused, conversation } = answer;
		change(id, {
			at: inbound.accepted_at,
			inbound: inbound.id,
			message: inbound.message,
			state: refused === null ? stateOf(inbound) : { kind: "ended", as: "refused", reason: refused },
		});
		if (target.kind === "new" && conversation !== null) move(keyOf(target), conversation);
		// The message's end may have been reported before this answer.
		if (inbound.disposition === null) void readEnd(id, inbound.id);
		return conversation;
	} catch (error) {
		change(id, {
			state: { kind: "failed", error: error instanceof ApiError ? error : new Error(String(error)) },
		});
		return null;
	}
}

/** The page writes as the operator, the same person in all its chats. */
function addressOf(target: ChatTarget, text: string) {
	const person = {
		platform: "web",
		chat_type: "dm",
		user_id: "operator",
		user_name: "Operator",
	} as const;
	if (target.kind === "new")
		return {
			source: { ...person, ...of(target.profile), chat_id: target.chat, chat_name: beginningOf(text) },
		};
	const { id, platform, source, profile } = target.conversation;
	return platform === "web"
		? { source: { ...person, ...of(profile), chat_id: source.chat_id, chat_name: source.chat_name } }
		: { source: { ...person, chat_id: `conversation ${id}` }, conversation: id };
}

/** Each profile has its own conversation for the same chat. */
function of(profile: string): { readonly profile?: string } {
	return profile === "" ? {} : { profile };
}

/** The chat's name, taken from its first message. A command makes no useful name. */
function beginningOf(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	if (line.startsWith("/")) return texts.outgoing.newChat;
	return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME).toWellFormed()}…` : line;
}

/** Events only report that a message ended. How it ended is read. */
export function followOutgoing(): () => void {
	return onFrames((frames) => {
		for (const frame of frames) {
			if (frame.kind !== "event" || frame.event.conversation === null) continue;
			const { type, conversation, subject } = frame.event;
			for (const one of byChat.get(conversation) ?? NONE) {
				if (one.state.kind !== "accepted" || one.inbound === null) continue;
				if (type === "turn.ended" || (type.startsWith("inbound.") && subject === String(one.inbound)))
					void readEnd(one.id, one.inbound);
			}
		}
	});
}

async function readEnd(id: string, inbound: number): Promise<void> {
	try {
		const now = await api.inbound({ id: inbound });
		change(id, { state: stateOf(now), ...(now.message !== null && { message: now.message }) });
	} catch {
		// The known state stays; the next event reads again.
	}
}

function stateOf({ disposition }: Awaited<ReturnType<typeof api.inbound>>): OutgoingState {
	if (disposition === null) return { kind: "accepted" };
	return { kind: "ended", as: disposition.kind, reason: disposition.reason };
}

function move(from: string, to: string): void {
	const moved = byChat.get(from) ?? NONE;
	byChat.delete(from);
	put(to, [...(byChat.get(to) ?? NONE), ...moved]);
}

function change(id: string, to: Partial<Outgoing>): void {
	for (const [key, all] of byChat)
		if (all.some((one) => one.id === id))
			put(
				key,
				all.map((one) => (one.id === id ? { ...one, ...to } : one)),
			);
}

function put(key: string, all: readonly Outgoing[]): void {
	byChat.set(key, all);
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}
