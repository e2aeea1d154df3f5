// What a person sees of running tools in a preview. Arguments are model text: short, on one line.
import { cleanTitle, type ToolCall } from "../../domain/index.ts";
import type { ToolProgress } from "../../store/index.ts";
import { asCode, shortened } from "../commands/words.ts";

const MOST_ARGUMENTS = 60;
/** The list keeps the latest calls: a preview is one message. */
const MOST_CALLS = 20;

export class ToolsShown {
	show: ToolProgress;
	readonly #calls: string[] = [];

	constructor(show: ToolProgress) {
		this.show = show;
	}

	/** The lines to show while this call runs; null for none. */
	add(call: ToolCall): string | null {
		this.#calls.push(`… ${asCode(inShort(call))}`);
		if (this.show === "off") return null;
		return this.show === "new" ? `… ${call.name}` : this.#calls.slice(-MOST_CALLS).join("\n");
	}
}

function inShort({ name, input }: ToolCall): string {
	const text = cleanTitle(JSON.stringify(input) ?? "");
	return text === "" || text === "{}" ? name : `${name} ${shortened(text, MOST_ARGUMENTS)}`;
}
