// Earlier messages of a room: who wrote one, in which thread, and what it said. The newest are remembered, others are asked for.
import type { Inbound } from "../../gateway/index.ts";
import { type Api, MatrixError, path } from "./api.ts";
import type { Room } from "./rooms.ts";
import { describedOf, type Me, relationOf, wordsOf } from "./text.ts";
import { type MatrixEvent, readEvent, textIn } from "./wire.ts";

const REMEMBERED = 2000;
/** The form of a server's event ids. People can name anything, and a server may never answer a request for something else. */
const EVENT_ID = /^\$.{1,254}$/su;

type Quoted = NonNullable<Inbound["quoted"]>;

export interface PastOptions {
	readonly api: Api;
	readonly me: Me;
	/** Null: it cannot be read. */
	readonly decrypt: (room: string, event: MatrixEvent) => Promise<MatrixEvent | null>;
}

export class Past {
	readonly #options: PastOptions;
	readonly #seen = new Map<string, { readonly sender: string; readonly thread: string | undefined }>();

	constructor(options: PastOptions) {
		this.#options = options;
	}

	saw(room: string, { event_id: id, sender, content }: MatrixEvent): void {
		const { thread } = relationOf(content);
		this.#remember(`${room}/${id}`, { sender, thread });
	}

	/** A message that Keryx has just sent. */
	wrote(room: string, id: string, thread: string | undefined): void {
		this.#remember(`${room}/${id}`, { sender: this.#options.me.id, thread });
	}

	async writerOf(room: Room, id: string): Promise<string | undefined> {
		return (await this.#factsOf(room, id))?.sender;
	}

	async threadOf(room: Room, id: string): Promise<string | undefined> {
		return (await this.#factsOf(room, id))?.thread;
	}

	/** What a message replies to, if that can still be read. */
	async quoted(room: Room, id: string): Promise<Quoted | undefined> {
		const event = await this.#event(room, id);
		if (!event) return undefined;
		const { sender, content } = event;
		const words = wordsOf(content, sender, room) ?? describedOf(event) ?? "";
		const name = textIn(content, "filename") ?? textIn(content, "body") ?? "";
		return {
			platformMessage: id,
			text: words === "" ? (name === "" ? "" : `[${name}]`) : words,
			author: room.nameOf(sender),
			own: sender === this.#options.me.id,
		};
	}

	async #factsOf(
		room: Room,
		id: string,
	): Promise<{ readonly sender: string; readonly thread: string | undefined } | undefined> {
		const key = `${room.id}/${id}`;
		if (!this.#seen.has(key)) {
			const event = await this.#event(room, id);
			if (event) this.saw(room.id, event);
		}
		return this.#seen.get(key);
	}

	async #event(room: Room, id: string): Promise<MatrixEvent | null> {
		const { api, decrypt } = this.#options;
		if (!EVENT_ID.test(id) || !id.isWellFormed()) return null;
		try {
			const event = readEvent(await api.get(path`/_matrix/client/v3/rooms/${room.id}/event/${id}`));
			if (event?.type !== "m.room.encrypted") return event;
			return (await decrypt(room.id, event)) ?? event;
		} catch (error) {
			// It is gone, or Keryx may not read it.
			if (error instanceof MatrixError && (error.status === 404 || error.status === 403)) return null;
			throw error;
		}
	}

	#remember(key: string, facts: { readonly sender: string; readonly thread: string | undefined }): void {
		this.#seen.delete(key);
		this.#seen.set(key, facts);
		const [oldest] = this.#seen.keys();
		if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
	}
}
