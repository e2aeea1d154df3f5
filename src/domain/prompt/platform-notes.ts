// What the agent can and cannot do on a platform. Each note must be true for this session's tools: an agent that believes in access it
// lacks invents results.
import type { Source } from "../types.ts";

interface NoteInput {
	readonly source: Source;
	readonly tools: readonly string[];
	/** Prints an id so that it is safe in a prompt. */
	readonly printId: (id: string) => string;
}

export function platformNotes(input: NoteInput): readonly string[] {
	const { source, tools } = input;
	const loaded = hasPlatformTools(source.platform, tools);
	switch (source.platform) {
		case "discord":
			return [loaded ? idNote("Discord", "server", "channel", input) : noAccess("Discord", "server")];
		case "slack":
			return [loaded ? idNote("Slack", "workspace", "channel", input) : noAccess("Slack", "workspace")];
		case "bluebubbles":
			return [
				"iMessage: write short paragraphs with a blank line between them; each becomes its own bubble.",
			];
		case "yuanbao":
			return [
				loaded
					? "Yuanbao: to write to one member directly, use the Yuanbao tool; your reply goes to this chat."
					: "Yuanbao: you cannot write direct messages in this session, only reply in this chat.",
			];
		default:
			return [];
	}
}

/** A tool belongs to a platform when its name is the platform's, alone or with `_` and more after it. */
export function hasPlatformTools(platform: string, tools: readonly string[]): boolean {
	return tools.some((tool) => tool === platform || tool.startsWith(`${platform}_`));
}

function idNote(label: string, scope: string, chat: string, { source, printId }: NoteInput): string {
	const ids: readonly (readonly [string, string | undefined])[] = [
		[scope, source.scopeId],
		[chat, source.chatId],
		[`parent ${chat}`, source.parentChatId],
		["thread", source.threadId],
	];
	const known = ids.flatMap(([name, id]) => (id ? [`${name} ${printId(id)}`] : []));
	return `${label}: its tools are loaded. Ids for them: ${known.join(", ") || "none known"}.`;
}

function noAccess(label: string, scope: string): string {
	return `${label}: you have no API access in this session. You can reply here, but not search, read other channels, look people up or change the ${scope}; say so if asked to.`;
}
