// Helpers for the answers of commands. People's text enters an answer only through here: on one line, short, and never as markup (I11).
import type { Config } from "../../config/index.ts";
import { cleanTitle, type ModelOverride } from "../../domain/index.ts";
import { texts } from "../texts.ts";

/** "1 message", "2 messages". */
export function counted(n: number, one: string, many = `${one}s`): string {
	return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** Nothing, if there were none. */
export function cancelledSentences(confirmations: number): string[] {
	return confirmations > 0 ? [texts.stop.cancelled(counted(confirmations, "open confirmation"))] : [];
}

export function grouped(n: number): string {
	return new Intl.NumberFormat("en").format(n);
}

/** At most this many characters; a cut is marked. */
export function shortened(text: string, most: number): string {
	const points = Array.from(text);
	return points.length <= most
		? text
		: `${points
				.slice(0, most - 1)
				.join("")
				.trimEnd()}…`;
}

/** A person's text on one line, as written: nothing in it becomes markup. At most 100 characters, like a title. */
export function literal(text: string, most: number): string {
	return shortened(cleanTitle(text), most).replace(/[\\`*_[\]<>~&]/g, "\\$&");
}

/** The same in quotation marks. */
export function quoted(text: string, most: number): string {
	return `"${literal(text, most)}"`;
}

/** As code: shown literally, never as markup. */
export function asCode(text: string): string {
	return `\`${text.replaceAll("`", "'")}\``;
}

const LONGEST_NAME = 64;

/** A stranger's name as code: on one line, without characters that hide or reorder others. */
export function inert(text: string): string {
	const shown = text
		.replace(/\s+/g, " ")
		.replace(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, "")
		.trim();
	return asCode(shown.slice(0, LONGEST_NAME).toWellFormed() || "?");
}

/** As people write it: provider:model. */
export function modelName({ provider, model }: ModelOverride): string {
	return [provider, model ?? "the provider's default model"].filter(Boolean).join(":");
}

/** The current model; null if the agent has none. */
export function answeringModel(
	{ kind, provider, model }: Config["agent"],
	override: ModelOverride | null,
): string | null {
	if (kind !== "ai-sdk") return null;
	return asCode(modelName(override ?? { ...(provider && { provider }), ...(model && { model }) }));
}
