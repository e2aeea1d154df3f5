// Whether a message is for the agent, or only observed. Pure, except for the memory of recent albums.
import type { Source } from "../../domain/index.ts";
import type { ChannelSettings, Inbound } from "../channel.ts";

/** Far more albums than are in progress at any moment. */
const MOST_ALBUMS = 1000;

/**
 * Albums with a picture addressed to the agent. Only one picture of an album carries the text and the mention; later ones belong to it.
 */
export class AddressedAlbums {
	readonly #known = new Set<string>();

	has(source: Source, album: string | undefined): boolean {
		return album !== undefined && this.#known.has(keyOf(source, album));
	}

	add(source: Source, album: string | undefined): void {
		if (album === undefined) return;
		this.#known.add(keyOf(source, album));
		const [oldest] = this.#known;
		if (this.#known.size > MOST_ALBUMS && oldest !== undefined) this.#known.delete(oldest);
	}
}

function keyOf({ platform, account, chatId, userId }: Source, album: string): string {
	return JSON.stringify([platform, account, chatId, userId, album]);
}

export function isAddressed(
	{ addressed, mentioned, quoted }: Pick<Inbound, "addressed" | "mentioned" | "quoted">,
	source: Source,
	{ requireMention, freeChats }: Pick<ChannelSettings, "requireMention" | "freeChats">,
): boolean {
	if (addressed !== undefined) return addressed;
	if (source.chatType === "dm" || mentioned !== false || quoted?.own) return true;
	return !requireMention || freeChats.includes(source.chatId) || freeChats.includes(source.chatIdAlt ?? "");
}
