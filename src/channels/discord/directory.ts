// The channels visible to the bot: their names, and which channel a thread belongs to. Discord lists them when a session starts; unknown
// ones are looked up and remembered.
import type { REST } from "@discordjs/rest";
import { isApiError } from "./outcome.ts";

/** Between the bot and one person, by Discord's numbers. A group DM (3) is not private: several people read it. */
const PRIVATE = 1;
const THREADS = new Set([10, 11, 12]);
const REMEMBERED = 50_000;

/** What Discord says about a channel, as far as it matters here. */
export interface ChannelFacts {
	readonly id: string;
	readonly type: number;
	readonly name?: string | null;
	readonly topic?: string | null;
	readonly parent_id?: string | null;
	readonly guild_id?: string;
}

export interface Location {
	/** The channel; for a thread, its parent. */
	readonly chat: string;
	readonly isPrivate: boolean;
	readonly guild?: string;
	readonly name?: string;
	readonly topic?: string;
	readonly thread?: { readonly id: string; readonly name?: string };
}

export interface RoleFacts {
	readonly id: string;
	readonly tags?: { readonly bot_id?: string };
}

export class Directory {
	readonly #known = new Map<string, ChannelFacts>();
	/** By server. */
	readonly #ownRoles = new Map<string, string | null>();

	/** Learns about a channel; one without a server belongs to this one. */
	learn(channel: ChannelFacts, guild?: string): void {
		const of = channel.guild_id ?? guild;
		this.#known.delete(channel.id);
		this.#known.set(channel.id, { ...channel, ...(of !== undefined && { guild_id: of }) });
		for (const oldest of this.#known.keys()) {
			if (this.#known.size <= REMEMBERED) return;
			this.#known.delete(oldest);
		}
	}

	/** The role that Discord made for the bot in a server: people often name it instead of the bot. Null if it has none. */
	async ownRole(guild: string, me: string, rest: REST): Promise<string | null> {
		const known = this.#ownRoles.get(guild);
		if (known !== undefined) return known;
		try {
			this.learnRoles(guild, (await rest.get(`/guilds/${guild}/roles`)) as readonly RoleFacts[], me);
		} catch (error) {
			if (!isApiError(error) || (error.status !== 403 && error.status !== 404)) throw error;
			this.learnRoles(guild, [], me);
		}
		return this.#ownRoles.get(guild) ?? null;
	}

	learnRoles(guild: string, roles: readonly RoleFacts[], me: string): void {
		this.#ownRoles.set(guild, roles.find(({ tags }) => tags?.bot_id === me)?.id ?? null);
	}

	forget(id: string): void {
		this.#known.delete(id);
	}

	channelsOf(guild: string): string[] {
		return [...this.#known.values()].filter((one) => one.guild_id === guild).map(({ id }) => id);
	}

	/** Rejects if Discord cannot be asked now. */
	async locate(id: string, guild: string | undefined, rest: REST): Promise<Location> {
		const channel = await this.#find(id, guild, rest);
		const of = channel.guild_id ?? guild;
		const common = { ...(of !== undefined && { guild: of }) };
		if (channel.type === PRIVATE) return { chat: id, isPrivate: true, ...common };
		if (!THREADS.has(channel.type)) return { chat: id, isPrivate: false, ...common, ...namesOf(channel) };
		const { parent_id: parent } = channel;
		const thread = { id, ...(channel.name != null && { name: channel.name }) };
		if (parent == null) return { chat: id, isPrivate: false, ...common, thread };
		return {
			chat: parent,
			isPrivate: false,
			...common,
			...namesOf(await this.#find(parent, of, rest)),
			thread,
		};
	}

	async #find(id: string, guild: string | undefined, rest: REST): Promise<ChannelFacts> {
		const known = this.#known.get(id);
		if (known) return known;
		// Only private chats are in no server. Asking would count against Discord's limit, for each person who writes after a restart.
		if (guild === undefined) return { id, type: PRIVATE };
		try {
			this.learn((await rest.get(`/channels/${id}`)) as ChannelFacts, guild);
		} catch (error) {
			// It is not accessible, or gone: its messages are still accepted.
			if (!isApiError(error) || (error.status !== 403 && error.status !== 404)) throw error;
			this.learn({ id, type: 0 }, guild);
		}
		return this.#known.get(id) as ChannelFacts;
	}
}

function namesOf({ name, topic }: ChannelFacts): { readonly name?: string; readonly topic?: string } {
	return { ...(name != null && { name: `#${name}` }), ...(topic && { topic }) };
}
