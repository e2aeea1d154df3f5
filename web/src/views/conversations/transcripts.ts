// The transcripts that were looked at lately. They follow the events for as long as they are kept, so going back to one shows it at once.
import { useSyncExternalStore } from "react";
import type { LiveEvent } from "../../api/types.ts";
import { onFrames } from "../../live/index.ts";
import { Transcript, type TranscriptState } from "./transcript-store.ts";

const MOST_KEPT = 6;
const kept = new Map<string, Transcript>();
/** What was told in conversations that are not open: no row says it, so it is shown when one is opened. */
let told: readonly LiveEvent[] = [];
const MOST_TOLD = 200;

export function transcriptOf(conversation: string): Transcript {
	const known = kept.get(conversation);
	const transcript = known ?? new Transcript(conversation);
	if (!known) {
		void transcript.load();
		for (const event of told) if (event.conversation === conversation) transcript.take(event);
		told = told.filter((event) => event.conversation !== conversation);
	}
	kept.delete(conversation);
	kept.set(conversation, transcript);
	if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? "");
	return transcript;
}

export function useTranscript(transcript: Transcript): TranscriptState {
	return useSyncExternalStore(transcript.subscribe, transcript.state);
}

export function followTranscripts(): () => void {
	return onFrames((frames) => {
		for (const frame of frames) {
			if (frame.kind === "resync") for (const transcript of kept.values()) void transcript.load();
			if (frame.kind !== "event" || frame.event.conversation === null) continue;
			const transcript = kept.get(frame.event.conversation);
			if (transcript) transcript.take(frame.event);
			else if (isTold(frame.event)) told = [...told.slice(-MOST_TOLD), frame.event];
		}
	});
}

function isTold({ type, delivery }: LiveEvent): boolean {
	return type === "delivery.pending" && delivery !== undefined && delivery.kind !== "reply";
}
