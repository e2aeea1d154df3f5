// The text of a person's line. Formats are removed, actions are labelled, and other CTCP requests are not messages.
import { asCommand } from "../bang.ts";
import { folded, withoutFormats } from "./wire.ts";

export interface Said {
	readonly text: string;
	/** The line starts with our nick. */
	readonly mentioned: boolean;
}

/** Null for CTCP requests and lines without words. */
export function readText(
	raw: string,
	{
		nick,
		sender,
		commands,
	}: { readonly nick: string; readonly sender: string; readonly commands: ReadonlySet<string> },
): Said | null {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: CTCP stands between these
	const [, ctcp] = /^\x01([^\x01]*)\x01?$/.exec(raw) ?? [];
	if (ctcp !== undefined) {
		if (!ctcp.startsWith("ACTION ")) return null;
		const action = withoutFormats(ctcp.slice("ACTION ".length)).trim();
		// The label prevents an action from being a command.
		return action === "" ? null : { text: `* ${sender} ${action}`, mentioned: false };
	}
	const plain = withoutFormats(raw).trim();
	const { mentioned, text } = withoutNick(plain, nick);
	return text === "" && !mentioned ? null : { text: asCommand(text, commands), mentioned };
}

/** `nick: text`, `nick, text`, `@nick text`. */
function withoutNick(text: string, nick: string): Said {
	const at = text.startsWith("@") ? 1 : 0;
	const rest = text.slice(at + nick.length);
	const isNamed = folded(text.slice(at, at + nick.length)) === folded(nick);
	const [ending] = (at === 1 ? /^(?:[:,]\s*|\s+|$)/ : /^(?:[:,](?:\s+|$|(?=[!/]))|$)/).exec(rest) ?? [];
	if (!isNamed || ending === undefined) return { text, mentioned: false };
	return { text: rest.slice(ending.length).trim(), mentioned: true };
}
