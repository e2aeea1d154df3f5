// What Keryx knows of its rooms: name, topic, members, whether it is a private chat, whether it is encrypted. Read when a room is first
// needed, then kept up to date by the sync.
import { type Api, path } from "./api.ts";
import { type MatrixEvent, objectOf, readEvents, textIn } from "./wire.ts";

export interface RoomEncryption {
	readonly algorithm: string;
	readonly rotationMs?: number;
	readonly rotationMessages?: number;
}

interface Member {
	readonly membership: string;
	readonly name: string | undefined;
}

export class Room {
	readonly id: string;
	name: string | undefined;
	topic: string | undefined;
	encryption: RoomEncryption | null = null;
	/** Who may read what was said before they joined. */
	visibility = "shared";
	readonly members = new Map<string, Member>();
	#alias: string | undefined;

	constructor(id: string) {
		this.id = id;
	}

	/** Two people in a room without a name. With a third person, or a name, it is a group. */
	get isPrivate(): boolean {
		return this.people().length <= 2 && this.title === undefined;
	}

	get title(): string | undefined {
		return this.name ?? this.#alias;
	}

	/** Joined and invited people. */
	people(): readonly string[] {
		return [...this.members]
			.filter(([, { membership }]) => membership === "join" || membership === "invite")
			.map(([user]) => user);
	}

	/** Who gets the keys of encrypted messages. */
	readers(): readonly string[] {
		return this.visibility === "joined"
			? [...this.members].filter(([, { membership }]) => membership === "join").map(([user]) => user)
			: this.people();
	}

	/** The visible name of a person; default: the first part of the id. */
	nameOf(user: string): string {
		return this.members.get(user)?.name ?? /^@([^:]+):/.exec(user)?.[1] ?? user;
	}

	learn({ type, state_key: key, content }: MatrixEvent): void {
		if (key === undefined) return;
		if (type === "m.room.member") {
			const membership = textIn(content, "membership") ?? "leave";
			this.members.set(key, { membership, name: textIn(content, "displayname") || undefined });
		}
		if (key !== "") return;
		if (type === "m.room.name") this.name = textIn(content, "name") || undefined;
		if (type === "m.room.canonical_alias") this.#alias = textIn(content, "alias") || undefined;
		if (type === "m.room.topic") this.topic = textIn(content, "topic") || undefined;
		if (type === "m.room.history_visibility")
			this.visibility = textIn(content, "history_visibility") ?? "shared";
		// A room that is encrypted stays so, whatever the server says later.
		if (type === "m.room.encryption") this.encryption = encryptionOf(content) ?? this.encryption;
	}
}

export class Rooms {
	readonly #api: Api;
	readonly #rooms = new Map<string, Room>();
	readonly #reading = new Map<string, Promise<Room>>();

	constructor(api: Api) {
		this.#api = api;
	}

	/** Rejects if the server does not say what the room is: nothing may be sent there in the open by mistake. */
	of(id: string): Promise<Room> {
		const known = this.#rooms.get(id);
		if (known) return Promise.resolve(known);
		const reading = this.#reading.get(id) ?? this.#read(id);
		this.#reading.set(id, reading);
		return reading;
	}

	/** Without asking the server. */
	known(id: string): Room | undefined {
		return this.#rooms.get(id);
	}

	/** State that came with a sync. */
	learn(id: string, events: readonly MatrixEvent[]): void {
		const room = this.#rooms.get(id);
		if (room) for (const event of events) room.learn(event);
		// A running read may be older than this.
		else if (events.some(({ state_key: key }) => key !== undefined)) this.#reading.delete(id);
	}

	/** Joined again, or left. */
	forget(id: string): void {
		this.#rooms.delete(id);
		this.#reading.delete(id);
	}

	async #read(id: string): Promise<Room> {
		const reading = (async () => {
			const room = new Room(id);
			const state = await this.#api.get(path`/_matrix/client/v3/rooms/${id}/state`);
			for (const event of readEvents(state)) room.learn(event);
			return room;
		})();
		try {
			const room = await reading;
			if (this.#reading.has(id)) this.#rooms.set(id, room);
			return room;
		} finally {
			this.#reading.delete(id);
		}
	}
}

function encryptionOf(content: unknown): RoomEncryption | null {
	const algorithm = textIn(content, "algorithm");
	if (algorithm === undefined) return null;
	const { rotation_period_ms: ms, rotation_period_msgs: messages } = objectOf(content);
	return {
		algorithm,
		...(typeof ms === "number" && { rotationMs: ms }),
		...(typeof messages === "number" && { rotationMessages: messages }),
	};
}
