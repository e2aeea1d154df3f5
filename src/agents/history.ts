// Derives a step's position from the history alone: agents keep no state, so a restart loses none.
import { createHash } from "node:crypto";
import { contentText, type PromptMessage } from "../domain/index.ts";

export interface Position {
	/** The last person's text; "" if nobody has spoken. */
	readonly text: string;
	/** How many messages of persons the history holds. */
	readonly count: number;
	/** How many steps were made since then. */
	readonly step: number;
	/** Everything after it. */
	readonly since: readonly PromptMessage[];
}

export function positionIn(history: readonly PromptMessage[]): Position {
	const last = history.findLastIndex(isPerson);
	const since = history.slice(last + 1);
	return {
		text: last < 0 ? "" : contentText((history[last] as PromptMessage).content),
		count: history.filter(isPerson).length,
		step: since.filter(({ role }) => role === "assistant").length,
		since,
	};
}

export function isPerson(message: PromptMessage): boolean {
	return message.role === "user" && message.kind === "person";
}

/**
 * An id for the nth call of a step. The same history gives the same id, so a repeated step asks for the same calls; another history gives
 * another id, so two steps of one turn never share one.
 */
export function callId(history: readonly PromptMessage[], n: string | number): string {
	const digest = createHash("sha256").update(JSON.stringify(history)).digest("hex");
	return `call_${digest.slice(0, 16)}_${n}`;
}
