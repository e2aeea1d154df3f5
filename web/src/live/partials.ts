// Streaming answers: the text so far of each conversation's current message. It is dropped when the message's row arrives.
import { useCallback, useSyncExternalStore } from "react";
import type { Delta } from "../api/types.ts";
import { onFrames } from "./stream.ts";

export interface PartialAnswer {
	readonly turn: string;
	readonly index: number;
	readonly text: string;
}

const partials = new Map<string, PartialAnswer>();
const listeners = new Map<string, Set<() => void>>();
/** By turn: the last finished message. A late delta must not bring its text back. */
const finished = new Map<string, number>();
const MOST_REMEMBERED = 500;

export function usePartial(conversation: string): PartialAnswer | null {
	const subscribe = useCallback(
		(listener: () => void) => {
			const set = listeners.get(conversation) ?? new Set();
			listeners.set(conversation, set.add(listener));
			return () => void set.delete(listener);
		},
		[conversation],
	);
	return useSyncExternalStore(subscribe, () => partials.get(conversation) ?? null);
}

/** Known text is skipped. After a gap, the message is not updated until its row arrives. */
export function takeDelta({ conversation, turn, index, offset, text }: Delta): void {
	if ((finished.get(turn) ?? -1) >= index) return;
	const before = partials.get(conversation);
	const isSame = before?.turn === turn && before.index === index;
	const known = isSame ? before.text : "";
	if (offset > known.length || offset + text.length <= known.length) return;
	set(conversation, { turn, index, text: known + text.slice(known.length - offset) });
}

export function followPartials(): () => void {
	return onFrames((frames) => {
		for (const frame of frames) {
			if (frame.kind === "delta") takeDelta(frame.delta);
			if (frame.kind !== "event" || frame.event.conversation === null || frame.event.turn === null) continue;
			const { type, conversation, turn, facts } = frame.event;
			if (type === "message.appended" && facts.index !== undefined) finish(conversation, turn, facts.index);
			if (type === "turn.ended" || type === "turn.interrupted")
				finish(conversation, turn, Number.MAX_SAFE_INTEGER);
			// The turn restarts, and numbers its messages after its existing rows.
			if (type === "turn.resumed" || type === "transcript.retried") finished.delete(turn);
		}
	});
}

function finish(conversation: string, turn: string, index: number): void {
	finished.set(turn, Math.max(index, finished.get(turn) ?? -1));
	if (finished.size > MOST_REMEMBERED) finished.delete(finished.keys().next().value ?? "");
	const before = partials.get(conversation);
	if (before?.turn === turn && before.index <= index) set(conversation, null);
}

function set(conversation: string, partial: PartialAnswer | null): void {
	if (partial) partials.set(conversation, partial);
	else partials.delete(conversation);
	for (const listener of listeners.get(conversation) ?? []) listener();
}
