// One conversation seen from a terminal: found by its address, followed by events.

import { KeryxError } from "../errors.ts";
import type { Client, WireConversation, WireEvent } from "../http/index.ts";
import { systemIds } from "../store/index.ts";
import { systemClock } from "../time/index.ts";
import type { Connection } from "./connect.ts";
import type { ConversationView } from "./conversation-view.ts";
import { localSource, namedConversation, ownConversation } from "./named-conversation.ts";
import { texts } from "./texts.ts";

export interface TalkFlags {
	readonly new?: boolean;
	readonly session?: string;
	readonly join?: string;
}

/** How many rows of the transcript are read at first. */
const REMEMBERED = 200;

/** One conversation, from here. It exists from its first message on. */
export class Talk {
	readonly client: Client;
	readonly #nextId = systemIds(systemClock).uuid;
	/** The last shown event; at first, the end of the log before anything was read or sent. */
	#cursor: string;
	/** An operator speaks in a conversation of others. */
	readonly isJoined: boolean;
	conversation: WireConversation | null;

	private constructor(
		client: Client,
		cursor: string,
		conversation: WireConversation | null,
		joined: boolean,
	) {
		this.client = client;
		this.#cursor = cursor;
		this.conversation = conversation;
		this.isJoined = joined;
	}

	static async begin({ client, config }: Connection, flags: TalkFlags): Promise<Talk> {
		const { cursor } = await client.eventsAfter({ after: "now" });
		const conversation =
			flags.join === undefined
				? await ownConversation(client, config)
				: await namedConversation(client, flags.join);
		const talk = new Talk(client, cursor, conversation, flags.join !== undefined);
		await talk.#apply(flags);
		return talk;
	}

	async #apply(flags: TalkFlags): Promise<void> {
		if (flags.session !== undefined && flags.new)
			throw new KeryxError("usage.invalid", texts.chat.newOrSession);
		if (!this.conversation) {
			if (flags.session !== undefined)
				throw new KeryxError("store.not_found", texts.chat.noSession(flags.session), { field: "session" });
			return;
		}
		const { id } = this.conversation;
		if (flags.session !== undefined && flags.session !== this.conversation.live_session)
			await this.client.switchSession({ conversation: id, target: flags.session });
		if (flags.new) await this.client.newSession({ conversation: id });
		this.conversation = await this.client.conversation({ conversation: id });
	}

	/** The transcript so far, then everything that happens, until the signal. */
	async follow(
		view: ConversationView,
		signal: AbortSignal,
		onEvent: (event: WireEvent) => void = () => {},
	): Promise<void> {
		while (this.conversation === null) {
			if (signal.aborted) return;
			await new Promise<void>((resolve) => {
				this.#begun = resolve;
				signal.addEventListener("abort", () => resolve());
			});
		}
		const frames = this.client.follow({ after: this.#cursor, conversation: this.conversation.id, signal });
		for await (const frame of frames) {
			view.take(frame);
			if (frame.kind !== "event") continue;
			this.#cursor = frame.event.cursor;
			onEvent(frame.event);
		}
	}

	/** Events since the last one shown. */
	async catchUp(view: ConversationView): Promise<void> {
		const conversation = this.conversation?.id;
		if (conversation === undefined) return;
		for (;;) {
			const { events, cursor } = await this.client.eventsAfter({
				after: this.#cursor,
				conversation,
				limit: 200,
			});
			for (const event of events) view.take({ kind: "event", event });
			if (events.length === 0) return;
			this.#cursor = cursor;
		}
	}

	/** Resolves when a message has ended, however it ended. */
	async ended(id: number): Promise<void> {
		while ((await this.client.inbound({ id, wait: 30 })).disposition === null);
	}

	#begun = () => {};

	/** The newest rows of the live session. */
	async history(): Promise<Awaited<ReturnType<Client["transcript"]>>["messages"]> {
		const live = this.conversation?.live_session;
		if (live === undefined || live === null) return [];
		return (await this.client.transcript({ session: live, limit: REMEMBERED })).messages;
	}

	/** Resolves once it is accepted; answers its id. */
	async send(text: string): Promise<number> {
		const { id, conversation, refused } = await this.client.send({
			text,
			client_message_id: this.#nextId(),
			source: localSource(),
			...(this.isJoined && this.conversation && { conversation: this.conversation.id }),
		});
		if (refused !== null) throw new KeryxError("argument.invalid", texts.chat.refused(refused));
		if (this.conversation === null && conversation !== null) {
			this.conversation = await this.client.conversation({ conversation });
			this.#begun();
		}
		return id;
	}
}
