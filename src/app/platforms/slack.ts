// Slack: a bot's token, and the app's token or the signing secret of posted events.
import { isPostedTo, readAppToken, readSigningSecret, readToken } from "../setup/channel-token.ts";
import { apiRootOf } from "./api-root.ts";
import type { PlatformWays } from "./types.ts";

export const slack: PlatformWays = {
	make: async (options, context) => {
		const { createSlackChannel } = await import("../../channels/slack/index.ts");
		const { name, settings } = options;
		return createSlackChannel({
			...options,
			...apiRootOf(settings),
			events: isPostedTo(settings)
				? { signingSecret: () => readSigningSecret(name, settings, context) }
				: { appToken: () => readAppToken(name, settings, context) },
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const token = await readToken(name, settings, context);
		const isPosted = isPostedTo(settings);
		if (isPosted) await readSigningSecret(name, settings, context);
		const appToken = isPosted ? "" : await readAppToken(name, settings, context);
		const { identifySlack } = await import("../../channels/slack/index.ts");
		return identifySlack({ token, appToken, ...apiRootOf(settings) });
	},
};
