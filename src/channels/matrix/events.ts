// Passes one event of a room to the host. Resolves after the host has committed it; only then may the sync move on (I3).
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import { type FileSource, fetchFile } from "./files.ts";
import type { Past } from "./past.ts";
import type { Room } from "./rooms.ts";
import { type AccountOf, sourceIn } from "./source.ts";
import { bareText, describedOf, FILES, isMentioned, type Me, relationOf, wordsOf } from "./text.ts";
import { type MatrixEvent, objectOf, textIn } from "./wire.ts";

export interface EventContext {
	readonly host: ChannelHost;
	readonly me: Me;
	readonly of: AccountOf;
	readonly room: Room;
	readonly files: FileSource;
	/** Earlier messages of the room. */
	readonly past: Past;
}

/** The cursor to commit an event with, if everything before it is committed. Asked right before the commit. */
export type CursorNow = () => string | undefined;

/** Events that people cause; others only change what is known of the room. */
export function isForPeople({ type, state_key: key }: MatrixEvent): boolean {
	return (
		key === undefined &&
		(/^m\.(?:room\.(?:message|encrypted|redaction)|reaction|sticker)$/.test(type) ||
			/poll\.start$/.test(type))
	);
}

export async function handIn(event: MatrixEvent, cursor: CursorNow, context: EventContext): Promise<void> {
	const { me, past, room } = context;
	past.saw(room.id, event);
	if (event.sender === me.id) return pass(cursor, context);
	if (event.type === "m.reaction") return handInReaction(event, cursor, context);
	if (event.type === "m.room.redaction") return handInDeletion(event, cursor, context);
	const { replaces } = relationOf(event.content);
	if (replaces !== undefined) return handInEdit(event, replaces, cursor, context);
	await handInMessage(event, cursor, context);
}

async function handInMessage(event: MatrixEvent, cursor: CursorNow, context: EventContext): Promise<void> {
	const { host, me, of, room, past, files } = context;
	const { content, sender, event_id: id, origin_server_ts: sentAt } = event;
	const words = wordsOf(content, sender, room) ?? describedOf(event);
	if (words === null) return pass(cursor, context);
	const text = textFor(words, context);
	const { thread, repliesTo } = relationOf(content);
	const quoted = repliesTo === undefined ? undefined : await past.quoted(room, repliesTo);
	const file = FILES.has(textIn(content, "msgtype") ?? "") ? await fetchFile(content, files) : null;
	const parts: Part[] = [
		...(text === "" ? [] : [{ type: "text" as const, text }]),
		...(file ? [file.part] : []),
	];
	await host.accept({
		source: sourceIn(room, of, { sender, thread, message: id }),
		platformMessage: id,
		content: file ? parts : text,
		...(file && file.blob !== null && { blobs: [file.blob] }),
		...(quoted && { quoted }),
		mentioned: room.isPrivate || isMentioned(content, words, me, room),
		...(sentAt > 0 && { sentAt }),
		transport: transportOf(event, context),
		...at(cursor),
	});
}

/** Only the writer of a message can change it; the server does not check that. */
async function handInEdit(
	{ sender, content }: MatrixEvent,
	replaces: string,
	cursor: CursorNow,
	context: EventContext,
): Promise<void> {
	const { host, of, room, past } = context;
	const words = wordsOf(content["m.new_content"], sender, room);
	const isWriters = words !== null && (await past.writerOf(room, replaces)) === sender;
	if (!isWriters) return pass(cursor, context);
	await host.edited({
		source: sourceIn(room, of, { sender, thread: await past.threadOf(room, replaces) }),
		platformMessage: replaces,
		content: textFor(words, context),
		...at(cursor),
	});
}

async function handInDeletion(event: MatrixEvent, cursor: CursorNow, context: EventContext): Promise<void> {
	const { host, of, room } = context;
	const redacted = event.redacts ?? textIn(event.content, "redacts");
	if (redacted === undefined) return pass(cursor, context);
	await host.deleted({
		source: sourceIn(room, of, { sender: event.sender }),
		platformMessage: redacted,
		...at(cursor),
	});
}

async function handInReaction(event: MatrixEvent, cursor: CursorNow, context: EventContext): Promise<void> {
	const { host, of, room, past, me } = context;
	const relation = objectOf(event.content["m.relates_to"]);
	const on = textIn(relation, "event_id");
	const emoji = textIn(relation, "key");
	if (relation.rel_type !== "m.annotation" || on === undefined || !emoji) return pass(cursor, context);
	const isOwn = (await past.writerOf(room, on)) === me.id;
	const thread = isOwn ? await past.threadOf(room, on) : undefined;
	await host.reacted({
		source: sourceIn(room, of, { sender: event.sender, thread }),
		platformMessage: on,
		emoji,
		on: isOwn ? "own" : "other",
		transport: transportOf(event, context),
		...at(cursor),
	});
}

function textFor(words: string, { me, room, host }: EventContext): string {
	return bareText(words, me, room, new Set(host.commands().map(({ name }) => name)));
}

/** Bots write notices, so that nobody answers them by mistake. */
function transportOf({ content }: MatrixEvent, { of }: EventContext): NonNullable<Inbound["transport"]> {
	return {
		...(textIn(content, "msgtype") === "m.notice" && { isBot: true }),
		...(of.profile !== undefined && { mayChooseProfile: true }),
	};
}

function at(cursor: CursorNow): { readonly cursor?: string } {
	const now = cursor();
	return now === undefined ? {} : { cursor: now };
}

async function pass(cursor: CursorNow, { host }: EventContext): Promise<void> {
	const now = cursor();
	if (now !== undefined) await host.passed(now);
}
