// The answer while it is being written: its text so far, and what the chat and live views show of it.
import type { ToolCall } from "../../domain/index.ts";
import type { ToolProgress } from "../../store/index.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { Preview } from "./previews.ts";
import type { TurnRows } from "./rows.ts";
import type { TurnStart } from "./start.ts";
import { ToolsShown } from "./tools-shown.ts";

/** `store` must not wait for a store in trouble: a preview tries again by itself, also after the turn was stopped. */
export interface DraftOptions
	extends Pick<TurnDependencies, "store" | "channel" | "clock" | "config" | "log" | "outlet" | "deltas"> {
	readonly start: TurnStart;
	readonly rows: TurnRows;
}

export class Draft {
	readonly #options: DraftOptions;
	readonly #said: string[] = [];
	#partial = "";
	#preview: Preview | undefined;
	readonly #toolsShown: ToolsShown;

	constructor(options: DraftOptions) {
		this.#options = options;
		const { start, config } = options;
		this.#toolsShown = new ToolsShown(start.conversationInfo.toolProgress ?? config.display.tool_progress);
	}

	/** The texts of finished messages, without empty ones. */
	get said(): readonly string[] {
		return this.#said.map((text) => text.trim()).filter(Boolean);
	}

	/** The text so far of the message that the agent is writing. */
	get partial(): string {
		return this.#partial;
	}

	get preview(): Preview | undefined {
		return this.#preview;
	}

	/** A preview stays where it was first shown: notices that belong before the reply would come after it. */
	open(noticesBefore: () => readonly unknown[]): void {
		const { store, channel, clock, config, log, outlet, start } = this.#options;
		if (!channel?.edit || !config.display.streaming || noticesBefore().length > 0) return;
		const { turn, token, destination } = start;
		this.#preview = new Preview({
			store,
			channel,
			clock,
			turn: { id: turn, token },
			destination,
			platforms: outlet.platforms,
			log,
		});
	}

	add(delta: string): void {
		this.#partial += delta;
		const { deltas, rows, start } = this.#options;
		const { conversation, turn, token } = start;
		deltas.add(conversation, { turn, token }, rows.nextIndex, delta);
		this.#preview?.show(this.#partial);
	}

	finish(text: string): void {
		this.#said.push(text);
	}

	beginMessage(): void {
		this.#partial = "";
	}

	showTools(show: ToolProgress): void {
		this.#toolsShown.show = show;
	}

	showTool(call: ToolCall): void {
		const shown = this.#toolsShown.add(call);
		if (shown !== null) this.#preview?.show([...this.#said, shown].join("\n\n"));
	}
}
