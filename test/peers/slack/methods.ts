// What an app can ask for. Every answer and every refusal has the form and the words of the Web API.
import { SlackRefusal } from "./errors.ts";
import { MOST_SOCKETS, type Sockets } from "./sockets.ts";
import type { Block, ChannelRecord, Metadata, SlackMessage, World } from "./world.ts";

/** Only a message that is changed has this limit; a new one is cut at 40,000. */
const UPDATE_LIMIT = 4000;
const SECTION_LIMIT = 3000;
const MOST_BLOCKS = 50;

export interface Upload {
	readonly id: string;
	readonly name: string;
	readonly length: number;
	bytes: Buffer | null;
}

export interface Shelf {
	readonly world: World;
	readonly sockets: Sockets;
	readonly uploads: Map<string, Upload>;
	/** Sentences that only one person sees, by that person and the channel. */
	readonly ephemeral: { readonly channel: string; readonly user: string; readonly text: string }[];
	readonly root: string;
	readonly onChange: () => void;
}

export type Fields = Readonly<Record<string, unknown>>;
type Method = (fields: Fields, shelf: Shelf) => object;

export const METHODS: Readonly<Record<string, Method>> = {
	"auth.test": (_, { world: { team, app }, root }) => ({
		url: `${root}/`,
		team: team.name,
		user: app.name.toLowerCase(),
		team_id: team.id,
		user_id: app.userId,
		bot_id: app.botId,
		is_enterprise_install: false,
	}),
	"apps.connections.open": (_, { sockets, root }) => {
		if (sockets.open.size >= MOST_SOCKETS) throw new SlackRefusal("too_many_websockets");
		return { url: `${root.replace("http", "ws")}/link/?ticket=${Math.random()}` };
	},
	"chat.postMessage": (fields, { world }) => {
		const record = writable(world, fields.channel);
		const text = textOf(fields);
		const blocks = blocksOf(fields);
		if (text === "" && blocks.length === 0) throw new SlackRefusal("no_text");
		const thread = fields.thread_ts === undefined ? undefined : String(fields.thread_ts);
		if (thread !== undefined && !record.messages.has(thread)) throw new SlackRefusal("thread_not_found");
		const metadata = fields.metadata as Metadata | undefined;
		const message = world.post(record, {
			user: world.app.userId,
			bot_id: world.app.botId,
			app_id: world.app.id,
			text,
			thread,
			mrkdwn: fields.mrkdwn !== "false" && fields.mrkdwn !== false,
			...(blocks.length > 0 && { blocks }),
			...(metadata && { metadata }),
		});
		return { channel: record.id, ts: message.ts, message: world.wire(record, message) };
	},
	"chat.update": (fields, { world }) => {
		const record = writable(world, fields.channel);
		const message = world.message(record, fields.ts);
		if (message.user !== world.app.userId) throw new SlackRefusal("cant_update_message");
		const text = textOf(fields);
		if (text.length > UPDATE_LIMIT) throw new SlackRefusal("msg_too_long");
		const before = world.wire(record, message);
		// New words without blocks take the old blocks away.
		if (fields.text !== undefined || fields.blocks !== undefined) message.blocks = blocksOf(fields);
		message.text = text;
		message.edits++;
		if (fields.metadata !== undefined) message.metadata = fields.metadata as Metadata;
		world.changed(record, message, before);
		return { channel: record.id, ts: message.ts, text, message: world.wire(record, message) };
	},
	"chat.delete": (fields, { world }) => {
		const record = writable(world, fields.channel);
		world.remove(record, String(fields.ts));
		return { channel: record.id, ts: fields.ts };
	},
	"chat.postEphemeral": (fields, { world, ephemeral, onChange }) => {
		const record = writable(world, fields.channel);
		if (!record.members.has(String(fields.user))) throw new SlackRefusal("user_not_in_channel");
		ephemeral.push({ channel: record.id, user: String(fields.user), text: textOf(fields) });
		onChange();
		return { message_ts: world.nextTs() };
	},
	"conversations.history": (fields, { world }) => {
		const record = readable(world, fields.channel);
		const seen = [...record.messages.values()].filter(
			({ thread_ts: thread, ts, subtype }) =>
				thread === undefined || thread === ts || subtype === "thread_broadcast",
		);
		return page(world, record, within(seen, fields).toReversed(), fields);
	},
	"conversations.replies": (fields, { world }) => {
		const record = readable(world, fields.channel);
		const parent = record.messages.get(String(fields.ts));
		if (!parent) throw new SlackRefusal("thread_not_found");
		const replies = [...record.messages.values()].filter(
			({ thread_ts: thread, ts }) => thread === parent.ts && ts !== parent.ts,
		);
		return page(world, record, [parent, ...within(replies, fields)], fields);
	},
	"conversations.info": (fields, { world }) => ({ channel: infoOf(readable(world, fields.channel)) }),
	"conversations.open": (fields, { world }) => {
		const user = String(fields.users);
		const name = world.people.get(user)?.name;
		if (name === undefined) throw new SlackRefusal("user_not_found");
		const found = [...world.channels.values()].find(
			({ kind, members }) => kind === "im" && members.has(user),
		);
		return { channel: { id: (found ?? world.channel("im", "", [user, world.app.userId])).id } };
	},
	"users.conversations": (fields, { world }) => {
		const types = new Set(String(fields.types ?? "public_channel").split(","));
		const all = [...world.channels.values()].filter(
			({ kind, members, isArchived }) =>
				types.has(TYPES[kind]) && members.has(world.app.userId) && !(isArchived && fields.exclude_archived),
		);
		const { from, limit: asked } = placeOf(fields, 100);
		const limit = Math.min(asked, world.mostListed);
		return {
			channels: all.slice(from, from + limit).map(infoOf),
			response_metadata: { next_cursor: from + limit < all.length ? String(from + limit) : "" },
		};
	},
	"users.info": (fields, { world }) => {
		const person = world.people.get(String(fields.user));
		if (!person) throw new SlackRefusal("user_not_found");
		const { id, name, botId } = person;
		return {
			user: {
				id,
				team_id: world.team.id,
				name: name.toLowerCase(),
				real_name: name,
				is_bot: botId !== undefined,
				profile: { display_name: name, real_name: name },
			},
		};
	},
	"files.getUploadURLExternal": (fields, { uploads, world, root }) => {
		const length = Number(fields.length);
		if (!(length > 0)) throw new SlackRefusal("missing_argument");
		const id = world.nextId("F");
		uploads.set(id, { id, name: String(fields.filename), length, bytes: null });
		return { file_id: id, upload_url: `${root}/upload/v1/${id}` };
	},
	"files.completeUploadExternal": (fields, { uploads, world }) => {
		const record = fields.channel_id === undefined ? undefined : writable(world, fields.channel_id);
		const wanted = fields.files as readonly { readonly id: string; readonly title?: string }[];
		const files = wanted.map(({ id }) => {
			const upload = uploads.get(id);
			if (!upload?.bytes || upload.bytes.length !== upload.length) throw new SlackRefusal("file_not_found");
			uploads.delete(id);
			const file = {
				id,
				name: upload.name,
				mimetype: "application/octet-stream",
				bytes: upload.bytes,
				shares: [],
			};
			world.files.set(id, file);
			return file;
		});
		if (record)
			world.post(record, {
				user: world.app.userId,
				bot_id: world.app.botId,
				app_id: world.app.id,
				text: String(fields.initial_comment ?? ""),
				thread: fields.thread_ts === undefined ? undefined : String(fields.thread_ts),
				subtype: "file_share",
				files,
			});
		return { files: files.map(({ id, name }) => ({ id, title: name })) };
	},
	"files.info": (fields, { world }) => {
		const file = world.files.get(String(fields.file));
		if (!file) throw new SlackRefusal("file_not_found");
		const shares: Record<string, { ts: string }[]> = {};
		for (const { channel, ts } of file.shares) shares[channel] = [...(shares[channel] ?? []), { ts }];
		return { file: { ...world.fileOf(file), shares: { public: shares } } };
	},
};

const TYPES = { im: "im", mpim: "mpim", channel: "public_channel", group: "private_channel" } as const;

function infoOf({ id, kind, name, topic, members, isArchived }: ChannelRecord): object {
	return {
		id,
		name: kind === "im" ? undefined : name,
		is_im: kind === "im",
		is_mpim: kind === "mpim",
		is_channel: kind === "channel",
		is_group: kind === "group",
		is_private: kind !== "channel",
		is_archived: isArchived,
		topic: { value: topic },
		...(kind === "im" && {
			user: [...members].find((member) => member.startsWith("U") && member !== "U0BOT"),
		}),
	};
}

function writable(world: World, id: unknown): ChannelRecord {
	const record = world.find(id);
	if (record.isArchived) throw new SlackRefusal("is_archived");
	if (!record.members.has(world.app.userId)) throw new SlackRefusal("not_in_channel");
	return record;
}

function readable(world: World, id: unknown): ChannelRecord {
	const record = world.find(id);
	if (!record.members.has(world.app.userId)) throw new SlackRefusal("not_in_channel");
	return record;
}

function textOf(fields: Fields): string {
	return fields.text === undefined ? "" : String(fields.text);
}

function blocksOf({ blocks }: Fields): readonly Block[] {
	if (blocks === undefined) return [];
	const given = blocks as readonly Block[];
	const ids = given.flatMap(({ elements = [] }) => elements.map(({ action_id: id }) => id));
	const isBad =
		given.length > MOST_BLOCKS ||
		new Set(ids).size !== ids.length ||
		given.some(({ text, elements = [] }) => {
			if (text && (text.text === "" || text.text.length > SECTION_LIMIT)) return true;
			return elements.length > 25 || elements.some(({ text: label }) => (label?.text.length ?? 0) > 75);
		});
	if (isBad) throw new SlackRefusal("invalid_blocks");
	return given;
}

function within(messages: readonly SlackMessage[], { oldest, latest, inclusive }: Fields): SlackMessage[] {
	const isInclusive = inclusive === true || inclusive === "true";
	return messages.filter(({ ts }) => {
		if (oldest !== undefined && (isInclusive ? ts < String(oldest) : ts <= String(oldest))) return false;
		return latest === undefined || (isInclusive ? ts <= String(latest) : ts < String(latest));
	});
}

function page(world: World, record: ChannelRecord, all: readonly SlackMessage[], fields: Fields): object {
	const { from, limit } = placeOf(fields, 100);
	const withMetadata = fields.include_all_metadata === true || fields.include_all_metadata === "true";
	const hasMore = from + limit < all.length;
	return {
		messages: all.slice(from, from + limit).map((message) => {
			const { metadata, ...rest } = world.wire(record, message);
			return { ...rest, ...(withMetadata && metadata !== undefined && { metadata }) };
		}),
		has_more: hasMore,
		...(hasMore && { response_metadata: { next_cursor: String(from + limit) } }),
	};
}

function placeOf(
	{ cursor, limit }: Fields,
	usual: number,
): { readonly from: number; readonly limit: number } {
	return { from: Number(cursor || 0), limit: Math.min(1000, Number(limit ?? usual)) };
}
