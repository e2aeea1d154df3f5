// Telegram: a bot's token, and perhaps an address that updates are posted to.
import { readToken } from "../setup/channel-token.ts";
import { apiRootOf } from "./api-root.ts";
import type { PlatformWays } from "./types.ts";

export const telegram: PlatformWays = {
	make: async (options) => {
		const { createTelegramChannel } = await import("../../channels/telegram/index.ts");
		const { webhook_url: webhookUrl } = options.settings;
		return createTelegramChannel({
			...options,
			...apiRootOf(options.settings),
			...(webhookUrl !== undefined && { webhookUrl }),
		});
	},
	identify: async (name, settings, context) => {
		const token = await readToken(name, settings, context);
		const { identifyTelegram } = await import("../../channels/telegram/index.ts");
		return identifyTelegram({ token, ...apiRootOf(settings) });
	},
};
