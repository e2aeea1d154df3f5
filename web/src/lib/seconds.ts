// A clock that ticks once a second, but only while something on the screen counts. Each counting component subscribes itself, so that a
// tick redraws nothing else.
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds, updated once a second. */
export function useSecond(): number {
	return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	if (timer === undefined) {
		now = Date.now();
		timer = setInterval(tick, 1000);
	}
	return () => {
		listeners.delete(listener);
		if (listeners.size > 0) return;
		clearInterval(timer);
		timer = undefined;
	};
}

function tick(): void {
	now = Date.now();
	for (const listener of listeners) listener();
}
