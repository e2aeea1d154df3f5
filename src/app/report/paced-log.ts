// One line for many of a kind. In lasting trouble (a full disk, a store that is away) everything that waits reports it again and again:
// the first is written at once, the rest are counted, and the count is written from time to time, less and less often.
import type { Clock } from "../../time/index.ts";

const FIRST_WINDOW_MS = 10_000;
const LONGEST_WINDOW_MS = 300_000;

export interface PacedLog {
	write(text: string): void;
	/** Counted but not written yet. */
	end(): void;
}

interface Window {
	count: number;
	last: string;
	readonly ms: number;
	readonly cancel: () => void;
}

export function pacedLog(write: (text: string) => void, clock: Pick<Clock, "after">): PacedLog {
	const windows = new Map<string, Window>();
	const open = (kind: string, ms: number): void => {
		const cancel = clock.after(ms, () => close(kind));
		windows.set(kind, { count: 0, last: "", ms, cancel });
	};
	const close = (kind: string): void => {
		const window = windows.get(kind);
		windows.delete(kind);
		if (!window || window.count === 0) return;
		write(summary(window));
		open(kind, Math.min(LONGEST_WINDOW_MS, window.ms * 2));
	};
	return {
		write: (text) => {
			const kind = kindOf(text);
			const window = windows.get(kind);
			if (window) {
				window.count++;
				window.last = text;
				return;
			}
			write(text);
			open(kind, FIRST_WINDOW_MS);
		},
		end: () => {
			for (const window of windows.values()) {
				window.cancel();
				if (window.count > 0) write(summary(window));
			}
			windows.clear();
		},
	};
}

/** Two that differ only in ids and numbers are of one kind. */
function kindOf(text: string): string {
	return text.replace(/[\w-]*\d[\w-]*/g, "#");
}

function summary({ count, last, ms }: Window): string {
	return count === 1 ? last : `${last} (and ${count - 1} more like it within ${ms / 1000} s)`;
}
