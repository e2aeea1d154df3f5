// The peer is faithful: discord.js, which knows the real Discord, lives with it as it does with that.
import {
	ActionRowBuilder,
	ButtonBuilder,
	ButtonStyle,
	Client,
	DiscordAPIError,
	Events,
	GatewayIntentBits,
	type Interaction,
	type Message,
	Partials,
	REST,
	RESTEvents,
	type TextChannel,
} from "discord.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDiscordPeer, type DiscordPeer } from "../peers/discord/index.ts";
import { until } from "../support/until.ts";

const { Guilds, GuildMessages, MessageContent, DirectMessages, GuildMessageReactions } = GatewayIntentBits;

let peer: DiscordPeer;
let client: Client;

beforeEach(async () => {
	peer = await createDiscordPeer({ heartbeatMs: 200 });
	client = new Client({
		intents: [Guilds, GuildMessages, MessageContent, DirectMessages, GuildMessageReactions],
		partials: [Partials.Channel, Partials.Message, Partials.Reaction],
		rest: { api: peer.apiRoot, retries: 0 },
		// Discord lets a bot identify every five seconds; nobody waits for that here.
		ws: { buildIdentifyThrottler: () => Promise.resolve({ waitForIdentify: () => Promise.resolve() }) },
	});
});
afterEach(async () => {
	await client.destroy();
	await peer.close();
});

/** What a handler throws fails the test: nobody waits for it. */
function onMessage(handler: (message: Message) => Promise<void>): void {
	client.on(Events.MessageCreate, (message) => void handler(message));
}

function onInteraction(handler: (interaction: Interaction) => Promise<void>): void {
	client.on(Events.InteractionCreate, (interaction) => void handler(interaction));
}

async function login(): Promise<void> {
	const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
	await client.login(peer.bot.token);
	await ready;
}

test("it logs in, hears servers, channels and private chats, replies, edits and sends files", async () => {
	const guild = peer.guild("Garden");
	const plans = peer.channel(guild, "plans", "what to grow");
	const ada = peer.user("Ada");
	await login();
	expect(client.guilds.cache.map(({ name }) => name)).toEqual(["Garden"]);
	expect((client.channels.cache.get(plans.id) as TextChannel).topic).toBe("what to grow");
	onMessage(async (message) => {
		if (message.author.bot) return;
		const sent = await message.reply({
			content: `heard ${message.content}`,
			files: [{ attachment: Buffer.from("bytes"), name: "a.txt" }],
			allowedMentions: { parse: [] },
		});
		await sent.edit("heard it");
	});
	const dm = peer.dm(ada);
	const ids = [peer.say(ada, plans, `${peer.mention(peer.bot)} @everyone`), peer.say(ada, dm, "psst")];
	await until(() => [plans, dm].every((chat) => peer.answers(chat)[0]?.edits === 1));
	for (const [n, chat] of [plans, dm].entries()) {
		const [answer] = peer.answers(chat);
		expect(answer).toMatchObject({ text: "heard it", replyTo: ids[n], pings: [] });
		expect(Buffer.from(answer?.files[0]?.bytes ?? [])).toEqual(Buffer.from("bytes"));
	}
	const messages = await (client.channels.cache.get(plans.id) as TextChannel).messages.fetch({ limit: 10 });
	expect(messages.map(({ author }) => author.username)).toEqual(["keryx", "ada"]);
});

test("buttons, slash commands and threads work as it knows them", async () => {
	const guild = peer.guild("Garden");
	const plans = peer.channel(guild, "plans");
	const ada = peer.user("Ada");
	await login();
	await client.application?.commands.set([{ name: "grow", description: "grows" }]);
	onInteraction(async (interaction) => {
		if (interaction.isChatInputCommand()) {
			await interaction.deferReply();
			await interaction.editReply(`grew ${interaction.user.username}`);
		}
		if (!interaction.isButton()) return;
		await interaction.deferUpdate();
		await interaction.followUp({ content: `pressed ${interaction.customId}`, ephemeral: true });
	});
	expect(await peer.command(ada, plans, "grow")).toBe("grew ada");
	const channel = client.channels.cache.get(plans.id) as TextChannel;
	const yes = new ButtonBuilder().setCustomId("yes").setLabel("Yes").setStyle(ButtonStyle.Primary);
	const asked = await channel.send({
		content: "sure?",
		components: [new ActionRowBuilder<ButtonBuilder>().addComponents(yes)],
	});
	expect(await peer.press(ada, plans, asked.id, "yes")).toBe("pressed yes");
	expect(peer.answers(plans).map(({ text }) => text)).toEqual(["grew ada", "sure?"]);
	const thread = await asked.startThread({ name: "more" });
	expect(thread.id).toBe(asked.id);
	await thread.send("inside");
	expect(peer.answers(peer.channelById(thread.id) as never).map(({ text }) => text)).toEqual(["inside"]);
});

test("an interaction is answered once, and unknown by another token", async () => {
	const ada = peer.user("Ada");
	const guild = peer.guild("Garden");
	const plans = peer.channel(guild, "plans");
	await login();
	await client.application?.commands.set([{ name: "grow", description: "grows" }]);
	const errors: unknown[] = [];
	onInteraction(async (interaction) => {
		if (!interaction.isChatInputCommand()) return;
		const rest = interaction.client.rest;
		const answer = () =>
			rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
				body: { type: 5 },
				auth: false,
			});
		await answer();
		await answer().catch((error: unknown) => errors.push(error));
		await rest
			.post(`/interactions/${interaction.id}/another/callback`, { body: { type: 5 }, auth: false })
			.catch((error: unknown) => errors.push(error));
		await interaction.webhook.editMessage("@original", "done");
	});
	expect(await peer.command(ada, plans, "grow")).toBe("done");
	expect(errors.map((error) => (error as DiscordAPIError).code)).toEqual([40060, 10062]);
});

test("edits, deletions and reactions are heard", async () => {
	const ada = peer.user("Ada");
	const plans = peer.channel(peer.guild("Garden"), "plans");
	await login();
	const heard: string[] = [];
	client.on(Events.MessageUpdate, (_, message) => heard.push(`edit ${message.content}`));
	client.on(Events.MessageDelete, ({ id }) => heard.push(`delete ${id}`));
	client.on(Events.MessageReactionAdd, ({ emoji }) => heard.push(`react ${emoji.name}`));
	const id = peer.say(ada, plans, "hello");
	peer.edit(plans, id, "hallo");
	peer.react(ada, plans, id, "👍");
	peer.remove(plans, id);
	await until(() => heard.length === 3);
	expect(heard).toEqual(["edit hallo", "react 👍", `delete ${id}`]);
});

test("after a lost connection it resumes: what was said meanwhile is heard once, and so it is when it is asked to reconnect", async () => {
	const ada = peer.user("Ada");
	const plans = peer.channel(peer.guild("Garden"), "plans");
	await login();
	const heard: string[] = [];
	client.on(Events.MessageCreate, ({ content }) => heard.push(content));
	peer.say(ada, plans, "one");
	await until(() => heard.length === 1);
	peer.gateway.disconnect();
	peer.say(ada, plans, "two");
	await until(() => peer.gateway.counts.resumed === 1 && heard.length === 2);
	peer.gateway.askToReconnect();
	await until(() => peer.gateway.counts.resumed === 2);
	peer.say(ada, plans, "three");
	await until(() => heard.length === 3);
	peer.gateway.invalidate(false);
	await until(() => peer.gateway.counts.identify === 2);
	peer.say(ada, plans, "four");
	await until(() => heard.length === 4);
	expect(heard).toEqual(["one", "two", "three", "four"]);
});

test("a wrong token and an intent that is not allowed are refused", async () => {
	await expect(client.login("nobody's")).rejects.toThrow(/invalid token/i);
	peer.bot.mayReadContent = false;
	await expect(client.login(peer.bot.token)).rejects.toThrow(/disallowed intents/i);
});

test("a nonce that must be kept gives the first message again, and one route of one channel has its own limit", async () => {
	const limited = await createDiscordPeer({ limits: { perRoute: 2, windowMs: 300, global: 50 } });
	const [one, two] = ["one", "two"].map((name) => limited.channel(limited.guild("Garden"), name));
	const rest = new REST({ api: limited.apiRoot }).setToken(limited.bot.token);
	let pauses = 0;
	rest.on(RESTEvents.RateLimited, () => pauses++);
	const post = (id: string, body: object) =>
		rest.post(`/channels/${id}/messages`, { body }) as Promise<{ id: string }>;
	const ids: string[] = [];
	for (let n = 0; n < 2; n++)
		ids.push((await post(one?.id ?? "", { content: `try ${n}`, nonce: "n1", enforce_nonce: true })).id);
	expect(new Set(ids).size).toBe(1);
	await post(two?.id ?? "", { content: "elsewhere" });
	expect(pauses).toBe(0);
	await post(one?.id ?? "", { content: "again" });
	expect(pauses).toBe(1);
	expect(limited.answers(one as never).map(({ text }) => text)).toEqual(["try 0", "again"]);
	expect(limited.limiter.hits).toBe(0);
	const error = await rest.get("/channels/123456789012345678").catch((cause: unknown) => cause);
	expect(error).toBeInstanceOf(DiscordAPIError);
	expect(error).toMatchObject({ status: 404, code: 10003 });
	await limited.close();
});
