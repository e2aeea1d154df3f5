// One gateway on three platforms, one of which does not take the bot's token, from the start or from some moment on. That channel says so,
// with the remedy; the others go on. That each finds out within ten seconds without a message is tested beside each of them.
import { afterEach, expect, test } from "vitest";
import type { Channel, Gateway } from "../../src/gateway/index.ts";
import type { Store } from "../../src/store/index.ts";
import { configOf } from "../gateway/support.ts";
import { createDiscordPeer } from "../peers/discord/index.ts";
import { createSlackPeer } from "../peers/slack/index.ts";
import { createTelegramPeer } from "../peers/telegram/index.ts";
import { discordChannelOn as discordOn } from "./discord-scene.ts";
import { QUICK, channelOn as slackOn } from "./slack-scene.ts";
import { channelOn as telegramOn } from "./telegram-scene.ts";
import { gatewayOn, memoryStore } from "./whole-gateway.ts";

const PLATFORMS = ["telegram", "discord", "slack"] as const;
type Platform = (typeof PLATFORMS)[number];
const REMEDIES = { telegram: "@BotFather", discord: "Developer Portal", slack: "install the app again" };

/** A platform with one person on it, and a channel that keeps the token it was made with. */
interface Stage {
	readonly channel: Channel;
	readonly say: (text: string) => void;
	readonly answers: () => number;
	readonly revoke: () => void;
	readonly close: () => Promise<void>;
}

const STAGES: Readonly<Record<Platform, () => Promise<Stage>>> = {
	telegram: async () => {
		const peer = await createTelegramPeer();
		const { token } = peer.bot;
		return stageOn(peer, telegramOn(peer, { token: () => Promise.resolve(token) }));
	},
	discord: async () => {
		const peer = await createDiscordPeer();
		const { token } = peer.bot;
		return stageOn(peer, discordOn(peer, { token: () => Promise.resolve(token) }));
	},
	slack: async () => {
		const peer = await createSlackPeer(QUICK);
		return stageOn(peer, slackOn(peer));
	},
};

/** Of every peer. */
interface Peer<Person, Chat> {
	user(name: string): Person;
	dm(person: Person): Chat;
	say(by: Person, chat: Chat, text: string): unknown;
	answers(chat: Chat): readonly unknown[];
	revokeToken(): void;
	close(): Promise<void>;
}

function stageOn<Person, Chat>(peer: Peer<Person, Chat>, channel: Channel): Stage {
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	return {
		channel,
		say: (text) => void peer.say(ada, dm, text),
		answers: () => peer.answers(dm).length,
		revoke: () => peer.revokeToken(),
		close: () => peer.close(),
	};
}

let stages: Record<Platform, Stage>;
let store: Store;
let gateway: Gateway;
afterEach(async () => {
	await gateway.stop();
	await store.close();
	for (const stage of Object.values(stages)) await stage.close();
});

async function open(): Promise<void> {
	stages = {
		telegram: await STAGES.telegram(),
		discord: await STAGES.discord(),
		slack: await STAGES.slack(),
	};
	store = await memoryStore();
	gateway = gatewayOn({
		store,
		channels: Object.values(stages).map(({ channel }) => channel),
		config: configOf({
			auth: Object.fromEntries(PLATFORMS.map((platform) => [platform, { allow_all: true }])),
		}),
	});
}

const stateOf = (platform: Platform) => stages[platform].channel.health().state;

/** Somebody writes there and is answered. */
async function isAnswered(platform: Platform): Promise<void> {
	const { say, answers } = stages[platform];
	const before = answers();
	say("hello");
	await expect.poll(answers).toBeGreaterThan(before);
}

test.each(PLATFORMS)(
	"a token that %s does not know is said with its remedy, and the others go on",
	async (bad) => {
		await open();
		stages[bad].revoke();
		await gateway.start();
		await expect.poll(() => stateOf(bad)).toBe("needs_attention");
		expect(stages[bad].channel.health().detail).toContain(REMEDIES[bad]);
		for (const other of PLATFORMS.filter((one) => one !== bad)) {
			await expect.poll(() => stateOf(other)).toBe("connected");
			await isAnswered(other);
		}
	},
);

test.each(PLATFORMS)(
	"a token that %s takes back in the middle is said, and the others go on",
	async (bad) => {
		await open();
		await gateway.start();
		for (const platform of PLATFORMS) await expect.poll(() => stateOf(platform)).toBe("connected");
		await isAnswered(bad);
		stages[bad].revoke();
		stages[bad].say("hello again");
		await expect.poll(() => stateOf(bad)).toBe("needs_attention");
		expect(stages[bad].channel.health().detail).toContain(REMEDIES[bad]);
		for (const other of PLATFORMS.filter((one) => one !== bad)) {
			await isAnswered(other);
			expect(stateOf(other)).toBe("connected");
		}
	},
);
