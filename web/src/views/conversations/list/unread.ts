// Which conversations are unread in this browser. The server does not track who has read what.
import { useSyncExternalStore } from "react";
import type { Conversation } from "../../../api/types.ts";
import { readLocal, writeLocal } from "../../../lib/storage.ts";

const NAME = "seen";
const MOST_KEPT = 2000;

interface Seen {
	/** The first visit of this browser: everything before it counts as read. */
	readonly since: string;
	readonly until: Readonly<Record<string, string>>;
}

let seen: Seen = load();
const listeners = new Set<() => void>();

export function useIsUnread({ id, last_activity_at }: Conversation): boolean {
	return useSyncExternalStore(subscribe, () => last_activity_at > (seen.until[id] ?? seen.since));
}

/** Counts unread conversations among the given ones. */
export function useUnreadCount(conversations: readonly Conversation[]): number {
	return useSyncExternalStore(
		subscribe,
		() =>
			conversations.filter(({ id, last_activity_at }) => last_activity_at > (seen.until[id] ?? seen.since))
				.length,
	);
}

export function markSeen(id: string, until: string): void {
	if ((seen.until[id] ?? "") >= until) return;
	const { [id]: _, ...others } = seen.until;
	const kept = Object.entries(others).slice(-(MOST_KEPT - 1));
	seen = { ...seen, until: Object.fromEntries([...kept, [id, until]]) };
	writeLocal(NAME, JSON.stringify(seen));
	for (const listener of listeners) listener();
}

function load(): Seen {
	try {
		const kept: unknown = JSON.parse(readLocal(NAME) ?? "null");
		if (typeof kept === "object" && kept !== null && "since" in kept && "until" in kept) return kept as Seen;
	} catch {
		// The stored value is damaged; a new one is made below.
	}
	const fresh: Seen = { since: new Date().toISOString(), until: {} };
	writeLocal(NAME, JSON.stringify(fresh));
	return fresh;
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}
