// One gateway on three platforms, one of which does not take the bot's token, from the start or from some moment on. That channel says so,
// with the remedy; the others go on. That each finds out within ten seconds without a message is tested beside each of them.
import { afterEach, expect, test } from "vitest";
import { type Channel, createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { NO_SECRETS, type Store, systemIds } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createTools } from "../../src/tools/index.ts";
import { AUDIT_KEY, configOf, puppet } from "../gateway/support.ts";
import { createDiscordPeer } from "../peers/discord/index.ts";
import { createSlackPeer } from "../peers/slack/index.ts";
import { createTelegramPeer } from "../peers/telegram/index.ts";
import { discordChannelOn as discordOn } from "./discord-scene.ts";
import { QUICK, channelOn as slackOn } from "./slack-scene.ts";
import { channelOn as telegramOn } from "./telegram-scene.ts";

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
		const ada = peer.user("Ada");
		return {
			channel: telegramOn(peer, { token: () => Promise.resolve(token) }),
			say: (text) => void peer.say(ada, peer.dm(ada), text),
			answers: () => peer.answers(peer.dm(ada)).length,
			revoke: () => peer.revokeToken(),
			close: () => peer.close(),
		};
	},
	discord: async () => {
		const peer = await createDiscordPeer();
		const { token } = peer.bot;
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		return {
			channel: discordOn(peer, { token: () => Promise.resolve(token) }),
			say: (text) => void peer.say(ada, dm, text),
			answers: () => peer.answers(dm).length,
			revoke: () => peer.revokeToken(),
			close: () => peer.close(),
		};
	},
	slack: async () => {
		const peer = await createSlackPeer(QUICK);
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		return {
			channel: slackOn(peer),
			say: (text) => void peer.say(ada, dm, text),
			answers: () => peer.answers(dm).length,
			revoke: () => peer.revokeToken(),
			close: () => peer.close(),
		};
	},
};

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
	const clock = systemClock;
	const engine = await openSqlite({
		path: ":memory:",
		startedAt: clock.now(),
		access: "own",
		auditKey: AUDIT_KEY,
	});
	store = storeOn(engine, { clock, ids: systemIds(clock), secrets: NO_SECRETS });
	gateway = createGateway({
		store,
		agent: puppet(),
		tools: createTools([]),
		channels: Object.values(stages).map(({ channel }) => channel),
		config: configOf({
			auth: Object.fromEntries(PLATFORMS.map((platform) => [platform, { allow_all: true }])),
		}),
		clock,
		pseudonymKey: new Uint8Array(32),
		log: () => {},
	});
}

const stateOf = (platform: Platform) => stages[platform].channel.health().state;

/** Somebody writes there and is answered. */
async function isAnswered(platform: Platform): Promise<void> {
	const { say, answers } = stages[platform];
	const before = answers();
	say("hello");
	await expect.poll(answers, { timeout: 30_000 }).toBeGreaterThan(before);
}

test.each(PLATFORMS)(
	"a token that %s does not know is said with its remedy, and the others go on",
	async (bad) => {
		await open();
		stages[bad].revoke();
		await gateway.start();
		await expect.poll(() => stateOf(bad), { timeout: 30_000 }).toBe("needs_attention");
		expect(stages[bad].channel.health().detail).toContain(REMEDIES[bad]);
		for (const other of PLATFORMS.filter((one) => one !== bad)) {
			await expect.poll(() => stateOf(other), { timeout: 30_000 }).toBe("connected");
			await isAnswered(other);
		}
	},
);

test.each(PLATFORMS)(
	"a token that %s takes back in the middle is said, and the others go on",
	async (bad) => {
		await open();
		await gateway.start();
		for (const platform of PLATFORMS)
			await expect.poll(() => stateOf(platform), { timeout: 30_000 }).toBe("connected");
		await isAnswered(bad);
		stages[bad].revoke();
		stages[bad].say("hello again");
		await expect.poll(() => stateOf(bad), { timeout: 30_000 }).toBe("needs_attention");
		expect(stages[bad].channel.health().detail).toContain(REMEDIES[bad]);
		for (const other of PLATFORMS.filter((one) => one !== bad)) {
			await isAnswered(other);
			expect(stateOf(other)).toBe("connected");
		}
	},
);
