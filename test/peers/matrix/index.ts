// A homeserver in this process, with people who write to a bot, and the faults of real ones.
import type { Keys } from "./keys.ts";
import { type CallRecord, type Fault, serve } from "./server.ts";
import { type MatrixRoom, type MatrixUser, type RoomEvent, type Session, World } from "./world.ts";

export type { CallRecord, Fault } from "./server.ts";
export type { MatrixRoom, MatrixUser } from "./world.ts";

export interface Answer {
	readonly id: string;
	readonly text: string;
	readonly html?: string;
	readonly thread?: string;
	readonly file?: { readonly name: string; readonly bytes: Uint8Array };
}

export interface Saying {
	readonly thread?: string;
	readonly replyTo?: string;
	/** More of the content. */
	readonly more?: Readonly<Record<string, unknown>>;
	readonly file?: { readonly name: string; readonly bytes: Uint8Array; readonly type?: string };
}

export interface MatrixPeer {
	readonly url: string;
	readonly world: World;
	readonly keys: Keys;
	readonly bot: MatrixUser;
	/** Of the bot, now. */
	readonly session: () => Session;
	readonly calls: readonly CallRecord[];
	/** What becomes of each request. */
	faults: (call: CallRecord) => Fault | undefined;
	/** What becomes of the next request that sends a message. */
	next(fault: Fault): void;
	user(name: string): MatrixUser;
	dm(user: MatrixUser): MatrixRoom;
	group(name: string, people: readonly MatrixUser[]): MatrixRoom;
	/** Somebody asks the bot to come. */
	invite(by: MatrixUser, room: MatrixRoom, isDirect?: boolean): void;
	emptyRoom(by: MatrixUser, name?: string): MatrixRoom;
	kick(by: MatrixUser, room: MatrixRoom, reason: string): void;
	say(by: MatrixUser, room: MatrixRoom, text: string, saying?: Saying): string;
	edit(by: MatrixUser, room: MatrixRoom, event: string, text: string): string;
	redact(by: MatrixUser, room: MatrixRoom, event: string): string;
	react(by: MatrixUser, room: MatrixRoom, event: string, emoji: string): string;
	/** What people see of the bot, oldest first. */
	answers(room: MatrixRoom): readonly Answer[];
	/** From where the bot last asked; 0: it has not begun. */
	place(): number;
	/** People's messages before the place from which the bot last asked, or before a place. */
	acknowledged(place?: number): readonly string[];
	revokeToken(): void;
	/** The bot's token is another one from now on; its device stays. */
	newToken(): Session;
	onChange(listener: () => void): () => void;
	disconnect(): void;
	close(): Promise<void>;
}

const SENDS = /^rooms\/[^/]+\/send\//;

export async function createMatrixPeer({ port = 0, name = "test.example" } = {}): Promise<MatrixPeer> {
	const world = new World(name);
	const server = await serve(world, port);
	const bot = world.user("Keryx");
	let session = world.logIn(bot);
	const nexts: Fault[] = [];
	const listeners = new Set<() => void>();
	const dms = new Map<string, MatrixRoom>();
	const peer: MatrixPeer = {
		url: server.url,
		world,
		keys: server.keys,
		bot,
		session: () => session,
		calls: server.calls,
		faults: () => undefined,
		next: (fault) => void nexts.push(fault),
		user: (called) => world.user(called),
		dm: (user) => {
			const known = dms.get(user.id) ?? made(world, user, [bot]);
			dms.set(user.id, known);
			return known;
		},
		group: (called, people) => {
			const [first = bot, ...others] = people;
			return made(world, first, [...others, bot], called);
		},
		invite: (by, room, isDirect = false) =>
			void world.member(room, by.id, bot.id, "invite", isDirect ? { is_direct: true } : {}),
		emptyRoom: (by, called) => made(world, by, [], called),
		kick: (by, room, reason) => void world.member(room, by.id, bot.id, "leave", { reason }),
		say: (by, room, text, saying = {}) =>
			world.add(room, by.id, { type: "m.room.message", content: contentOf(text, saying, world) }).id,
		edit: (by, room, event, text) =>
			world.add(room, by.id, {
				type: "m.room.message",
				content: {
					msgtype: "m.text",
					body: `* ${text}`,
					"m.new_content": { msgtype: "m.text", body: text },
					"m.relates_to": { rel_type: "m.replace", event_id: event },
				},
			}).id,
		redact: (by, room, event) =>
			world.add(room, by.id, { type: "m.room.redaction", content: { redacts: event }, redacts: event }).id,
		react: (by, room, event, emoji) =>
			world.add(room, by.id, {
				type: "m.reaction",
				content: { "m.relates_to": { rel_type: "m.annotation", event_id: event, key: emoji } },
			}).id,
		answers: (room) => answersIn(room, bot, world),
		place: () => server.asked.get(bot.id) ?? 0,
		acknowledged: (place = server.asked.get(bot.id) ?? 0) =>
			[...world.rooms.values()]
				.flatMap(({ events }) => events)
				.filter(
					({ at, type, sender, content }) =>
						at <= place && type === "m.room.message" && sender !== bot.id && !("m.new_content" in content),
				)
				.toSorted((a, b) => a.at - b.at)
				.map(({ id }) => id),
		revokeToken: () => {
			world.sessions.delete(session.token);
			world.changed();
		},
		newToken: () => {
			world.sessions.delete(session.token);
			session = world.logIn(bot, session.device);
			world.changed();
			return session;
		},
		onChange: (listener) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		disconnect: () => server.disconnect(),
		close: () => server.close(),
	};
	const told = () => {
		for (const listener of [...listeners]) listener();
	};
	world.onChange(told);
	server.faults = (call) => {
		const fault = SENDS.test(call.path) && call.user === bot.id ? nexts.shift() : undefined;
		const found = fault ?? peer.faults(call);
		told();
		return found;
	};
	return peer;
}

/** Everybody named is in it. */
function made(world: World, by: MatrixUser, others: readonly MatrixUser[], name?: string): MatrixRoom {
	const room = world.room();
	world.add(room, by.id, { type: "m.room.create", stateKey: "", content: { room_version: "10" } });
	world.member(room, by.id, by.id, "join");
	if (name !== undefined) world.add(room, by.id, { type: "m.room.name", stateKey: "", content: { name } });
	for (const { id } of others) {
		world.member(room, by.id, id, "invite");
		world.member(room, id, id, "join");
	}
	return room;
}

function contentOf(
	text: string,
	{ thread, replyTo, more, file }: Saying,
	world: World,
): Record<string, unknown> {
	const reply = replyTo === undefined ? {} : { "m.in_reply_to": { event_id: replyTo } };
	const relation = {
		...(thread !== undefined && {
			rel_type: "m.thread",
			event_id: thread,
			is_falling_back: replyTo === undefined,
			"m.in_reply_to": { event_id: thread },
		}),
		...reply,
	};
	const place = Object.keys(relation).length === 0 ? {} : { "m.relates_to": relation };
	if (!file) return { msgtype: "m.text", body: text, ...place, ...more };
	const media = `media${world.name()}`;
	const type = file.type ?? "application/octet-stream";
	world.media.set(media, { bytes: Buffer.from(file.bytes), type, name: file.name });
	return {
		msgtype: type.startsWith("image/") ? "m.image" : "m.file",
		body: text === "" ? file.name : text,
		filename: file.name,
		url: `mxc://${world.server}/${media}`,
		info: { mimetype: type, size: file.bytes.length },
		...place,
		...more,
	};
}

function answersIn(room: MatrixRoom, bot: MatrixUser, world: World): readonly Answer[] {
	const own = room.events.filter(({ sender, type }) => sender === bot.id && type === "m.room.message");
	const latest = (event: RoomEvent) =>
		own.findLast(({ content }) => {
			const { rel_type: kind, event_id: id } = (content["m.relates_to"] ?? {}) as Record<string, unknown>;
			return kind === "m.replace" && id === event.id;
		})?.content["m.new_content"] as Record<string, unknown> | undefined;
	return own
		.filter(({ content }) => !("m.new_content" in content) && content.msgtype !== undefined)
		.map((event) => {
			const content = latest(event) ?? event.content;
			const { body = "", formatted_body: html, filename, url } = content as Record<string, string>;
			const media = world.media.get(url?.split("/").at(-1) ?? "");
			const { rel_type: kind, event_id: thread } = (event.content["m.relates_to"] ?? {}) as Record<
				string,
				string
			>;
			return {
				id: event.id,
				text: filename !== undefined && filename === body ? "" : body,
				...(html !== undefined && { html }),
				...(kind === "m.thread" && thread !== undefined && { thread }),
				...(media && filename !== undefined && { file: { name: filename, bytes: media.bytes } }),
			};
		});
}
