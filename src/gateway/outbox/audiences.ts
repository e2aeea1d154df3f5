// Who reads a message. Only the owner sees names of secrets: to anyone else a name would confirm a guess (I12). A chat counts as the
// owner's only if nobody else is known to read it; after a restart the lists decide until the owner writes.
import type { Config } from "../../config/index.ts";
import { personId, type Source } from "../../domain/index.ts";
import type { Hider } from "../../secrets/index.ts";
import type { Destination } from "../../store/index.ts";
import type { Channel, Outgoing } from "../channel.ts";
import { isProgram } from "../inbox/authorise.ts";

/** Far more chats than an owner has. */
const MOST_KNOWN = 1000;

type Chat = Pick<Destination, "platform" | "account" | "chatId">;

export class Audiences {
	readonly #auth: () => Config["auth"];
	/** Chats in which only an owner has written, oldest first. */
	readonly #known = new Set<string>();

	constructor(auth: () => Config["auth"]) {
		this.#auth = auth;
	}

	/** An owner has written from here. */
	ownerAt(source: Source): void {
		if (source.chatType !== "dm") return;
		const chat = keyOf(source);
		this.#known.delete(chat);
		this.#known.add(chat);
		const [oldest] = this.#known;
		if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
	}

	isOwners({ platform, account, chatId }: Chat): boolean {
		if (platform === "local" || platform === "web") return true;
		if (platform === "api_server") return !isProgram({ platform, chatId });
		if (this.#known.has(keyOf({ platform, account, chatId }))) return true;
		const auth = this.#auth();
		const allowed = Object.hasOwn(auth, platform) ? (auth[platform]?.allow ?? []) : [];
		const chat = personId(platform, chatId, []);
		return allowed.some(
			(entry) =>
				typeof entry !== "string" && entry.role === "owner" && personId(platform, entry.id, []) === chat,
		);
	}

	/** The channel, with secrets hidden as its readers may see them. */
	on(channel: Channel, hider: Hider): Channel {
		const shown = (outgoing: Outgoing): Outgoing => {
			if (this.isOwners(outgoing.destination)) return outgoing;
			const { text, plain, attachments, ...rest } = outgoing.body;
			return {
				...outgoing,
				body: {
					...rest,
					text: hider.hide(text),
					plain: hider.hide(plain),
					...(attachments && { attachments: hider.hideIn(attachments) }),
				},
			};
		};
		const { edit, typing, lookup, receive, room, bridge } = channel;
		return {
			name: channel.name,
			...(channel.traits && { traits: channel.traits }),
			platform: channel.platform,
			account: channel.account,
			...(channel.everywhere && { everywhere: channel.everywhere }),
			start: (host) => channel.start(host),
			stop: () => channel.stop(),
			send: (outgoing) => channel.send(shown(outgoing)),
			...(edit && { edit: (receipt, outgoing) => edit.call(channel, receipt, shown(outgoing)) }),
			...(typing && { typing: (destination) => typing.call(channel, destination) }),
			...(lookup && { lookup: (...asked) => lookup.apply(channel, asked) }),
			...(room && { room: () => room.call(channel) }),
			...(receive && { receive: (request) => receive.call(channel, request) }),
			...(bridge && { bridge }),
			health: () => channel.health(),
		};
	}
}

function keyOf({ platform, account, chatId }: Chat): string {
	return JSON.stringify([platform, account, chatId]);
}
