// From a sync to the work it brings: events of rooms, invitations, rooms that Keryx was removed from.
import type { ChannelHost } from "../../gateway/index.ts";
import { Stumbles } from "../stumbles.ts";
import { MatrixError, path } from "./api.ts";
import { type CursorNow, type EventContext, handIn, isForPeople } from "./events.ts";
import { FileUnreached } from "./files.ts";
import type { Intake, Item } from "./intake.ts";
import type { Connection } from "./line.ts";
import { reasonOf } from "./outcome.ts";
import { Room } from "./rooms.ts";
import { type AccountOf, sourceIn } from "./source.ts";
import { timelineOf } from "./timeline.ts";
import { type MatrixEvent, objectOf, readEvents, type SyncAnswer, textIn } from "./wire.ts";

export interface ReadingOptions {
	readonly host: () => ChannelHost;
	readonly of: AccountOf;
	/** Everything an event needs except the room. */
	readonly context: (connection: Connection, isLastTry: boolean) => Omit<EventContext, "room">;
	/** A person's message is committed. */
	readonly taken: (room: string, event: string, connection: Connection) => void;
	readonly log: (message: string, error?: unknown) => void;
}

export class Reading {
	readonly #options: ReadingOptions;
	readonly #stumbles = new Stumbles();

	constructor(options: ReadingOptions) {
		this.#options = options;
	}

	async read(answer: SyncAnswer, since: string | null, connection: Connection): Promise<readonly Item[]> {
		const { join, invite, leave } = answer.rooms;
		const items: Item[] = [];
		for (const [id, room] of Object.entries(join)) {
			const { api, me, rooms } = connection;
			rooms.learn(id, readEvents(room.state.events));
			if (since === null) continue;
			const events = await timelineOf(id, room, { api, me: me.id, since, log: this.#options.log });
			rooms.learn(id, events);
			for (const event of events)
				if (isForPeople(event) && event.event_id !== "")
					items.push({
						room: id,
						id: event.event_id,
						run: (cursor) => this.#take(id, event, cursor, connection),
					});
		}
		for (const [id, room] of Object.entries(invite))
			items.push({
				room: id,
				id: "invitation",
				run: (cursor) => this.#invited(id, readEvents(room.invite_state.events), cursor, connection),
			});
		if (since !== null)
			for (const [id, room] of Object.entries(leave))
				items.push({
					room: id,
					id: "removal",
					run: (cursor) => this.#removed(id, readEvents(room.timeline.events), cursor, connection),
				});
		return items;
	}

	/** Messages that could not be read when they came. */
	async retry(connection: Connection, intake: Intake): Promise<void> {
		const { encryption } = connection;
		for (const { room, event } of (await encryption?.waiting()) ?? [])
			await intake.extra(room, async () => {
				const read = await encryption?.decrypt(room, event);
				if (!read) return;
				await this.#handIn(room, read, () => undefined, connection);
				await encryption?.forget(room, event.event_id);
			});
	}

	async #take(id: string, event: MatrixEvent, cursor: CursorNow, connection: Connection): Promise<void> {
		const { encryption, me } = connection;
		// Without encryption, the gateway is told that there is a message: otherwise nobody would know.
		if (event.type !== "m.room.encrypted" || !encryption) return this.#handIn(id, event, cursor, connection);
		const read = await encryption.decrypt(id, event);
		if (read) return this.#handIn(id, read, cursor, connection);
		// Its key may come later: kept before the sync moves on.
		if (event.sender !== me.id) await encryption.keep(id, event);
		const now = cursor();
		if (now !== undefined) await this.#options.host().passed(now);
	}

	async #handIn(id: string, event: MatrixEvent, cursor: CursorNow, connection: Connection): Promise<void> {
		const { context, host, log, taken } = this.#options;
		const name = `${id}/${event.event_id}`;
		try {
			const room = await connection.rooms.of(id);
			const isLastTry = this.#stumbles.areMany(name);
			await handIn(event, cursor, { ...context(connection, isLastTry), room });
		} catch (error) {
			if (!this.#isHopeless(name, error)) throw error;
			// A repeated sync would bring the same: it must not block later ones.
			log(`event ${name} cannot be processed`, error);
			const now = cursor();
			if (now !== undefined) await host().passed(now);
		}
		this.#stumbles.forget(name);
		if (event.sender !== connection.me.id) taken(id, event.event_id, connection);
	}

	#isHopeless(name: string, error: unknown): boolean {
		// Keryx is no longer in the room.
		if (error instanceof MatrixError && error.status === 403) return true;
		if (!(error instanceof FileUnreached)) return this.#stumbles.isHopeless(name, error);
		this.#stumbles.count(name);
		return false;
	}

	/** Accepted from people who may speak. Others can invite again later. */
	async #invited(
		id: string,
		events: readonly MatrixEvent[],
		cursor: CursorNow,
		{ api, me, rooms }: Connection,
	): Promise<void> {
		const { of, host, log } = this.#options;
		const room = new Room(id);
		for (const event of events) room.learn(event);
		const own = events.findLast(({ type, state_key: key }) => type === "m.room.member" && key === me.id);
		const isDirect = objectOf(own?.content).is_direct === true;
		if (own && textIn(own.content, "membership") === "invite") {
			const source = sourceIn(room, of, { sender: own.sender });
			if (await host().welcomes({ source: { ...source, chat_type: isDirect ? "dm" : "group" } })) {
				rooms.forget(id);
				await this.#join(id, own.sender, api);
			} else log(`${own.sender} invited Keryx to ${id}, and may not`);
		}
		const now = cursor();
		if (now !== undefined) await host().passed(now);
	}

	async #join(id: string, inviter: string, api: Connection["api"]): Promise<void> {
		try {
			await api.post(path`/_matrix/client/v3/rooms/${id}/join`, {});
		} catch (error) {
			// The invitation was withdrawn, or the room is gone: no sync would repeat it.
			const isOver =
				error instanceof MatrixError && error.status < 500 && error.status !== 429 && error.status !== 401;
			if (!isOver) throw error;
			this.#options.log(`could not join ${id}, where ${inviter} invited Keryx: ${reasonOf(error)}`);
		}
	}

	async #removed(
		id: string,
		events: readonly MatrixEvent[],
		cursor: CursorNow,
		{ me, rooms }: Connection,
	): Promise<void> {
		const { of, host } = this.#options;
		const own = events.findLast(({ type, state_key: key }) => type === "m.room.member" && key === me.id);
		const room = rooms.known(id) ?? new Room(id);
		rooms.forget(id);
		const now = cursor();
		const at = now === undefined ? {} : { cursor: now };
		if (own?.sender === me.id) {
			if (now !== undefined) await host().passed(now);
			return;
		}
		const why = textIn(own?.content, "reason");
		const what = textIn(own?.content, "membership") === "ban" ? "banned" : "removed";
		const by = own ? ` by ${own.sender}` : "";
		await host().gone({
			source: sourceIn(room, of),
			reason: `Keryx was ${what} from the room${by}${why === undefined ? "" : `: ${why}`}`,
			...at,
		});
	}
}
