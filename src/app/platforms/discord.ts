// Discord: a bot's token.
import { readToken } from "../setup/channel-token.ts";
import { apiRootOf } from "./api-root.ts";
import type { PlatformWays } from "./types.ts";

export const discord: PlatformWays = {
	make: async (options) => {
		const { createDiscordChannel } = await import("../../channels/discord/index.ts");
		const { thread_replies: threadReplies, free_chats: freeChats, alive_seconds: seconds } = options.settings;
		return createDiscordChannel({
			...options,
			...apiRootOf(options.settings),
			threadReplies,
			freeChats,
			aliveMs: seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const token = await readToken(name, settings, context);
		const { identifyDiscord } = await import("../../channels/discord/index.ts");
		return identifyDiscord({ token, ...apiRootOf(settings) });
	},
};
