// Users, rooms and what happened in them, in one order: each change has a number, and a place in the sync is such a number.

export interface MatrixUser {
	readonly id: string;
	name: string;
	readonly password: string;
}

export interface Session {
	readonly user: MatrixUser;
	readonly device: string;
	readonly token: string;
}

export interface RoomEvent {
	readonly at: number;
	readonly id: string;
	readonly type: string;
	readonly sender: string;
	readonly time: number;
	content: Readonly<Record<string, unknown>>;
	readonly stateKey?: string;
	readonly redacts?: string;
	readonly before?: Readonly<Record<string, unknown>>;
	/** Who sent it, as which transaction. */
	readonly by?: { readonly token: string; readonly transaction: string };
}

export interface NewEvent {
	readonly type: string;
	readonly content: Readonly<Record<string, unknown>>;
	readonly stateKey?: string;
	readonly redacts?: string;
	readonly by?: RoomEvent["by"];
}

export class MatrixRoom {
	readonly id: string;
	readonly events: RoomEvent[] = [];
	readonly state = new Map<string, RoomEvent>();

	constructor(id: string) {
		this.id = id;
	}

	membership(user: string): string | undefined {
		const content = this.state.get(`m.room.member ${user}`)?.content;
		return typeof content?.membership === "string" ? content.membership : undefined;
	}

	/** Of the last change of membership. */
	memberSince(user: string): number {
		return this.state.get(`m.room.member ${user}`)?.at ?? 0;
	}

	people(...memberships: readonly string[]): string[] {
		return [...this.state.values()]
			.filter(
				({ type, content }) => type === "m.room.member" && memberships.includes(String(content.membership)),
			)
			.map(({ stateKey }) => stateKey ?? "");
	}
}

export interface Media {
	readonly bytes: Buffer;
	readonly type: string;
	readonly name: string;
}

export class World {
	readonly server: string;
	readonly users = new Map<string, MatrixUser>();
	readonly sessions = new Map<string, Session>();
	readonly rooms = new Map<string, MatrixRoom>();
	readonly media = new Map<string, Media>();
	readonly #listeners = new Set<() => void>();
	#at = 0;
	#names = 0;

	constructor(server: string) {
		this.server = server;
	}

	get at(): number {
		return this.#at;
	}

	/** The next number. */
	step(): number {
		return ++this.#at;
	}

	name(): number {
		return ++this.#names;
	}

	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	changed(): void {
		for (const listener of [...this.#listeners]) listener();
	}

	user(name: string): MatrixUser {
		const id = `@${name.toLowerCase().replace(/[^a-z0-9._=/-]/g, "_")}:${this.server}`;
		const known = this.users.get(id);
		if (known) return known;
		const user = { id, name, password: `pw-${name}` };
		this.users.set(id, user);
		return user;
	}

	logIn(user: MatrixUser, device = `DEV${this.name()}`): Session {
		const session = { user, device, token: `token-${this.name()}-${user.name}` };
		this.sessions.set(session.token, session);
		return session;
	}

	room(id = `!room${this.name()}:${this.server}`): MatrixRoom {
		const room = new MatrixRoom(id);
		this.rooms.set(id, room);
		return room;
	}

	add(room: MatrixRoom, sender: string, event: NewEvent): RoomEvent {
		const { type, stateKey } = event;
		const key = `${type} ${stateKey}`;
		const before = stateKey === undefined ? undefined : room.state.get(key)?.content;
		const added: RoomEvent = {
			...event,
			at: this.step(),
			id: `$e${this.#at}`,
			sender,
			time: Date.now(),
			...(before && { before }),
		};
		room.events.push(added);
		if (stateKey !== undefined) room.state.set(key, added);
		const redacted = event.redacts ?? (type === "m.room.redaction" ? event.content.redacts : undefined);
		const target = room.events.find(({ id }) => id === redacted);
		if (target) target.content = {};
		this.changed();
		return added;
	}

	member(room: MatrixRoom, sender: string, user: string, membership: string, more: object = {}): RoomEvent {
		const displayname = /join|invite/.test(membership) ? this.users.get(user)?.name : undefined;
		return this.add(room, sender, {
			type: "m.room.member",
			stateKey: user,
			content: { membership, ...(displayname !== undefined && { displayname }), ...more },
		});
	}
}

/** As a client sees it. */
export function shown(event: RoomEvent, token: string): Record<string, unknown> {
	const { id, type, sender, time, content, stateKey, redacts, before, by } = event;
	return {
		event_id: id,
		type,
		sender,
		origin_server_ts: time,
		content,
		...(stateKey !== undefined && { state_key: stateKey }),
		...(redacts !== undefined && { redacts }),
		unsigned: {
			age: 1,
			...(before && { prev_content: before }),
			...(by?.token === token && { transaction_id: by.transaction }),
		},
	};
}
