// Buttons that are pressed and slash commands: the bot has three seconds to answer, and fifteen minutes to say more.
import { ApiError, unknownInteraction, unknownWebhook } from "./errors.ts";
import {
	type BotAccount,
	type ChannelRecord,
	guildId,
	memberJson,
	type NewMessage,
	type Person,
	type Stored,
	userJson,
	type World,
} from "./world.ts";

const ANSWER_MS = 3000;
const TOKEN_MS = 15 * 60_000;
const RESPONSE = { message: 4, deferredMessage: 5, deferredUpdate: 6, update: 7 } as const;
export const LOADING = 1 << 7;

export interface Interaction {
	readonly id: string;
	readonly token: string;
	readonly bot: BotAccount;
	readonly by: Person;
	readonly channel: ChannelRecord;
	readonly at: number;
	/** The message whose button was pressed, or that answers a command. */
	original: string | null;
	isAnswered: boolean;
	/** What the person is shown. */
	show(text: string): void;
}

export const FAILED = "This interaction failed";

export class Interactions {
	readonly #world: World;
	readonly #all = new Map<string, Interaction>();
	readonly seen: Interaction[] = [];

	constructor(world: World) {
		this.#world = world;
	}

	press(by: Person, message: Stored, customId: string): Promise<string> {
		const world = this.#world;
		return this.#open(by, message.channel, message.author.id, message.id, {
			type: 3,
			message: world.messageJson(message),
			data: { custom_id: customId, component_type: 2 },
		});
	}

	command(by: Person, channel: ChannelRecord, bot: BotAccount, name: string, text?: string): Promise<string> {
		const known = bot.commands.find((one) => one.name === name);
		if (!known) throw new Error(`there is no command /${name}`);
		const options = text === undefined ? [] : [{ name: "text", type: 3, value: text }];
		return this.#open(by, channel, bot.id, null, {
			type: 2,
			data: { id: known.id, name, type: 1, ...(options.length > 0 && { options }) },
		});
	}

	answer(id: string, token: string, body: Readonly<Record<string, unknown>>): unknown {
		const found = this.#all.get(token);
		if (!found || found.id !== id || this.#age(found) > ANSWER_MS) throw unknownInteraction();
		if (found.isAnswered) throw new ApiError(400, 40060, "Interaction has already been acknowledged.");
		found.isAnswered = true;
		const { message, deferredMessage } = RESPONSE;
		if (body.type === message || body.type === deferredMessage) {
			const data = (body.data ?? {}) as { content?: string; flags?: number };
			const isLoading = body.type === deferredMessage;
			const flags = (data.flags ?? 0) | (isLoading ? LOADING : 0);
			found.original = this.#post(found, {
				content: isLoading ? "…" : (data.content ?? ""),
				flags,
				type: 20,
			}).id;
			if (!isLoading) found.show(data.content ?? "");
		}
		return {};
	}

	/** A message more. */
	follow(token: string, message: NewMessage): Stored {
		const posted = this.#post(this.#find(token), message);
		this.#find(token).show(posted.content);
		return posted;
	}

	original(token: string): { readonly channel: ChannelRecord; readonly id: string } {
		const { channel, original } = this.#find(token);
		if (original === null) throw unknownWebhook();
		return { channel, id: original };
	}

	shown(token: string, text: string): void {
		this.#find(token).show(text);
	}

	botOf(token: string): BotAccount {
		return this.#find(token).bot;
	}

	#find(token: string): Interaction {
		const found = this.#all.get(token);
		if (!found || this.#age(found) > TOKEN_MS || !found.isAnswered) throw unknownWebhook();
		return found;
	}

	#age({ at }: Interaction): number {
		return this.#world.clock.monotonic() - at;
	}

	#post({ bot, channel }: Interaction, message: NewMessage): Stored {
		return this.#world.say(bot, channel, { pings: [], ...message });
	}

	#open(
		by: Person,
		channel: ChannelRecord,
		botId: string,
		original: string | null,
		what: Readonly<Record<string, unknown>>,
	): Promise<string> {
		const world = this.#world;
		const bot = world.bots.find((one) => one.id === botId);
		if (!bot) throw new Error("no bot showed that");
		const id = world.snowflake();
		const token = `token-${id}`;
		return new Promise((resolve) => {
			const interaction: Interaction = {
				id,
				token,
				bot,
				by,
				channel,
				at: world.clock.monotonic(),
				original,
				isAnswered: false,
				show: resolve,
			};
			this.#all.set(token, interaction);
			this.seen.push(interaction);
			world.clock.after(ANSWER_MS, () => {
				if (!interaction.isAnswered) resolve(FAILED);
			});
			const user = userJson(by);
			const d = {
				id,
				application_id: bot.id,
				token,
				version: 1,
				channel_id: channel.id,
				channel: world.channelJson(channel),
				...guildId(channel),
				...(channel.guild
					? {
							member: { ...memberJson(by), user },
							guild: { id: channel.guild.id, features: [], locale: "en-US" },
						}
					: { user }),
				app_permissions: "8",
				locale: "en-US",
				entitlements: [],
				authorizing_integration_owners: {},
				context: channel.guild ? 0 : 1,
				attachment_size_limit: 10_485_760,
				...what,
			};
			world.tell({ t: "INTERACTION_CREATE", d, intent: 0, to: (one) => one === bot });
		});
	}
}
