// Notes for one model step: they change from step to step, so they come last in the prompt and are never stored.
import {
	agentNote,
	finalLimitText,
	type LimitInfo,
	limitNote,
	nearLimitText,
	quoteUntrusted,
} from "../../domain/index.ts";
import type { TurnStart } from "./start.ts";

/** `limit`: including the reply being asked for. */
export function notesFor(
	{ boundary, resumed }: TurnStart,
	{
		limit,
		trigger,
		now,
		wall = null,
	}: {
		readonly limit: LimitInfo;
		/** The platform's id of the answered message, for the platform's tools. */
		readonly trigger: string | null;
		readonly now: number;
		readonly wall?: string | null;
	},
): string[] {
	const note = limitNote(limit);
	const boundaryNote = boundary && agentNote(boundary);
	return [
		...(boundaryNote ? [boundaryNote] : []),
		...(resumed
			? [
					`This turn was interrupted (${resumed.reason}) and continues here. Calls marked interrupted may or may not have taken effect.`,
				]
			: []),
		...(note === "near" ? [nearLimitText(limit)] : note === "final" ? [finalLimitText(limit)] : []),
		...(trigger === null ? [] : [`The id of the message you are answering: ${quoteUntrusted(trigger)}.`]),
		...(wall === null ? [] : [wall]),
		`The time is ${new Date(now).toISOString()}.`,
	];
}
