// XMPP: our own client. The server is told of a message only when it is committed (I3).
// A sent one is proven by the server's count or the room's echo, and found again in the archive (I7).
// Never here: a rule about who may speak, or anything of another platform.

import { platformTraits } from "../../domain/index.ts";
import type { Channel, ChannelTraits, Outgoing, SendResult } from "../../gateway/index.ts";
import type { Destination } from "../../store/index.ts";
import { leaseLost } from "../lease.ts";
import { Pace } from "../pace.ts";
import { Transport } from "../transport.ts";
import { XmppClient } from "./client.ts";
import { type Composed, compose, typing } from "./compose.ts";
import { upload } from "./files.ts";
import { FLOOD, type XmppOptions } from "./options.ts";
import { parseJid } from "./stream/jid.ts";
import { allowed } from "./stream/xml.ts";

export { identifyXmpp } from "./identify.ts";
export type { XmppOptions, XmppSecrets } from "./options.ts";

/** Shorter than the gateway waits for a channel. */
const SEND_MS = 40_000;
const LOOKUP_MS = 10_000;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

export const XMPP_TRAITS: ChannelTraits = {
	...platformTraits("xmpp"),
	shows: {
		attachments: true,
		buttons: false,
		edit: true,
		typing: true,
		threads: false,
		idempotentSend: false,
		lookup: true,
		drafts: false,
	},
};

export function createXmppChannel(options: XmppOptions): Channel {
	const client = new XmppClient(options);
	const delivery = new Delivery(client);
	return {
		name: options.name,
		platform: "xmpp",
		account: options.account ?? "",
		traits: XMPP_TRAITS,
		start: (host) => client.start(host),
		stop: async () => {
			await client.stop();
			delivery.stop();
		},
		send: (outgoing) => delivery.send(outgoing),
		room: () => delivery.room(),
		edit: (receipt, outgoing) => delivery.edit(receipt, outgoing),
		typing: (destination) => delivery.typing(destination),
		lookup: (id, destination, madeAt) => delivery.lookup(id, destination, madeAt),
		health: () => client.health(),
	};
}

interface Target {
	readonly to: string;
	readonly type: "chat" | "groupchat";
}

class Delivery {
	readonly #client: XmppClient;
	readonly #pace: Pace;
	readonly #transport: Transport;

	constructor(client: XmppClient) {
		const { clock, flood = FLOOD, fileMs = 60_000 } = client.options;
		this.#client = client;
		this.#pace = new Pace(clock, flood);
		this.#transport = new Transport({ clock, deadlineOf: () => fileMs });
	}

	stop(): void {
		this.#transport.abort();
		this.#transport.close();
	}

	room(): { readonly free: number; readonly afterMs: number } {
		// Nothing is requested without a connection.
		return this.#client.session ? this.#pace.room(1) : { free: 1, afterMs: 1000 };
	}

	async send({ id, destination, body, plain, openBlob }: Outgoing): Promise<SendResult> {
		const { session, uploads, prefix, rooms } = this.#client;
		if (!session) return NOT_CONNECTED;
		const text = allowed(plain ? body.plain : body.text);
		const target = this.#targetOf(destination);
		if ("kind" in target) return target;
		const problem = this.#problem(text, body.attachments?.length ?? 0);
		if (problem) return problem;
		const files: string[] = [];
		for (const file of body.attachments ?? []) {
			const stored = await upload(file, openBlob(file.blob), {
				session,
				uploads,
				transport: this.#transport,
			});
			if (typeof stored !== "string") return stored;
			files.push(stored);
		}
		const stanza = `${prefix}${id}`;
		const answers = rooms.get(target.to)?.hasArchive ? destination.replyTo : undefined;
		return this.#fly({ ...target, id: stanza, text, files, answers }, stanza);
	}

	async edit(receipt: string, { destination, body, plain }: Outgoing): Promise<SendResult> {
		const { session, prefix } = this.#client;
		if (!receipt.startsWith(prefix))
			return { kind: "refused", reason: "this is not a message of this account" };
		if (!session) return NOT_CONNECTED;
		const text = allowed(plain ? body.plain : body.text);
		const target = this.#targetOf(destination);
		if ("kind" in target) return target;
		const problem = this.#problem(text, 0);
		if (problem) return problem;
		const id = `${receipt}~${this.#client.uniqueName()}`;
		return this.#fly({ ...target, id, text, replaces: receipt }, receipt);
	}

	async typing(destination: Destination): Promise<void> {
		const target = this.#targetOf(destination);
		if (!("kind" in target)) this.#client.session?.write(typing(target.to, target.type));
	}

	async lookup(
		id: string,
		destination: Destination,
		madeAt?: number,
	): Promise<{ readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" }> {
		const client = this.#client;
		// A new session has ended the previous one: nothing from that can arrive any more.
		const session = await client.connectedFor(destination.chatId, LOOKUP_MS);
		const target = this.#targetOf(destination);
		if (!session || "kind" in target) return { kind: "unknown" };
		const room = client.rooms.get(target.to);
		if (!(room ? room.hasArchive : client.hasArchive)) return { kind: "unknown" };
		const receipt = `${client.prefix}${id}`;
		try {
			const isThere = await client.catchUp.has(session, target.to, receipt, madeAt);
			if (isThere === null) return { kind: "unknown" };
			return isThere ? { kind: "sent", receipt } : { kind: "absent" };
		} catch {
			return { kind: "unknown" };
		}
	}

	#problem(text: string, files: number): SendResult | null {
		if (Buffer.byteLength(text) > XMPP_TRAITS.messageLimit.max)
			return { kind: "refused", reason: "the text is too long for one message" };
		if (text.trim() === "" && files === 0) return { kind: "refused", reason: "there is nothing to send" };
		const { free, afterMs } = this.#pace.room(1);
		return free > 0
			? null
			: { kind: "retry", afterMs: Math.max(1, afterMs), reason: "Keryx keeps below its own flood limit" };
	}

	/** A room that we are in, or a person. */
	#targetOf({ chatId }: Destination): Target | SendResult {
		const room = this.#client.rooms.get(chatId);
		if (room?.state.kind === "refused") return { kind: "refused", reason: room.state.reason };
		if (room?.state.kind === "out") return { kind: "retry", afterMs: 500, reason: `not in ${chatId} yet` };
		if (room) return { to: room.jid, type: "groupchat" };
		const person = parseJid(chatId);
		if (!person || person.local === "" || person.resource !== "")
			return { kind: "refused", reason: `${chatId} is not a person on XMPP, and xmpp.join does not name it` };
		return { to: person.bare, type: "chat" };
	}

	async #fly(composed: Composed, receipt: string): Promise<SendResult> {
		const { session, sending } = this.#client;
		const { id, to, type } = composed;
		// Uploading files may have taken long.
		const lost = leaseLost(this.#client.host);
		if (lost) return lost;
		const number = session?.write(compose(composed)) ?? null;
		if (!session || number === null) return NOT_CONNECTED;
		this.#pace.count(1);
		const isRoom = type === "groupchat";
		const sent = sending.fly({ id, to, isRoom, number }, receipt);
		// Without a count, the answer to a later request proves it.
		if (!isRoom && number === 0)
			session.ping().then(
				() => sending.arrived(id),
				() => {},
			);
		const cancel = this.#client.options.clock.after(SEND_MS, () =>
			sending.unknown("the server did not say whether it arrived", id),
		);
		const result = await sent;
		cancel();
		return result;
	}
}
