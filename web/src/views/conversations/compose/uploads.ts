// Files for a conversation's next message. They are uploaded as soon as they are chosen, with progress, and kept here until the message is
// sent. They survive opening another conversation, but not closing the tab.
import { useCallback, useSyncExternalStore } from "react";
import { upload } from "../../../api/index.ts";
import { randomId } from "../../../lib/random.ts";

export type UploadState =
	/** Between 0 and 1. */
	| { readonly kind: "sending"; readonly done: number }
	| { readonly kind: "ready"; readonly id: string; readonly digest: string }
	| { readonly kind: "failed"; readonly error: unknown };

export interface Upload {
	readonly key: string;
	readonly name: string;
	readonly mediaType: string;
	readonly size: number;
	/** Object URL of a picture; null for other files. */
	readonly preview: string | null;
	readonly state: UploadState;
}

/** The limit for one message. */
export const MOST_FILES = 10;
const NONE: readonly Upload[] = [];
const byDraft = new Map<string, readonly Upload[]>();
const running = new Map<string, AbortController>();
const listeners = new Set<() => void>();

export function useUploads(draftKey: string): readonly Upload[] {
	return useSyncExternalStore(
		subscribe,
		useCallback(() => byDraft.get(draftKey) ?? NONE, [draftKey]),
	);
}

/** Returns how many files did not fit into one message. */
export function addFiles(draftKey: string, files: readonly File[]): number {
	const room = MOST_FILES - (byDraft.get(draftKey) ?? NONE).length;
	for (const file of files.slice(0, Math.max(0, room))) begin(draftKey, file);
	return Math.max(0, files.length - room);
}

export function removeUpload(draftKey: string, key: string): void {
	running.get(key)?.abort();
	const gone = byDraft.get(draftKey)?.find((one) => one.key === key);
	if (gone?.preview) URL.revokeObjectURL(gone.preview);
	put(
		draftKey,
		(byDraft.get(draftKey) ?? NONE).filter((one) => one.key !== key),
	);
}

/** Takes the uploaded files for the message being sent; the others stay. */
export function takeReady(draftKey: string): readonly Upload[] {
	const all = byDraft.get(draftKey) ?? NONE;
	const ready = all.filter(({ state }) => state.kind === "ready");
	put(
		draftKey,
		all.filter((one) => !ready.includes(one)),
	);
	return ready;
}

function begin(draftKey: string, file: File): void {
	const key = randomId();
	const calledOff = new AbortController();
	const isPicture = /^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type);
	running.set(key, calledOff);
	put(draftKey, [
		...(byDraft.get(draftKey) ?? NONE),
		{
			key,
			name: file.name === "" ? "file" : file.name,
			mediaType: file.type === "" ? "application/octet-stream" : file.type,
			size: file.size,
			preview: isPicture ? URL.createObjectURL(file) : null,
			state: { kind: "sending", done: 0 },
		},
	]);
	const change = (state: UploadState): void =>
		put(
			draftKey,
			(byDraft.get(draftKey) ?? NONE).map((one) => (one.key === key ? { ...one, state } : one)),
		);
	upload(file, { onProgress: (done) => change({ kind: "sending", done }), signal: calledOff.signal })
		.then(({ id, digest }) => change({ kind: "ready", id, digest }))
		.catch((error: unknown) => change({ kind: "failed", error }))
		.finally(() => running.delete(key));
}

function put(draftKey: string, all: readonly Upload[]): void {
	byDraft.set(draftKey, all);
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}
