// Recently viewed transcripts. They follow events while kept, so returning to one shows it at once.
import { useSyncExternalStore } from "react";
import { onFrames } from "../../../live/index.ts";
import { Transcript, type TranscriptState } from "./store.ts";

const MOST_KEPT = 6;
const kept = new Map<string, Transcript>();

export function transcriptOf(conversation: string): Transcript {
	const known = kept.get(conversation);
	const transcript = known ?? new Transcript(conversation);
	if (!known) void transcript.load();
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
			if (frame.kind === "resync") for (const transcript of kept.values()) void transcript.loadAgain();
			if (frame.kind !== "event" || frame.event.conversation === null) continue;
			kept.get(frame.event.conversation)?.take(frame.event);
		}
	});
}
