// A Slack workspace as its people see it: channels, threads, messages, files. What happens in it reaches the app as events.
import type { Clock } from "../../../src/time/index.ts";
import { SlackRefusal } from "./errors.ts";

export interface Person {
	readonly id: string;
	readonly name: string;
	/** Of another app than ours: its bot. */
	readonly botId?: string;
}

export interface SlackFile {
	readonly id: string;
	readonly name: string;
	readonly mimetype: string;
	readonly bytes: Buffer;
	/** What Slack says of its size; left out: the truth. */
	readonly statedSize?: number;
	/** Kept elsewhere: Slack has only the address. */
	readonly externalUrl?: string;
	/** Where it was shared: the channel and the message. */
	readonly shares: { readonly channel: string; readonly ts: string }[];
}

export type NewFile = Pick<SlackFile, "name"> & Partial<Omit<SlackFile, "id" | "name" | "shares">>;

/** As it stands on the wire, with what the peer knows of it besides. */
export interface SlackMessage {
	readonly ts: string;
	readonly user: string;
	text: string;
	readonly bot_id?: string;
	readonly app_id?: string;
	readonly thread_ts?: string;
	readonly subtype?: string;
	blocks?: readonly Block[];
	readonly files?: readonly SlackFile[];
	metadata?: Metadata;
	mrkdwn?: boolean;
	edits: number;
}

export interface Metadata {
	readonly event_type: string;
	readonly event_payload: Readonly<Record<string, unknown>>;
}

export interface Block {
	readonly type: string;
	readonly text?: { readonly type: string; readonly text: string };
	readonly elements?: readonly {
		readonly type: string;
		readonly action_id?: string;
		readonly value?: string;
		readonly style?: string;
		readonly text?: { readonly text: string };
	}[];
}

export type ChannelKind = "im" | "mpim" | "channel" | "group";

export interface ChannelRecord {
	readonly id: string;
	readonly kind: ChannelKind;
	readonly name: string;
	topic: string;
	readonly members: Set<string>;
	readonly messages: Map<string, SlackMessage>;
	isArchived: boolean;
}

export interface Saying {
	readonly thread?: string;
	readonly files?: readonly NewFile[];
	readonly subtype?: string;
	/** Without an event: only history knows of it. */
	readonly silent?: boolean;
}

const TEXT_LIMIT = 40_000;

export class World {
	readonly clock: Clock;
	readonly team = { id: "T0001", name: "Greenhouse", domain: "greenhouse" };
	readonly app = { id: "A0001", name: "Keryx", userId: "U0BOT", botId: "B0BOT" };
	readonly people = new Map<string, Person>();
	readonly channels = new Map<string, ChannelRecord>();
	readonly files = new Map<string, SlackFile>();
	/** Slack may list fewer chats at once than it was asked for. */
	mostListed = 1000;
	/** Called with each event that the app subscribes to. */
	onEvent: (event: Readonly<Record<string, unknown>>) => void = () => {};
	#ids = 1000;
	#last = 0;

	constructor(clock: Clock) {
		this.clock = clock;
		const { userId, botId, name } = this.app;
		this.people.set(userId, { id: userId, name, botId });
	}

	nextId(letter: string): string {
		return `${letter}${++this.#ids}`;
	}

	/** Unique, in the order in which they were asked for. */
	nextTs(): string {
		this.#last = Math.max(this.#last + 1, Math.floor(this.clock.now() * 1000));
		return `${Math.floor(this.#last / 1_000_000)}.${String(this.#last % 1_000_000).padStart(6, "0")}`;
	}

	person(name: string, isBot = false): Person {
		const id = this.nextId("U");
		const person = { id, name, ...(isBot && { botId: this.nextId("B") }) };
		this.people.set(id, person);
		return person;
	}

	channel(kind: ChannelKind, name: string, members: readonly string[]): ChannelRecord {
		const record: ChannelRecord = {
			id: this.nextId(kind === "im" ? "D" : "C"),
			kind,
			name,
			topic: "",
			members: new Set(members),
			messages: new Map(),
			isArchived: false,
		};
		this.channels.set(record.id, record);
		return record;
	}

	/** As an app names it. Channels that it was never in are not found where they are private. */
	find(id: unknown): ChannelRecord {
		const record = this.channels.get(String(id));
		if (!record || (record.kind !== "channel" && !record.members.has(this.app.userId)))
			throw new SlackRefusal("channel_not_found");
		return record;
	}

	message(record: ChannelRecord, ts: unknown): SlackMessage {
		const found = record.messages.get(String(ts));
		if (!found) throw new SlackRefusal("message_not_found");
		return found;
	}

	keep(file: NewFile): SlackFile {
		const { bytes = Buffer.alloc(0), mimetype = "application/octet-stream" } = file;
		const kept = { ...file, id: this.nextId("F"), bytes: Buffer.from(bytes), mimetype, shares: [] };
		this.files.set(kept.id, kept);
		return kept;
	}

	post(
		record: ChannelRecord,
		given: Omit<SlackMessage, "ts" | "edits" | "thread_ts"> & { readonly thread?: string | undefined },
		silent = false,
	): SlackMessage {
		const { thread, ...rest } = given;
		const text = rest.text.slice(0, TEXT_LIMIT);
		const message: SlackMessage = {
			...rest,
			text,
			ts: this.nextTs(),
			...(thread !== undefined && { thread_ts: thread }),
			edits: 0,
		};
		record.messages.set(message.ts, message);
		for (const file of message.files ?? []) file.shares.push({ channel: record.id, ts: message.ts });
		if (!silent) this.tell(record, { ...this.wire(record, message), event_ts: message.ts });
		return message;
	}

	say(by: Person, record: ChannelRecord, text: string, saying: Saying = {}): string {
		record.members.add(by.id);
		const files = saying.files?.map((file) => this.keep(file));
		const subtype = saying.subtype ?? (files ? "file_share" : undefined);
		const { ts } = this.post(
			record,
			{
				user: by.id,
				text: escaped(text),
				...(by.botId !== undefined && { bot_id: by.botId }),
				...(subtype !== undefined && { subtype }),
				...(files && { files }),
				thread: saying.thread,
			},
			saying.silent,
		);
		return ts;
	}

	edit(record: ChannelRecord, ts: string, text: string): void {
		const message = this.message(record, ts);
		const before = this.wire(record, message);
		message.text = text;
		message.edits++;
		this.changed(record, message, before);
	}

	changed(record: ChannelRecord, message: SlackMessage, before: object): void {
		const at = this.nextTs();
		this.tell(record, {
			subtype: "message_changed",
			hidden: true,
			message: { ...this.wire(record, message), edited: { user: message.user, ts: at } },
			previous_message: before,
			ts: at,
			event_ts: at,
		});
	}

	remove(record: ChannelRecord, ts: string): void {
		const message = this.message(record, ts);
		record.messages.delete(ts);
		const at = this.nextTs();
		this.tell(record, {
			subtype: "message_deleted",
			hidden: true,
			deleted_ts: ts,
			previous_message: this.wire(record, message),
			ts: at,
			event_ts: at,
		});
	}

	/** An event of a channel, if the app is in it. */
	tell(record: ChannelRecord, event: Readonly<Record<string, unknown>>): void {
		if (!record.members.has(this.app.userId)) return;
		this.onEvent({ type: "message", ...event, channel: record.id, channel_type: record.kind });
	}

	/** As the API writes a message. */
	wire(record: ChannelRecord, message: SlackMessage): Record<string, unknown> {
		const { edits: _, files, mrkdwn: __, ...rest } = message;
		const replies = [...record.messages.values()].filter(
			({ thread_ts: thread, ts }) => thread === message.ts && ts !== message.ts,
		);
		const parent = message.thread_ts === undefined ? undefined : record.messages.get(message.thread_ts);
		return {
			type: "message",
			team: this.team.id,
			...rest,
			...(files && { files: files.map((file) => this.fileOf(file)) }),
			...(parent && parent.ts !== message.ts && { parent_user_id: parent.user }),
			...(replies.length > 0 && {
				thread_ts: message.ts,
				reply_count: replies.length,
				latest_reply: replies.at(-1)?.ts,
			}),
		};
	}

	/** Where files are fetched from; set by the server. */
	root = "";

	fileOf({ id, name, mimetype, bytes, statedSize, externalUrl }: SlackFile): object {
		const url = externalUrl ?? `${this.root}/files-pri/${this.team.id}-${id}/${encodeURIComponent(name)}`;
		return {
			id,
			name,
			title: name,
			mimetype,
			size: statedSize ?? bytes.length,
			mode: externalUrl === undefined ? "hosted" : "external",
			is_external: externalUrl !== undefined,
			url_private: url,
			...(externalUrl === undefined && { url_private_download: `${url}?download=1` }),
		};
	}
}

/** As Slack's own client sends what people type. Mentions are given as the API writes them, <@U1>. */
function escaped(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replace(/<(?![@#!][^<>]*>|(?:https?|mailto):[^<>]*>)/g, "&lt;")
		.replace(/(?<!<[@#!][^<>]*|<(?:https?|mailto):[^<>]*)>/g, "&gt;");
}

/** What people read: control sequences are resolved, escapes undone. */
export function readable(text: string, nameOf: (id: string) => string = (id) => id): string {
	return text
		.replace(/<([@#!])([^<>|]*)(?:\|([^<>]*))?>/g, (_, kind: string, id: string, label?: string) =>
			kind === "!" ? `@${label ?? id}` : `${kind}${label ?? nameOf(id)}`,
		)
		.replace(
			/<((?:https?|mailto):[^<>|]*)(?:\|([^<>]*))?>/g,
			(_, url: string, label?: string) => label ?? url,
		)
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&amp;", "&");
}
