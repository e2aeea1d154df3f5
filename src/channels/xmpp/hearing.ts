// Prepares messages for the gateway: who wrote it, where, under which id, and as what.
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import { inWords } from "../incoming-file.ts";
import { fetchFile } from "./files.ts";
import type { Work } from "./intake.ts";
import type { Known, KnownMessage } from "./known.ts";
import { type ReadMessage, readMessage, readText, stanzaId } from "./message.ts";
import type { XmppOptions } from "./options.ts";
import type { Person, Room, Rooms } from "./rooms.ts";
import { type Jid, parseJid } from "./stream/jid.ts";
import type { Element } from "./stream/xml.ts";

/** Shorter ids may be counters that restart. */
const SURE_ID = 8;
/** Per message: each is fetched from wherever its address leads. */
const MOST_FILES = 20;

export interface HearingOptions {
	readonly options: XmppOptions;
	readonly own: Jid;
	/** Prefix of our own messages' ids. */
	readonly prefix: string;
	readonly known: Known;
	readonly rooms: () => Rooms;
	readonly commands: () => ReadonlySet<string>;
	/** Looks for older messages of a chat in its archive, so that they are known. Never rejects. */
	readonly recall: (chat: string) => Promise<void>;
	/** An id for a message that has none. */
	readonly newId: () => string;
	readonly isStopping: () => boolean;
	/** The gateway listens to this person. */
	readonly letIn: (person: string) => void;
}

/** Where a message was found. */
export interface Where {
	/** In the archive; undefined: just said. */
	readonly archived?: { readonly id: string; readonly at: number };
	readonly done: () => void;
}

interface Heard extends ReadMessage {
	readonly chat: string;
	readonly room: Room | undefined;
	readonly person: Person;
	readonly platformMessage: string;
	readonly archive: string;
	/** Given by the archive; undefined: it keeps nothing. */
	readonly archiveId: string | undefined;
	readonly at: number;
}

export class Hearing {
	readonly #options: HearingOptions;

	constructor(options: HearingOptions) {
		this.#options = options;
	}

	/** Null: nothing to commit; the caller calls `done`. */
	work(message: Element, where: Where): Work | null {
		const heard = this.#heard(message, where);
		if (!heard) return null;
		const { chat, platformMessage, archive, archiveId, at, body, files, isEncrypted } = heard;
		const write = this.#writeOf(heard);
		if (!write) return null;
		if (body !== "" || files.length > 0 || isEncrypted) this.#note(heard);
		return {
			chat,
			message: platformMessage,
			archivePosition: archiveId === undefined ? undefined : { archive, position: { id: archiveId, at } },
			write,
			done: where.done,
		};
	}

	/** Our own message came back, or was found in an archive. */
	ownMessage(chat: string, read: ReadMessage, archiveId: string | undefined): void {
		const { known, prefix } = this.#options;
		const { id, body } = read;
		if (!id.startsWith(prefix)) return;
		const [receipt = id] = id.split("~", 1);
		known.note(chat, [id, archiveId], {
			platformMessage: receipt,
			sender: undefined,
			author: "Keryx",
			text: body,
		});
	}

	/** An older message was found in an archive: it can be quoted and corrected. */
	note(message: Element, archiveId: string): void {
		const heard = this.#heard(message, { archived: { id: archiveId, at: Number.NaN }, done: () => {} });
		if (heard && heard.body !== "") this.#note(heard);
	}

	/** Whether Keryx wrote it, whatever nick it had then. */
	isOwn(message: Element, room: Room, archived: boolean): boolean {
		const { own, prefix, rooms } = this.#options;
		const nick = parseJid(message.attrs.from)?.resource ?? "";
		if (nick === room.nick) return true;
		// Anyone can write such an id; in an archive it may be the only evidence.
		if (archived && (message.attrs.id ?? "").startsWith(prefix)) return true;
		const person = archived ? rooms().formerPerson(room, nick, message) : rooms().personOf(room, nick);
		return person.id === own.bare;
	}

	sourceOf(chat: string, person: Person | null): Record<string, unknown> {
		const { options, rooms } = this.#options;
		const { account = "", profile } = options;
		const room = rooms().get(chat);
		return {
			platform: "xmpp",
			account,
			chat_id: chat,
			chat_type: room ? "group" : "dm",
			...(room && { chat_name: room.name ?? room.jid }),
			...(room?.topic !== undefined && { chat_topic: room.topic }),
			...(person && { user_id: person.id, user_name: person.name }),
			...(profile !== undefined && { profile }),
		};
	}

	#heard(message: Element, { archived }: Where): Heard | null {
		const { own, rooms, options, newId } = this.#options;
		const read = readMessage(message);
		const from = parseJid(read.from);
		if (!from) return null;
		const room = read.type === "groupchat" ? rooms().get(from.bare) : undefined;
		if (room && from.resource === "") return null;
		const archive = room ? room.jid : "";
		const archiveId = archived?.id ?? stanzaId(message, room ? room.jid : own.bare);
		const person = room
			? archived
				? rooms().formerPerson(room, from.resource, message)
				: rooms().personOf(room, from.resource)
			: { id: from.bare, name: from.local || from.domain, isProven: true };
		const given = room ? `${from.resource}/${read.id}` : read.id;
		return {
			...read,
			chat: from.bare,
			room,
			person,
			archive,
			archiveId,
			platformMessage: archiveId ?? (read.id.length < SURE_ID ? newId() : given),
			at: firstNumber(archived?.at, read.sentAt, options.clock.now()),
		};
	}

	#writeOf(heard: Heard): Work["write"] | null {
		const { replaces, retracts, reactions, body, files, isEncrypted, isInvitation } = heard;
		if (isInvitation) return null;
		if (retracts !== undefined) return (host, cursor) => this.#retracted(heard, retracts, host, cursor);
		if (reactions) return (host, cursor) => this.#reacted(heard, reactions, host, cursor);
		if (body === "" && files.length === 0 && !isEncrypted) return null;
		if (replaces !== undefined) return (host, cursor) => this.#corrected(heard, replaces, host, cursor);
		return async (host, cursor) => {
			const { refused } = await host.accept(await this.#inbound(heard, host, cursor));
			if (refused === null && !heard.room) this.#options.letIn(heard.person.id);
		};
	}

	#note({ chat, id, archiveId, platformMessage, person, body, replaces }: Heard): void {
		// A correction is still the message that it corrects.
		if (replaces !== undefined) return;
		this.#options.known.note(chat, [id, archiveId], {
			platformMessage,
			sender: person.id,
			author: person.name,
			text: body,
		});
	}

	async #inbound(heard: Heard, host: ChannelHost, cursor: string): Promise<Inbound> {
		const { chat, person, platformMessage, files, sentAt, at, room } = heard;
		const { options, own } = this.#options;
		const { text, mentioned } = this.#said(heard);
		const fetched = [];
		for (const address of files.slice(0, MOST_FILES))
			fetched.push(
				await fetchFile(address, {
					host,
					clock: options.clock,
					domain: own.domain,
					deadlineMs: options.fileMs ?? 60_000,
					isStopping: this.#options.isStopping,
				}),
			);
		if (files.length > MOST_FILES)
			fetched.push(inWords(`[${files.length - MOST_FILES} more files of this message are left out]`));
		const words: Part[] = text === "" ? [] : [{ type: "text", text }];
		const blobs = fetched.flatMap(({ blob }) => blob ?? []);
		const quoted = this.#quoted(heard);
		return {
			source: this.sourceOf(chat, person),
			platformMessage,
			content: fetched.length === 0 ? text : [...words, ...fetched.map(({ part }) => part)],
			...(blobs.length > 0 && { blobs }),
			...(quoted && { quoted }),
			mentioned: room === undefined || mentioned || quoted?.own === true,
			sentAt: firstNumber(sentAt, at),
			cursor,
			transport: this.#transport(person),
		};
	}

	#said({ body, isEncrypted, person, room }: Heard): { readonly text: string; readonly mentioned: boolean } {
		// Its body only says that it is encrypted.
		if (isEncrypted)
			return { text: "[an encrypted message, which Keryx cannot read: it has no keys]", mentioned: false };
		return readText(body, {
			nick: room?.nick ?? null,
			sender: person.name,
			commands: this.#options.commands(),
		});
	}

	#quoted({ reply, chat, room }: Heard): Inbound["quoted"] {
		if (!reply) return undefined;
		const { known, prefix } = this.#options;
		const found = known.find(chat, reply.id);
		const isOurs = room ? reply.to === `${room.jid}/${room.nick}` : reply.id.startsWith(prefix);
		const author = found?.author ?? parseJid(reply.to)?.resource;
		return {
			platformMessage: found?.platformMessage ?? reply.id,
			text: found?.text || reply.quote,
			...(author !== undefined && author !== "" && { author }),
			own: found ? found.sender === undefined : isOurs,
		};
	}

	async #corrected(heard: Heard, id: string, host: ChannelHost, cursor: string): Promise<void> {
		const { chat, person, room } = heard;
		const found = await this.#find(chat, id);
		// Only the author may correct a message; in a room, the author of an unknown message is not certain.
		if (found ? found.sender !== person.id : room) return host.passed(cursor);
		return host.edited({
			source: this.sourceOf(chat, person),
			platformMessage: found?.platformMessage ?? id,
			content: this.#said(heard).text,
			cursor,
		});
	}

	async #retracted(heard: Heard, id: string, host: ChannelHost, cursor: string): Promise<void> {
		const { chat, person } = heard;
		const found = await this.#find(chat, id);
		if (found?.sender !== person.id) return host.passed(cursor);
		const { platformMessage } = found;
		return host.deleted({ source: this.sourceOf(chat, person), platformMessage, cursor });
	}

	async #reacted(
		{ chat, person }: Heard,
		{ to, emojis }: NonNullable<ReadMessage["reactions"]>,
		host: ChannelHost,
		cursor: string,
	): Promise<void> {
		const found = await this.#find(chat, to);
		for (const emoji of emojis)
			await host.reacted({
				source: this.sourceOf(chat, person),
				platformMessage: found?.platformMessage ?? to,
				emoji,
				on: found && found.sender === undefined ? "own" : "other",
				transport: this.#transport(person),
			});
		return host.passed(cursor);
	}

	async #find(chat: string, id: string): Promise<KnownMessage | undefined> {
		const { known, recall } = this.#options;
		const found = known.find(chat, id);
		if (found) return found;
		await recall(chat);
		return known.find(chat, id);
	}

	#transport({ isProven }: Person): NonNullable<Inbound["transport"]> {
		return !isProven && this.#options.options.decides !== true ? { unproven: true } : {};
	}
}

function firstNumber(...numbers: readonly (number | undefined)[]): number {
	return numbers.find((one) => one !== undefined && !Number.isNaN(one)) ?? 0;
}
