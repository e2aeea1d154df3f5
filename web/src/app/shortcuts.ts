// Keyboard shortcuts for the whole page. Components register theirs while they are mounted; the sheet behind `?` lists them. Keys typed
// into a field belong to the field.
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Shortcut {
	/** A single key ("/", "j", "Escape"), or keys pressed one after the other ("g c"). */
	readonly keys: string;
	readonly what: string;
	readonly run: () => void;
}

const SEQUENCE_MS = 1200;

let shortcuts: readonly Shortcut[] = [];
const listeners = new Set<() => void>();
let begun = "";
let begunAt = 0;

/** Active while the component is mounted. If two have the same keys, the last one wins. */
export function useShortcut(keys: string, what: string, run: () => void): void {
	const latest = useRef(run);
	useEffect(() => {
		latest.current = run;
	});
	useEffect(() => {
		const shortcut: Shortcut = { keys, what, run: () => latest.current() };
		change([...shortcuts, shortcut]);
		return () => change(shortcuts.filter((one) => one !== shortcut));
	}, [keys, what]);
}

export function useShortcuts(): readonly Shortcut[] {
	return useSyncExternalStore(subscribe, () => shortcuts);
}

/** Called once, for the whole page. */
export function listenForShortcuts(): () => void {
	document.addEventListener("keydown", press);
	return () => document.removeEventListener("keydown", press);
}

function press(event: KeyboardEvent): void {
	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
	if (event.key !== "Escape" && takesKeys(event.target)) return;
	// An open dialog or menu blocks the shortcuts of the view behind it.
	if (document.querySelector('[role="dialog"], [role="menu"]')) return;
	const sequence =
		performance.now() - begunAt < SEQUENCE_MS && begun !== "" ? `${begun} ${event.key}` : event.key;
	const found = lastWith((keys) => keys === sequence) ?? lastWith((keys) => keys === event.key);
	begun = "";
	if (found) {
		event.preventDefault();
		found.run();
	} else if (lastWith((keys) => keys.startsWith(`${event.key} `))) {
		begun = event.key;
		begunAt = performance.now();
	}
}

function lastWith(matches: (keys: string) => boolean): Shortcut | undefined {
	return shortcuts.findLast(({ keys }) => matches(keys));
}

function takesKeys(target: EventTarget | null): boolean {
	return (
		target instanceof Element && target.closest("input, textarea, select, [contenteditable], .xterm") !== null
	);
}

function change(next: readonly Shortcut[]): void {
	shortcuts = next;
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}
