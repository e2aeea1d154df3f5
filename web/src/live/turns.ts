// Which conversations have a running turn, as far as the page knows.
import { turnBegins } from "virtual:keryx-calls";
import { useCallback, useSyncExternalStore } from "react";
import type { EventType } from "../api/types.ts";
import { onFrames } from "./stream.ts";

const BEGINS: ReadonlySet<string> = new Set(turnBegins);
const ENDS: ReadonlySet<EventType> = new Set(["turn.ended", "turn.interrupted"]);

const running = new Map<string, string>();
/** Ended turns: an older answer must not mark them as running again. */
const ended = new Set<string>();
const listeners = new Set<() => void>();
const MOST_REMEMBERED = 500;

export function useRunningTurn(conversation: string): string | null {
	return useSyncExternalStore(
		subscribe,
		useCallback(() => running.get(conversation) ?? null, [conversation]),
	);
}

/** Records a running turn that was read from the server. */
export function noteRunning(conversation: string, turn: string): void {
	if (ended.has(turn) || running.get(conversation) === turn) return;
	running.set(conversation, turn);
	tell();
}

export function followTurns(): () => void {
	return onFrames((frames) => {
		let changed = false;
		for (const frame of frames) {
			if (frame.kind === "resync") {
				running.clear();
				changed = true;
			}
			if (frame.kind !== "event" || frame.event.conversation === null || frame.event.turn === null) continue;
			const { type, conversation, turn } = frame.event;
			if (BEGINS.has(type)) {
				ended.delete(turn);
				running.set(conversation, turn);
				changed = true;
			} else if (ENDS.has(type)) {
				remember(turn);
				if (running.get(conversation) === turn) running.delete(conversation);
				changed = true;
			}
		}
		if (changed) tell();
	});
}

function remember(turn: string): void {
	ended.add(turn);
	if (ended.size > MOST_REMEMBERED) ended.delete(ended.values().next().value ?? "");
}

function tell(): void {
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}
