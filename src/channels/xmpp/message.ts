// What a message stanza says: its facts, whether its text names us, and whether it is a command. Pure.
import { asCommand } from "../bang.ts";
import { ENCRYPTED, NS } from "./stream/namespaces.ts";
import { child, type Element, elements, textOf } from "./stream/xml.ts";

export interface ReadMessage {
	readonly type: string;
	readonly from: string;
	/** Given by the sender's program; others may have the same. */
	readonly id: string;
	readonly body: string;
	readonly subject: string | undefined;
	/** The sender's id of the message that this one corrects. */
	readonly replaces: string | undefined;
	/** The id of the message that is taken back. */
	readonly retracts: string | undefined;
	readonly reactions: { readonly to: string; readonly emojis: readonly string[] } | undefined;
	readonly reply:
		| { readonly id: string; readonly to: string | undefined; readonly quote: string }
		| undefined;
	/** Addresses of files. */
	readonly files: readonly string[];
	/** When it was sent, if it was not just now; NaN otherwise. */
	readonly sentAt: number;
	readonly isEncrypted: boolean;
	/** Into a room. Keryx joins only those of its configuration. */
	readonly isInvitation: boolean;
}

export function readMessage(message: Element): ReadMessage {
	const { type = "normal", from = "", id = "" } = message.attrs;
	const reactions = child(message, "reactions", NS.reactions);
	const subject = child(message, "subject");
	const { body, reply } = withoutQuote(textOf(child(message, "body")), message);
	const files = elements(message)
		.filter(({ name, ns }) => name === "x" && ns === NS.outOfBand)
		.map((one) => textOf(child(one, "url")).trim())
		.filter((url) => url !== "");
	return {
		type,
		from,
		id: id || (child(message, "origin-id", NS.ids)?.attrs.id ?? ""),
		body: withoutAddresses(body, files),
		subject: subject && textOf(subject),
		replaces: child(message, "replace", NS.correct)?.attrs.id,
		retracts: child(message, "retract", NS.retract)?.attrs.id,
		reactions: reactions && {
			to: reactions.attrs.id ?? "",
			emojis: elements(reactions).map((one) => textOf(one).trim()),
		},
		reply,
		files,
		sentAt: Date.parse(child(message, "delay", NS.delay)?.attrs.stamp ?? ""),
		isEncrypted: elements(message).some(({ ns }) => ENCRYPTED.has(ns)),
		isInvitation: elements(message).some(
			(one) => one.ns === NS.conference || (one.ns === NS.mucUser && child(one, "invite") !== undefined),
		),
	};
}

/** The id given by `by`: our server for private messages, the room for others. */
export function stanzaId(message: Element, by: string): string | undefined {
	return elements(message).find(
		({ name, ns, attrs }) => name === "stanza-id" && ns === NS.ids && attrs.by === by,
	)?.attrs.id;
}

/** The inner message of a copy (carbon): one that another program of our account got. */
export function carbonOf(message: Element, own: string): "sent" | Element | null {
	if (message.attrs.from !== own) return null;
	if (child(message, "sent", NS.carbons)) return "sent";
	const received = child(message, "received", NS.carbons);
	const forwarded = received && child(received, "forwarded", NS.forward);
	return (forwarded && child(forwarded, "message", NS.client)) ?? null;
}

/** Programs without replies show the quoted words as part of the text: they are taken out of it. */
function withoutQuote(body: string, message: Element): Pick<ReadMessage, "body" | "reply"> {
	const reply = child(message, "reply", NS.reply);
	if (!reply) return { body, reply: undefined };
	const fallback = elements(message).find(
		({ name, ns, attrs }) => name === "fallback" && ns === NS.fallback && attrs.for === NS.reply,
	);
	const range = fallback && child(fallback, "body");
	const points = [...body];
	const start = Number(range?.attrs.start ?? 0);
	const end = range ? Number(range.attrs.end ?? points.length) : 0;
	const quote = points.slice(start, end).join("").replace(/^> ?/gm, "").trim();
	const rest = [...points.slice(0, start), ...points.slice(end)].join("");
	return { body: rest, reply: { id: reply.attrs.id ?? "", to: reply.attrs.to, quote } };
}

/** A file's address is in the text for programs that cannot show the file. */
function withoutAddresses(body: string, files: readonly string[]): string {
	if (files.length === 0) return body;
	return body
		.split("\n")
		.filter((line) => !files.includes(line.trim()))
		.join("\n")
		.trim();
}

interface Said {
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

/** The nick appears in the text as a word. */
function names(text: string, nick: string): boolean {
	const [low, wanted] = [text.toLowerCase(), nick.toLowerCase()];
	for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, at + 1))
		if (!/[\p{L}\p{N}_-]$/u.test(low.slice(0, at)) && !/^[\p{L}\p{N}_-]/u.test(low.slice(at + wanted.length)))
			return true;
	return false;
}
