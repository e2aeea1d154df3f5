// A story, taken apart: the sentence of each event with its time and how long after the one before it came.
import type { Answer } from "../../../../src/http/endpoints.ts";

export type Story = Answer<"why">;
type StoryEvent = Story["events"][number];

export interface Step {
	readonly key: string;
	readonly at: number;
	/** Since the step before; null for the first one. */
	readonly after: number | null;
	readonly sentence: string;
	/** Absent where only the sentence is known: the events are kept for a while, the end of a message for ever. */
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
