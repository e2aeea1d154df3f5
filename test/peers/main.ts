// `npm run peer -- <platform> [port]`: a chat platform on this machine, to try Keryx on without an account.
import { createInterface } from "node:readline";
import { createDiscordPeer, USUAL_LIMITS } from "./discord/index.ts";
import { HELP as DISCORD_HELP, Talk as DiscordTalk } from "./discord/talk.ts";
import { createSlackPeer } from "./slack/index.ts";
import { HELP as SLACK_HELP, Talk as SlackTalk } from "./slack/talk.ts";
import { createTelegramPeer } from "./telegram/index.ts";
import { HELP as TELEGRAM_HELP, Talk as TelegramTalk } from "./telegram/talk.ts";

/** A platform that somebody at a terminal lives on. */
interface Stage {
	readonly label: string;
	readonly apiRoot: string;
	readonly token: string;
	/** Of the app, where the platform has one. */
	readonly appToken?: string;
	/** Of the person who writes first. */
	readonly person: string;
	readonly help: string;
	/** Does what a line says; answers false when it was the last one. */
	line(line: string): Promise<boolean>;
	close(): Promise<void>;
}

const print = (line: string) => console.log(line);

const STAGES: Readonly<Record<string, (port: number) => Promise<Stage>>> = {
	telegram: async (port) => {
		const peer = await createTelegramPeer({ port });
		const talk = new TelegramTalk(peer, print);
		const { apiRoot, bot } = peer;
		return {
			label: "Telegram",
			apiRoot,
			token: bot.token,
			person: String(talk.person.id),
			help: TELEGRAM_HELP,
			line: (line) => talk.line(line),
			close: () => peer.close(),
		};
	},
	discord: async (port) => {
		const peer = await createDiscordPeer({ port, limits: USUAL_LIMITS });
		const talk = new DiscordTalk(peer, print);
		const { apiRoot, bot } = peer;
		return {
			label: "Discord",
			apiRoot,
			token: bot.token,
			person: talk.person.id,
			help: DISCORD_HELP,
			line: (line) => talk.line(line),
			close: () => peer.close(),
		};
	},
	slack: async (port) => {
		const peer = await createSlackPeer({ port });
		const talk = new SlackTalk(peer, print);
		const { apiRoot, botToken, appToken } = peer;
		return {
			label: "Slack",
			apiRoot,
			token: botToken,
			appToken,
			person: talk.person.id,
			help: SLACK_HELP,
			line: (line) => talk.line(line),
			close: () => peer.close(),
		};
	},
};

const [platform = "", given = "8081"] = process.argv.slice(2);
const open = Object.hasOwn(STAGES, platform) ? STAGES[platform] : undefined;
if (!open) {
	const known = Object.keys(STAGES).join(" or ");
	console.error(`There is no peer for ${JSON.stringify(platform)}. Use: npm run peer -- <${known}> [port]`);
	process.exit(2);
}
const { label, apiRoot, token, appToken, person, help, line: say, close } = await open(Number(given));
const variable = `${platform.toUpperCase()}_TOKEN`;
const appVariable = `${platform.toUpperCase()}_APP_TOKEN`;
console.log(`${label} is at ${apiRoot}. Connect Keryx to it in another terminal:

  keryx channels add ${platform} --api-root ${apiRoot}

It asks for the token, which is ${token}${appToken === undefined ? "" : `, and the app-level token, which is ${appToken}`}

Or put this into config.yaml:

channels:
  ${platform}:
    platform: ${platform}
    token_env: ${variable}${appToken === undefined ? "" : `\n    app_token_env: ${appVariable}`}
    api_root: ${apiRoot}
auth:
  ${platform}:
    allow:
      - { id: "${person}", role: owner }

and start Keryx with ${variable}=${token}${appToken === undefined ? "" : ` ${appVariable}=${appToken}`}

${help}
`);
const lines = createInterface({ input: process.stdin });
for await (const line of lines) if (!(await say(line))) break;
lines.close();
await close();
