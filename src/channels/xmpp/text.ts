// The text of a person's message: whether it names us, and whether it is a command.
import { asCommand } from "../bang.ts";

export interface Said {
	readonly text: string;
	readonly mentioned: boolean;
}

export function readText(
	raw: string,
	{
		nick,
		sender,
		commands,
	}: {
		/** Ours, in a room. */
		readonly nick: string | null;
		readonly sender: string;
		readonly commands: ReadonlySet<string>;
	},
): Said {
	const plain = raw.trim();
	// The label prevents an action from being a command.
	if (plain.startsWith("/me ")) {
		const text = `* ${sender} ${plain.slice(4).trim()}`;
		return { text, mentioned: nick !== null && names(text, nick) };
	}
	const { text, mentioned } = nick === null ? { text: plain, mentioned: true } : withoutNick(plain, nick);
	return { text: asCommand(text, commands), mentioned };
}

/** `nick: text`, `nick, text`, `@nick text` lose the nick; anywhere else it stays. */
function withoutNick(text: string, nick: string): Said {
	const at = text.startsWith("@") ? 1 : 0;
	const rest = text.slice(at + nick.length);
	const isFirst = text.slice(at, at + nick.length).toLowerCase() === nick.toLowerCase();
	const [ending] = (at === 1 ? /^(?:[:,]\s*|\s+|$)/ : /^(?:[:,]\s*|$)/).exec(rest) ?? [];
	if (isFirst && ending !== undefined) return { text: rest.slice(ending.length).trim(), mentioned: true };
	return { text, mentioned: names(text, nick) };
}

/** The nick stands in the text as a word. */
function names(text: string, nick: string): boolean {
	const [low, wanted] = [text.toLowerCase(), nick.toLowerCase()];
	for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, at + 1))
		if (!/[\p{L}\p{N}_-]$/u.test(low.slice(0, at)) && !/^[\p{L}\p{N}_-]/u.test(low.slice(at + wanted.length)))
			return true;
	return false;
}
