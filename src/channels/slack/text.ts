// A message's text: Slack's control sequences become readable, its escapes are undone.
import type { Directory } from "./directory.ts";
import type { Me, WireMessage } from "./source.ts";

const SEQUENCE = /<([^<>]*)>/g;

/** The text without the app's own name at its start. A command that Slack's client let through keeps its slash. */
export async function textOf(message: WireMessage, me: Me, directory: Directory): Promise<string> {
	const own = new RegExp(`^\\s*<@${me.userId}(?:\\|[^<>]*)?>[,:]?\\s*`);
	const written = await readable((message.text ?? "").replace(own, ""), me, directory);
	const shared = await Promise.all(
		(message.attachments ?? [])
			.filter(({ is_share: shares, is_msg_unfurl: unfurled }) => shares || unfurled)
			.map(
				async ({ author_name: author = "somebody", text = "" }) =>
					`[forwarded from ${author}]\n${await readable(text, me, directory)}`,
			),
	);
	const text = [written, ...shared].filter(Boolean).join("\n");
	return /^\s+\//.test(text) ? text.trimStart() : text;
}

/** Named, or a known command. */
export function isMentioned(message: WireMessage, me: Me, commands: ReadonlySet<string>): boolean {
	const text = message.text ?? "";
	if (new RegExp(`<@${me.userId}(?:\\|[^<>]*)?>`).test(text)) return true;
	const command = /^\s*\/([a-z0-9_-]+)/i.exec(text)?.[1];
	return command !== undefined && commands.has(command.toLowerCase());
}

async function readable(text: string, me: Me, directory: Directory): Promise<string> {
	const names = new Map<string, string>([[me.userId, me.name]]);
	await Promise.all(
		[...text.matchAll(/<@([A-Z0-9]+)>/g)].map(async ([, id = ""]) => {
			if (!names.has(id)) names.set(id, (await directory.person(id)) ?? id);
		}),
	);
	return text
		.replace(SEQUENCE, (whole, inside: string) => sequence(inside, names) ?? whole)
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&amp;", "&");
}

function sequence(inside: string, names: ReadonlyMap<string, string>): string | null {
	const [target = "", label] = inside.split("|");
	const bare = target.slice(1);
	if (target.startsWith("@")) return `@${label ?? names.get(bare) ?? bare}`;
	if (target.startsWith("#")) return `#${label || bare}`;
	if (target.startsWith("!")) {
		// <!here>, <!subteam^S1|@team>, <!date^1^{date}|fallback>
		return label === undefined
			? `@${bare.split("^")[0]}`
			: bare.startsWith("date")
				? label
				: `@${label.replace(/^@/, "")}`;
	}
	if (!/^[a-z][a-z0-9+.-]*:/i.test(target)) return null;
	const address = target.replace(/^(?:mailto|tel):/, "");
	return label === undefined || label === address || label === target ? address : `[${label}](${target})`;
}
