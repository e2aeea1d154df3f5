// Splits a story into steps: each event's sentence, its time, and the time since the previous step.
import type { Answer } from "../../../../src/http/endpoints.ts";

export type Story = Answer<"why">;
type StoryEvent = Story["events"][number];

export interface Step {
	readonly key: string;
	readonly at: number;
	/** Milliseconds since the previous step; null for the first. */
	readonly after: number | null;
	readonly sentence: string;
	/** Absent if only the sentence is known: events are kept for a while, a message's end forever. */
	readonly event?: StoryEvent;
}

/** `2026-03-01 12:00:00.000 It was accepted and stored.` */
const LINE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3}) (.+)$/;

export function stepsOf({ text, events }: Story): readonly Step[] {
	const lines = text.split("\n").flatMap((line) => {
		const [, day, time, sentence] = LINE.exec(line) ?? [];
		return sentence === undefined ? [] : [{ at: Date.parse(`${day}T${time}Z`), sentence }];
	});
	return lines.map(({ at, sentence }, index) => {
		const before = lines[index - 1];
		const event = lines.length === events.length ? events[index] : undefined;
		return {
			key: event?.cursor ?? String(index),
			at,
			after: before === undefined ? null : Math.max(0, at - before.at),
			sentence,
			...(event && { event }),
		};
	});
}

/** The last sentence: `So: it was answered.` */
export function verdictOf({ text }: Story): string {
	const last = (text.split("\n").at(-1) ?? "").replace(/^So: /, "");
	return last.charAt(0).toUpperCase() + last.slice(1);
}
