// The settings that may be changed from the page, with their labels. Only those that take effect at once and cannot grant access, widen
// rights, or send a key, file or message elsewhere: a stolen login must not help further. The rest is changed in config.yaml, by the
// machine's owner.
import type { Key } from "../keys.ts";
import { CONFIG_KEYS } from "../schema.ts";

export interface EditableSetting {
	/** Dotted, as in config.yaml. */
	readonly key: string;
	readonly group: string;
	readonly label: string;
	readonly about: string;
	readonly type: "number" | "boolean" | "choice" | "text" | "long_text";
	/** Of a choice. */
	readonly choices: readonly string[];
	/** Completes the sentence "must be ...". */
	readonly expects: string;
}

type Field = readonly [key: string, label: string, about: string, form?: "long"];

const FIELDS: Readonly<Record<string, readonly Field[]>> = {
	Agent: [
		[
			"agent.instructions",
			"Instructions",
			"Who the agent is and how it should behave. A new session begins with them.",
			"long",
		],
		["agent.reasoning", "Reasoning", "How long the model may think. Empty: the provider decides."],
		["agent.temperature", "Temperature", "From 0 (steady) to 2 (varied). Empty: the provider decides."],
		["agent.max_output_tokens", "Longest answer", "In tokens. Empty: the provider decides."],
		["agent.context_window", "Context window", "How many tokens the model can read at once."],
		["agent.max_steps", "Steps", "How often the model is asked within one answer, at most."],
		["turn.max_minutes", "Longest answer, in minutes", "An answer that takes longer is ended."],
		["gateway.busy", "A new message while it works", "Waits, interrupts the answer, or steers it."],
	],
	Sessions: [
		["session_reset.mode", "A new session begins", "After a pause (idle), daily, both, or never by itself."],
		["session_reset.idle_minutes", "Pause, in minutes", "Without a message for this long, a new one begins."],
		["session_reset.at_hour", "Hour of the day", "When the daily one begins, from 0 to 23."],
		["session_reset.timezone", "Time zone", "Such as Europe/Berlin."],
		["session_reset.max_messages", "Longest session, in messages", "Long sessions go wrong. 0: no limit."],
		["session_reset.notify", "Say so", "Tell the chat when a new session has begun."],
		["compaction.enabled", "Sum up", "Sum up what was said before when the context window gets full."],
		["compaction.threshold", "Sum up at", "The share of the window that must be full, from 0.1 to 1."],
		["compaction.keep_last", "Keep as said", "So many of the last messages are never summed up."],
	],
	Display: [
		["display.streaming", "Show answers while they are written", "In chats that can show them."],
		[
			"display.tool_progress",
			"Tools at work",
			"Show every call (all), the current one (new), or none (off).",
		],
		["titles.by_model", "Name chats", "The model names a chat of the page after the first exchange."],
	],
	Keeping: [
		["checkpoints.max_snapshots", "Checkpoints", "Of one workspace. Beyond these the oldest go."],
		["checkpoints.max_total_mb", "Checkpoints, in MB", "Of one workspace, all together."],
		["checkpoints.max_file_mb", "Largest file, in MB", "A larger file is not part of a checkpoint."],
		["processes.keep_days", "Ended processes, in days", "How long they and their logs are kept."],
		["events.keep_days", "Events, in days", "How long the log behind “Why” is kept."],
	],
	Delivery: [
		[
			"inbox.max_age_minutes",
			"Oldest message, in minutes",
			"One that waited longer is not answered any more.",
		],
		["outbox.max_attempts", "Attempts", "How often a part of an answer is sent before it is given up."],
		[
			"outbox.max_age_minutes",
			"Oldest answer, in minutes",
			"One that could not be sent for so long is given up.",
		],
		[
			"shutdown.drain_seconds",
			"Time to finish, in seconds",
			"What running answers have when Keryx is stopped.",
		],
	],
};

export const EDITABLE_SETTINGS: readonly EditableSetting[] = Object.entries(FIELDS).flatMap(
	([group, fields]) =>
		fields.map(([key, label, about, form]) => {
			const found = valueKey(key);
			return {
				key,
				group,
				label,
				about,
				type: form === "long" ? "long_text" : found.choices ? "choice" : found.type,
				choices: found.choices ?? [],
				expects: found.expects,
			};
		}),
);

/** A mistake in the table above fails at load time. */
function valueKey(
	path: string,
): Extract<Key, { kind: "value" }> & { readonly type: "number" | "boolean" | "text" } {
	let key: Key | undefined = CONFIG_KEYS;
	for (const name of path.split(".")) key = key?.kind === "section" ? key.keys.get(name) : undefined;
	if (key?.kind !== "value" || key.restart || key.type === "list")
		throw new TypeError(`${path} is no single value that holds at once`);
	return key as ReturnType<typeof valueKey>;
}
